"""A turn goes on from its rows: the journalled facts are folded through the same machine.

Nothing here writes. What the rows do not tell is what is to be done next.
"""

from __future__ import annotations

import hashlib
from uuid import UUID

from agents.llm.base import AssistantMessage, Message, ToolMessage, UserMessage
from agents.turn import words
from agents.turn.machine import (
    Answered,
    Ask,
    Check,
    Checked,
    Command,
    Fact,
    Judge,
    Judged,
    LoopBack,
    LoopedBack,
    Open,
    Opened,
    PhaseName,
    RunCall,
    State,
    Weigh,
    Weighed,
    advance,
    due,
    wanted,
)
from agents.turn.machine import Called as CalledFact
from agents.turn.opids import digest_of
from agents.turn.record import CallRecord, Effect, PhaseRecord, RoundRecord, TurnRecord
from agents.turn.repeats import Repeats


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
    if isinstance(command, Judge):
        return _judged(record, command)
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
    return Answered(answer.stop.value, len(answer.calls), why, item.full)


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
    said = f"{call.name}\0{digest_of(call.args)}\0{call.ok}\0{call.result}"
    return CalledFact(
        call.ord,
        submitted=call.effect is Effect.CONTROL and bool(call.ok),
        digest=hashlib.sha256(said.encode()).hexdigest()[:32],
    )


def _judged(record: TurnRecord, command: Judge) -> Judged | None:
    """Returns what the judge said. One that could not be asked left no row, but a review did."""
    phase = record.phase(PhaseName.JUDGE, command.iteration, command.round)
    if phase is not None and phase.submission is not None:
        return Judged(int(phase.submission["rounds"]))
    reviewed = record.phase(PhaseName.REVIEW, command.iteration) is not None
    return Judged() if reviewed else None


def _checked(record: TurnRecord, iteration: int) -> Checked | None:
    row = record.iteration(iteration)
    if any(p.phase.value == "review" and p.iteration == iteration for p in record.phases):
        return Checked("review")
    return Checked("correct", row.engine_correction) if row is not None else None


def conversation(phase: PhaseRecord, heard: str = "") -> tuple[Message, ...]:
    """Rebuilds what the phase's model has been told so far, byte for byte.

    Every call id of every answer has its result, since no request is sent while one is missing.
    A call that a person denied has an answer, not an error. `heard` is what people say right
    before the next answer; it comes after every result, never between a call and its own.
    """
    messages: list[Message] = [UserMessage(phase.user)]
    circle = Repeats()
    for item in phase.rounds:
        if item.heard:
            messages.append(UserMessage(item.heard))
        messages.append(AssistantMessage(item.answer))
        messages.extend(
            ToolMessage(call.call_id, call.name, call.result, call.ok is not False)
            for call in item.calls
        )
        if item.note:
            messages.append(UserMessage(item.note))
        circle = _counted(circle, item)
        if circle.nudged == item.n + 1:
            messages.append(UserMessage(words.IN_CIRCLES))
    if heard:
        messages.append(UserMessage(heard))
    return tuple(messages)


def _counted(circle: Repeats, item: RoundRecord) -> Repeats:
    for call in item.calls:
        fact = called(call)
        if fact is not None:
            circle = circle.after(fact.digest, item.n + 1)
    return circle


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
        if call.done or call.effect in (Effect.READ, Effect.CONTROL, Effect.WAIT):
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
