"""What a reader of answers needs to know of the request, and how an answer is closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.llm.base import Answer, AssistantMessage, Request, StopReason, ToolCallPart, Usage
from agents.llm.conversation import characters
from agents.llm.names import wire_names
from agents.llm.settings import ModelSettings, prefix_digest
from agents.llm.usage import estimate
from crewlet.kernel import ids


class Incomplete(Exception):
    """The response is none: cut off, or not in the vendor's format. The words say which."""


class VendorFailed(Exception):
    """The response says itself that the vendor failed; `body` is its error."""

    def __init__(self, body: object) -> None:
        super().__init__("the vendor failed")
        self.body = body


class Reading:
    """The context of one answer: whose it is, which names were offered, which ids are taken."""

    def __init__(self, request: Request, settings: ModelSettings, cap: int) -> None:
        self._request = request
        self._settings = settings
        self.cap = cap
        self.names: Mapping[str, str] = wire_names(tool.name for tool in request.tools)
        self._taken = {
            call.id
            for message in request.messages
            if isinstance(message, AssistantMessage)
            for call in message.answer.calls
        }

    def call_id(self, given: object) -> str:
        """Returns the vendor's id, or a new one if it gave none or gave it before."""
        call_id = given if isinstance(given, str) else ""
        if not call_id or call_id in self._taken:
            call_id = f"call_{ids.new_id().hex}"
        self._taken.add(call_id)
        return call_id

    def usage(self, found: Usage | None, raw: str) -> Usage:
        """Returns what the server counted; a half that it left out is counted by length."""
        if found is not None and found.input and found.output:
            return found
        guess = self._estimate(raw)
        if found is None or not (found.input or found.output):
            return guess
        if found.output:
            return replace(found, input=guess.input, estimated=True)
        return replace(found, output=guess.output, estimated=True)

    def _estimate(self, raw: str) -> Usage:
        prompt = characters(self._request.system, self._request.messages)
        tools = sum(
            len(tool.name) + len(tool.description) + len(str(tool.parameters))
            for tool in self._request.tools
        )
        return estimate(prompt + tools, len(raw))

    def answer(self, *, stop: StopReason, calls: tuple[ToolCallPart, ...], **parts: Any) -> Answer:
        """Closes an answer. One that did not finish offers no calls, so that none can be run."""
        return Answer(
            stop=stop,
            calls=calls if stop.finished else (),
            model=self._settings.model,
            provider_key=self._settings.key,
            vendor=self._settings.vendor,
            prefix=prefix_digest(self._request),
            **parts,
        )
