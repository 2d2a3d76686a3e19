"""A turn goes on from its rows: the journalled facts are folded through the same machine.

Nothing here writes. What the rows do not tell is what is to be done next.
"""

from __future__ import annotations

from uuid import UUID

from agents.llm.base import AssistantMessage, Message, ToolMessage, UserMessage
from agents.turn.machine import (
    Answered,
    Ask,
    Check,
    Checked,
    Command,
    Fact,
    LoopBack,
    LoopedBack,
    Open,
    Opened,
    RunCall,
    State,
    Weigh,
    Weighed,
    advance,
    due,
    wanted,
)
from agents.turn.machine import Called as CalledFact
from agents.turn.record import CallRecord, Effect, PhaseRecord, RoundRecord, TurnRecord


def replay(record: TurnRecord, state: State) -> State:
    """Returns where the turn stands, from what its rows say and from nothing else."""
    while (fact := recorded(record, state, wanted(state)[0])) is not None:
        state, _ = advance(state, fact)
    return state


def recorded(record: TurnRecord, state: State, command: Command) -> Fact | None:
    """Returns the fact that the rows already hold for a command, or None when it is still due."""
    if isinstance(command, Open):
        return Opened(record.head.depth)
    if isinstance(command, Ask):
        return _answered(record.phase(command.phase, command.iteration), command.round)
    if isinstance(command, RunCall):
        return called(current_call(record, state))
    if isinstance(command, Check):
        return _checked(record, command.iteration)
    row = record.iteration(state.iteration)
    if row is None:
        return None
    if isinstance(command, Weigh):
        return Weighed(
            row.decision, row.notes, row.artifact_hash, reached=not row.engine_correction
        )
    return LoopedBack() if isinstance(command, LoopBack) else None


def answered(item: RoundRecord) -> Answered:
    """Returns what the machine needs to know of an answer."""
    answer = item.answer
    why = answer.refusal.explanation or answer.refusal.category if answer.refusal else ""
    return Answered(answer.stop.value, len(answer.calls), why)


def _answered(phase: PhaseRecord | None, n: int) -> Answered | None:
    if phase is None or len(phase.rounds) <= n:
        return None
    return answered(phase.rounds[n])


def current_call(record: TurnRecord, state: State) -> CallRecord:
    """Returns the call that the machine wants run."""
    phase = due(record.phase(state.phase, state.iteration), "the phase")
    return phase.rounds[state.rounds - 1].calls[state.next_call]


def called(call: CallRecord) -> CalledFact | None:
    """Returns the fact of a call with a result; only an accepted submission ends a phase."""
    if not call.done:
        return None
    return CalledFact(call.ord, submitted=call.effect is Effect.CONTROL and bool(call.ok))


def _checked(record: TurnRecord, iteration: int) -> Checked | None:
    row = record.iteration(iteration)
    if any(p.phase.value == "review" and p.iteration == iteration for p in record.phases):
        return Checked("review")
    return Checked("correct", row.engine_correction) if row is not None else None


def conversation(phase: PhaseRecord) -> tuple[Message, ...]:
    """Rebuilds what the phase's model has been told so far, byte for byte.

    Every call id of every answer has its result, since no request is sent while one is missing.
    """
    messages: list[Message] = [UserMessage(phase.user)]
    for item in phase.rounds:
        messages.append(AssistantMessage(item.answer))
        messages.extend(
            ToolMessage(call.call_id, call.name, call.result, bool(call.ok)) for call in item.calls
        )
        if item.note:
            messages.append(UserMessage(item.note))
    return tuple(messages)


def ambiguous(record: TurnRecord, state: State) -> UUID | None:
    """Returns the call that may have happened although its result is missing.

    Calls run in order and a change is recorded before the next call starts, so only the first
    unanswered change of the newest answer can be in doubt, and only where the effect is not ours:
    our own are answered from their operation row, reads may be read again.
    """
    if state.position.value != "calling":
        return None
    phase = due(record.phase(state.phase, state.iteration), "the phase")
    for call in phase.rounds[state.rounds - 1].calls:
        if call.done or call.effect in (Effect.READ, Effect.CONTROL):
            continue
        return call.id if call.effect is Effect.OUTSIDE else None
    return None


__all__ = [
    "ambiguous",
    "answered",
    "called",
    "conversation",
    "current_call",
    "recorded",
    "replay",
]
