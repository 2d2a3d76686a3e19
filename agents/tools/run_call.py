"""Runs one call of an answer: checks it, guards it, redacts what comes back.

The journal comes in as a protocol, so that a tool knows nothing of turns. For a write of ours, the
fence, the effect and the recorded result are one commit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.llm.base import ToolCallPart
from agents.tools.tool import Tool
from crewlet.kernel.actions import Door, Outcome, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import CrewletError, Fenced
from crewlet.kernel.failpoints import failpoint
from crewlet.kernel.redact import clean


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
        return CallResult.failed(f"{call.name} has no way to run here.")
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
    return result_of(outcome)


def _land(journal: CallJournal, outcome: Outcome) -> None:
    failpoint("call.effect")
    journal.land(result_of(outcome))


def result_of(outcome: Outcome) -> CallResult:
    """Returns an action's outcome as a model reads it: the sentence, then the data as JSON."""
    if outcome.result is None:
        error = outcome.error or CrewletError("The action left no answer.")
        return CallResult.failed(clean(error.message))
    result = outcome.result
    text = result.message
    if result.data:
        text = f"{text}\n{json.dumps(result.data, ensure_ascii=False, default=str, indent=1)}"
    return CallResult(ok=True, text=clean(text), refs=result.refs, data=result.data)
