"""The turn as a pure machine: a state and a fact give the next state and what to do now.

No Django, no clock, no database. The engine performs the commands and reports facts; a turn that
is taken over folds its journalled facts through the same rules, so a resumed turn cannot behave
differently from one that never stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from agents.turn.repeats import Repeats
from agents.turn.states import (
    Answered,
    Ask,
    Broke,
    BudgetRefused,
    Called,
    Check,
    Checked,
    Command,
    End,
    Fact,
    Judge,
    Judged,
    Limits,
    LoopBack,
    LoopedBack,
    Open,
    Opened,
    Outcome,
    Park,
    PhaseName,
    Position,
    ProviderDown,
    Release,
    Resumed,
    RunCall,
    Settle,
    State,
    StopAsked,
    Suspended,
    Weigh,
    Weighed,
)

__all__ = [
    "HANDED_OVER",
    "NO_REVIEW",
    "OVERTURNED",
    "UNFINISHED_STOPS",
    "Answered",
    "Ask",
    "Broke",
    "BudgetRefused",
    "Called",
    "Check",
    "Checked",
    "Command",
    "End",
    "Fact",
    "Impossible",
    "Judge",
    "Judged",
    "Limits",
    "LoopBack",
    "LoopedBack",
    "Open",
    "Opened",
    "Outcome",
    "Park",
    "PhaseName",
    "Position",
    "ProviderDown",
    "Release",
    "Resumed",
    "RunCall",
    "Settle",
    "State",
    "StopAsked",
    "Suspended",
    "Weigh",
    "Weighed",
    "advance",
    "begin",
    "due",
    "wanted",
]

T = TypeVar("T")

UNFINISHED_STOPS = frozenset({"max_tokens", "context_exceeded", "paused"})

NO_REVIEW = "The reviewer gave no verdict within its rounds, so the work goes round once more."
OVERTURNED = (
    "The reviewer found the work done, but whoever asked has received nothing: no successful call "
    "of this turn landed where they asked. Answer them there, then submit again."
)

HANDED_OVER = (
    "The conversation had nearly filled the model's context, so you go on in a fresh one. What was "
    "done so far is listed below: build on it, read again only what you need, and keep it short."
)
HANDOVERS = 2


class Impossible(Exception):
    """The machine was told a fact that its state has no rule for: a defect of the caller."""


def due(value: T | None, what: str) -> T:
    """Returns what must be there by now; raises Impossible naming it when it is not."""
    if value is None:
        raise Impossible(f"{what} is missing where the turn stands.")
    return value


def wanted(state: State) -> tuple[Command, ...]:
    """Says what a state asks the engine to do; a pure function, so a resume asks it again."""
    return _WANTED[state.position](state)


def _want_ask(state: State) -> tuple[Command, ...]:
    return (
        Ask(
            state.phase,
            state.iteration,
            state.rounds,
            allowed(state),
            corrective=state.callless > 0,
            correction=state.correction,
        ),
    )


def _want_judge(state: State) -> tuple[Command, ...]:
    left = state.limits.ceiling - state.rounds
    return (Judge(state.iteration, state.rounds, min(state.limits.step, left)),)


def _want_end(state: State) -> tuple[Command, ...]:
    if state.release:
        return (Release(state.release),)
    return (Settle(due(state.end, "the outcome")),)


def _want_park(state: State) -> tuple[Command, ...]:
    return (Park(state.park_reason, due(state.wake_at, "the wake time")),)


_WANTED: dict[Position, Callable[[State], tuple[Command, ...]]] = {
    Position.OPENING: lambda _: (Open(),),
    Position.ASKING: _want_ask,
    Position.CALLING: lambda s: (RunCall(s.phase, s.iteration, s.next_call),),
    Position.JUDGING: _want_judge,
    Position.CHECKING: lambda s: (Check(s.iteration),),
    Position.WEIGHING: lambda s: (Weigh(s.iteration),),
    Position.LOOPING: lambda s: (LoopBack(s.iteration, s.notes, s.correction),),
    Position.PARKED: _want_park,
    Position.ENDED: _want_end,
}


def begin(reply_kind: str, limits: Limits | None = None) -> State:
    """Gives the state of a turn that has just been claimed."""
    return State(reply_kind=reply_kind, limits=limits or Limits())


def advance(state: State, fact: Fact) -> tuple[State, tuple[Command, ...]]:
    """Folds one fact into the state and says what to do next.

    Raises Impossible when the state has no rule for the fact.
    """
    rule = _RULES.get((state.position, type(fact)))
    if rule is None:
        raise Impossible(f"a turn that is {state.position} cannot take {type(fact).__name__}")
    after: State = rule(state, fact)
    return after, wanted(after)


# --- rules ---------------------------------------------------------------------------------------


def _end(state: State, end: End) -> State:
    return replace(state, position=Position.ENDED, end=end)


def _fail(state: State, kind: str, error: str, decision: str = "") -> State:
    return _end(state, End(Outcome.FAILED, kind, error, decision))


def _open(state: State, fact: Opened) -> State:
    if not state.reply_kind:
        return _fail(state, "error", "The turn carries no reply obligation, so it cannot start.")
    if fact.depth >= state.limits.depth:
        return _fail(
            state,
            "depth_cap",
            f"The ask stands {fact.depth} deep in a chain of asks; the limit is "
            f"{state.limits.depth}. Answer it yourself or ask a person.",
        )
    return replace(state, position=Position.ASKING)


def _answer(state: State, fact: Answered) -> State:
    state = replace(
        state, answers=state.answers + 1, rounds=state.rounds + 1, full=_fills(state, fact)
    )
    if fact.stop == "refusal":
        return _fail(state, "refusal", fact.explanation or "The model refused to go on.")
    if fact.stop in UNFINISHED_STOPS:
        return _fail(state, fact.stop, _unfinished(fact.stop))
    if fact.calls == 0:
        return _without_a_call(replace(state, callless=state.callless + 1))
    return replace(
        state, position=Position.CALLING, calls=fact.calls, next_call=0, callless=0, submitted=False
    )


def _fills(state: State, fact: Answered) -> bool:
    return fact.full and state.phase is PhaseName.EXECUTE


def _unfinished(stop: str) -> str:
    words = {
        "max_tokens": "The model's answer was cut at its output limit",
        "context_exceeded": "The conversation no longer fits the model's context",
        "paused": "The model paused in the middle of an answer",
    }
    return f"{words[stop]}; none of its calls were run."


def _without_a_call(state: State) -> State:
    if state.callless > state.limits.re_asks:
        return _unsubmitted(state)
    if state.full:
        return _hand_over(state)
    if not _out_of_rounds(state):
        return state
    # Prose on the last round: the rest of the re-asks is spent past it, and no judge is asked.
    if _may_extend(state):
        return replace(state, granted=state.granted + 1)
    return _unsubmitted(state)


def allowed(state: State) -> int:
    """Returns how many rounds the current pass has, with those that were granted."""
    return state.limits.rounds(state.phase) + state.granted


def _out_of_rounds(state: State) -> bool:
    return state.rounds >= allowed(state)


def _may_extend(state: State) -> bool:
    return state.phase is PhaseName.EXECUTE and state.rounds < state.limits.ceiling


def _judge(state: State, fact: Judged) -> State:
    if fact.rounds < 1:
        return _unsubmitted(state)
    return replace(state, position=Position.ASKING, granted=state.granted + fact.rounds)


def _hand_over(state: State) -> State:
    """Goes on in a fresh conversation; one that fills at once every time would never end."""
    if state.handovers >= HANDOVERS:
        return _fail(
            state,
            "context_exceeded",
            f"The work filled the model's context {HANDOVERS + 1} times in a row.",
        )
    return replace(
        state,
        position=Position.LOOPING,
        handovers=state.handovers + 1,
        spared=state.spared + 1,
        notes="",
        correction=HANDED_OVER,
    )


def _unsubmitted(state: State) -> State:
    """Ends a phase that never submitted: the executor is rescued, the reviewer is silent."""
    if state.phase is PhaseName.EXECUTE:
        return _review(replace(state, rescued=True))
    return replace(state, position=Position.WEIGHING, submitted=False)


def _review(state: State) -> State:
    return replace(
        state,
        position=Position.ASKING,
        phase=PhaseName.REVIEW,
        rounds=0,
        granted=0,
        full=False,
        handovers=0,
        callless=0,
        calls=0,
        next_call=0,
        submitted=False,
        correction="",
    )


def _call(state: State, fact: Called) -> State:
    if fact.order != state.next_call:
        raise Impossible(f"call {fact.order} answered while call {state.next_call} was due")
    submitted = state.submitted or fact.submitted
    state = replace(state, next_call=state.next_call + 1, submitted=submitted)
    if fact.digest and state.phase is PhaseName.EXECUTE:
        state = replace(state, repeats=state.repeats.after(fact.digest, state.rounds))
    if state.next_call < state.calls:
        return state
    if submitted:
        executing = state.phase is PhaseName.EXECUTE
        return replace(state, position=Position.CHECKING if executing else Position.WEIGHING)
    if state.repeats.over:
        return _unsubmitted(state)
    if state.full:
        return _hand_over(state)
    if not _out_of_rounds(state):
        return replace(state, position=Position.ASKING)
    return replace(state, position=Position.JUDGING) if _may_extend(state) else _unsubmitted(state)


def _check(state: State, fact: Checked) -> State:
    if fact.result == "skip":
        return _end(state, End(Outcome.SKIPPED, decision="no_action"))
    if fact.result == "review":
        return _review(state)
    return _again(state, notes="", correction=fact.correction)


def _weigh(state: State, fact: Weighed) -> State:
    if fact.decision == "failed":
        message = fact.notes or "The reviewer found that the work failed."
        return _fail(state, "error", message, decision="failed")
    if fact.decision == "done":
        if state.reply_kind != "tool" or fact.reached:
            return _end(state, End(Outcome.COMPLETED, decision="done"))
        return _iterate(state, fact, notes=fact.notes, correction=OVERTURNED)
    return _iterate(state, fact, notes=fact.notes if fact.decision else NO_REVIEW, correction="")


def _iterate(state: State, fact: Weighed, *, notes: str, correction: str) -> State:
    if fact.artifact_hash in state.hashes:
        return _fail(
            state,
            "stall",
            "Two iterations in a row produced the same work, so a third would not differ.",
            decision="self_iterate",
        )
    state = replace(state, hashes=(*state.hashes, fact.artifact_hash))
    return _again(state, notes=notes, correction=correction)


def _again(state: State, *, notes: str, correction: str) -> State:
    if state.iteration - state.spared >= state.limits.iterations:
        reason = correction or notes
        return _fail(
            state,
            "max_iter",
            f"The work was not accepted within {state.limits.iterations} iterations. {reason}",
            decision="self_iterate",
        )
    return replace(state, position=Position.LOOPING, notes=notes, correction=correction)


def _loop(state: State, fact: LoopedBack) -> State:
    said = "\n\n".join(part for part in (state.notes, state.correction) if part)
    return replace(
        state,
        position=Position.ASKING,
        phase=PhaseName.EXECUTE,
        iteration=state.iteration + 1,
        rounds=0,
        granted=0,
        full=False,
        repeats=Repeats(),
        callless=0,
        calls=0,
        next_call=0,
        submitted=False,
        rescued=False,
        notes="",
        correction=said,
    )


def _park(reason: str) -> Callable[[State, Any], State]:
    def rule(state: State, fact: BudgetRefused | ProviderDown | Suspended) -> State:
        return replace(
            state,
            position=Position.PARKED,
            parked_from=state.position,
            park_reason=reason,
            wake_at=fact.until,
        )

    return rule


def _suspend(state: State, fact: Suspended) -> State:
    return _park(fact.reason)(state, fact)


def _resume(state: State, fact: Resumed) -> State:
    back = due(state.parked_from, "where it was parked")
    return replace(state, position=back, parked_from=None, park_reason="", wake_at=None)


def _stop(state: State, fact: StopAsked) -> State:
    reason = f": {fact.reason}" if fact.reason else ""
    return _end(state, End(Outcome.STOPPED, error=f"{fact.by} stopped this turn{reason}."))


def _break(state: State, fact: Broke) -> State:
    if state.answers == 0 and not fact.final:
        return replace(state, position=Position.ENDED, release=fact.message or fact.error_kind)
    return _fail(state, fact.error_kind, fact.message)


_LIVE = (
    Position.OPENING,
    Position.ASKING,
    Position.CALLING,
    Position.JUDGING,
    Position.CHECKING,
    Position.WEIGHING,
    Position.LOOPING,
)

_RULES: dict[tuple[Position, type], Callable[[State, Any], State]] = {
    (Position.OPENING, Opened): _open,
    (Position.ASKING, Answered): _answer,
    (Position.ASKING, ProviderDown): _park("provider"),
    (Position.CALLING, Called): _call,
    (Position.CALLING, Suspended): _suspend,
    (Position.JUDGING, Judged): _judge,
    (Position.CHECKING, Checked): _check,
    (Position.WEIGHING, Weighed): _weigh,
    (Position.LOOPING, LoopedBack): _loop,
    (Position.PARKED, Resumed): _resume,
    **{(position, StopAsked): _stop for position in _LIVE},
    **{(position, Broke): _break for position in _LIVE},
    **{(position, BudgetRefused): _park("budget") for position in _LIVE[1:]},
}
