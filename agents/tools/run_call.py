"""Runs one call of an answer: checks it, guards it, redacts what comes back.

The journal comes in as a protocol, so that a tool knows nothing of turns. For a write of ours, the
fence, the effect and the recorded result are one commit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from agents.llm.base import ToolCallPart
from agents.tools.tool import Tool
from crewlet.kernel.actions import Door, Outcome, Result, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import CrewletError, Fenced
from crewlet.kernel.failpoints import failpoint
from crewlet.kernel.redact import clean

_NO_TEXT: Final = "\ufffd" + "".join(map(chr, (*range(1, 8), *range(14, 27))))
_MOST_STRANGE: Final = 3
"""One strange character in so many is a slip of somebody's; more is binary data."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call brought: the text for the model, what it touched, and the data behind it."""

    ok: bool
    text: str
    refs: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def failed(cls, text: str) -> CallResult:
        """Returns a failed result that says why."""
        return cls(ok=False, text=text)


def what_was_read(
    text: str, refs: tuple[str, ...] = (), data: dict[str, Any] | None = None
) -> CallResult:
    """Returns the result of a read, whole and cleaned; binary data is a failed one.

    A model cannot read it, and what is left of it without its control characters would pass for
    text. A write is never judged by its answer: it has landed.
    """
    strange = sum(text.count(mark) for mark in _NO_TEXT)
    if "\x00" in text or strange * _MOST_STRANGE > len(text):
        return CallResult(
            ok=False,
            text=f"The result is binary data ({len(text):,} characters), which cannot be shown. "
            "Ask for a text form of it, or for a reference to it.",
            refs=refs,
        )
    return CallResult(ok=True, text=clean(text), refs=refs, data=data or {})


class CallJournal(Protocol):
    """How a call is written down."""

    op_id: str
    scope: str

    def fence(self) -> None:
        """Raises `Fenced` when the seat has another holder; runs in the write's transaction."""

    def land(self, result: CallResult) -> None:
        """Records the result in the write's transaction."""


def run_call(tool: Tool, call: ToolCallPart, actor: Actor, journal: CallJournal) -> CallResult:
    """Runs a call and returns its result; a refusal is a failed result in words.

    Lets `Fenced` and database errors through: those end the turn here, not the call.
    """
    if call.arguments is None:
        return CallResult.failed(f"{call.name} was not run. {call.error}")
    if tool.action is None:
        return _run_elsewhere(tool, call.arguments)
    try:
        outcome = perform(
            actor,
            tool.action,
            call.arguments,
            op_id=journal.op_id,
            door=Door.TOOL,
            scope=journal.scope,
            before=journal.fence,
            within=lambda done: _land(journal, done),
        )
    except Fenced:
        raise
    except CrewletError as error:
        return CallResult.failed(clean(error.message))
    if tool.proven_read and outcome.result is not None:
        result = outcome.result
        return what_was_read(_text_of(result), result.refs, result.data)
    return result_of(outcome)


def _run_elsewhere(tool: Tool, arguments: dict[str, Any]) -> CallResult:
    if tool.run is None:
        return CallResult.failed(f"{tool.name} has no way to run here.")
    result = tool.run(arguments)
    if tool.proven_read and result.ok:
        return what_was_read(result.text, result.refs, result.data)
    return replace(result, text=clean(result.text))


def _land(journal: CallJournal, outcome: Outcome) -> None:
    failpoint("call.effect")
    journal.land(result_of(outcome))


def result_of(outcome: Outcome) -> CallResult:
    """Returns an action's outcome as a model reads it: the sentence, then the data as JSON."""
    if outcome.result is None:
        error = outcome.error or CrewletError("The action left no answer.")
        return CallResult.failed(clean(error.message))
    result = outcome.result
    return CallResult(ok=True, text=clean(_text_of(result)), refs=result.refs, data=result.data)


def _text_of(result: Result) -> str:
    if not result.data:
        return result.message
    data = json.dumps(result.data, ensure_ascii=False, default=str, indent=1)
    return f"{result.message}\n{data}"
