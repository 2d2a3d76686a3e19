"""A model for rehearsals: deterministic, offline, and plays each seat with real tool calls.

It keeps no state. All it knows stands in the request: the prompt says who it is and what it was
woken by, the messages say what its calls have brought so far. Only a company document that names
`type: rehearsal` rehearses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from django.conf import settings

from agents.llm.base import Answer, Delta, Request, StopReason, ToolCallPart, Usage
from agents.llm.rehearsal.play import Move, next_move
from agents.llm.rehearsal.situation import read
from crewlet.kernel import pace

MODEL = "rehearsal-1"
_CHARS_PER_TOKEN = 4
_DELTA_CHARS = 24


class RehearsalProvider:
    """Answers as a colleague would who has done this before. Safe from many threads."""

    vendor = "rehearsal"

    def __init__(self, key: str, model: str = "") -> None:
        self.key = key
        self.model = model or MODEL

    def complete(self, request: Request) -> Answer:
        """Returns the next move of the play as a model's answer; never fails."""
        move = next_move(read(request))
        self._speak(request, move.speech)
        calls = tuple(
            ToolCallPart.parse(_call_id(request, order), name, json.dumps(arguments))
            for order, (name, arguments) in enumerate(move.calls)
        )
        raw = json.dumps({"speech": move.speech, "calls": [[c.name, c.arguments] for c in calls]})
        return Answer(
            stop=StopReason.TOOL_USE if calls else StopReason.END,
            text=move.speech,
            reasoning=move.thought,
            calls=calls,
            usage=_usage(request, raw),
            model=self.model,
            provider_key=self.key,
            vendor=self.vendor,
            raw=raw,
            served_model=self.model,
        )

    def _speak(self, request: Request, speech: str) -> None:
        """Takes about as long as a quick model would, so that a person can watch the play."""
        seconds = settings.CREWLET.rehearsal_pace
        pieces = list(_pieces(speech))
        pace.wait(seconds / 2)
        for piece in pieces:
            if request.stream and request.on_delta is not None:
                request.on_delta(Delta("text", piece))
            pace.wait(seconds / 2 / len(pieces))


def _pieces(speech: str) -> Iterator[str]:
    for start in range(0, max(len(speech), 1), _DELTA_CHARS):
        yield speech[start : start + _DELTA_CHARS]


def _call_id(request: Request, order: int) -> str:
    seed = f"{len(request.messages)}:{order}:{request.system[:200]}"
    return f"call_{hashlib.sha256(seed.encode()).hexdigest()[:20]}"


def _usage(request: Request, answer: str) -> Usage:
    size = len(request.system) + sum(len(str(message)) for message in request.messages)
    size += sum(len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
    return Usage(
        input=size // _CHARS_PER_TOKEN,
        output=max(1, len(answer) // _CHARS_PER_TOKEN),
        estimated=True,
    )


__all__ = ["MODEL", "Move", "RehearsalProvider"]
