"""The pure machine: whatever the facts, a turn ends, within its limits, in one way."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.turn import machine as m

LATER = datetime(2026, 1, 2, tzinfo=UTC)
STOPS = ["end", "tool_use", "max_tokens", "refusal", "context_exceeded", "paused"]


def folded(*facts: m.Fact, reply: str = "tool", limits: m.Limits | None = None) -> m.State:
    state = m.begin(reply, limits)
    for fact in facts:
        state, _ = m.advance(state, fact)
    return state


def submitted() -> tuple[m.Fact, ...]:
    return (m.Answered("tool_use", 1), m.Called(0, submitted=True))


def a_pass(decision: str, artifact: str, *, reached: bool = True) -> tuple[m.Fact, ...]:
    """Everything of one iteration up to its verdict."""
    return (
        *submitted(), m.Checked("review"), *submitted(),
        m.Weighed(decision, "notes", artifact, reached),
    )  # fmt: skip


@pytest.mark.covers("TURN-57")
def test_a_turn_goes_from_work_to_check_to_review_to_done() -> None:
    state = m.begin("tool")
    assert m.wanted(state) == (m.Open(),)
    state, commands = m.advance(state, m.Opened())
    assert commands == (m.Ask(m.PhaseName.EXECUTE, 1, 0, 24),)
    state, commands = m.advance(state, m.Answered("tool_use", 2))
    assert commands == (m.RunCall(m.PhaseName.EXECUTE, 1, 0),)
    state, commands = m.advance(state, m.Called(0))
    assert commands == (m.RunCall(m.PhaseName.EXECUTE, 1, 1),)
    state, commands = m.advance(state, m.Called(1, submitted=True))
    assert commands == (m.Check(1),)
    state, commands = m.advance(state, m.Checked("review"))
    assert commands == (m.Ask(m.PhaseName.REVIEW, 1, 0, 4),)
    state = folded(m.Opened(), *a_pass("done", "a"))
    assert state.end == m.End(m.Outcome.COMPLETED, decision="done")


@pytest.mark.covers("TURN-37")
def test_every_call_of_an_answer_is_run_even_after_a_submission() -> None:
    state = folded(m.Opened(), m.Answered("tool_use", 2), m.Called(0, submitted=True))
    assert m.wanted(state) == (m.RunCall(m.PhaseName.EXECUTE, 1, 1),)
    after, _ = m.advance(state, m.Called(1))
    assert after.position is m.Position.CHECKING


@pytest.mark.covers("TURN-48")
@pytest.mark.parametrize("stop", sorted(m.UNFINISHED_STOPS))
def test_an_unfinished_answer_fails_the_turn_and_its_calls_are_not_run(stop: str) -> None:
    state = folded(m.Opened(), m.Answered(stop, 3))
    assert state.end is not None
    assert (state.end.outcome, state.end.error_kind) == (m.Outcome.FAILED, stop)


@pytest.mark.covers("TURN-49")
def test_a_refusal_ends_the_turn_with_its_explanation() -> None:
    state = folded(m.Opened(), m.Answered("refusal", 0, "not this"))
    assert state.end == m.End(m.Outcome.FAILED, "refusal", "not this")


@pytest.mark.covers("TURN-43", "TURN-44")
def test_an_answer_without_a_call_is_asked_again_twice_in_a_row_and_then_rescued() -> None:
    silent = m.Answered("end", 0)
    once = folded(m.Opened(), silent)
    assert m.wanted(once) == (m.Ask(m.PhaseName.EXECUTE, 1, 1, 24, corrective=True),)
    twice = folded(m.Opened(), silent, silent)
    assert twice.phase is m.PhaseName.EXECUTE
    assert not twice.rescued
    thrice = folded(m.Opened(), silent, silent, silent)
    assert thrice.rescued
    assert m.wanted(thrice) == (m.Ask(m.PhaseName.REVIEW, 1, 0, 4),)


@pytest.mark.covers("TURN-43")
def test_any_call_even_a_failing_one_clears_the_re_asks() -> None:
    silent, busy = m.Answered("end", 0), (m.Answered("tool_use", 1), m.Called(0))
    state = folded(m.Opened(), silent, silent, *busy, silent, silent)
    assert state.phase is m.PhaseName.EXECUTE
    assert m.wanted(state) == (m.Ask(m.PhaseName.EXECUTE, 1, 5, 24, corrective=True),)


@pytest.mark.covers("TURN-43")
def test_a_silent_last_round_is_not_asked_again() -> None:
    limits = m.Limits(executor_rounds=2)
    state = folded(
        m.Opened(), m.Answered("tool_use", 1), m.Called(0), m.Answered("end", 0), limits=limits
    )
    assert state.rescued
    assert state.phase is m.PhaseName.REVIEW


def test_a_submission_on_the_last_round_is_finished_not_exhausted() -> None:
    state = folded(m.Opened(), *submitted(), limits=m.Limits(executor_rounds=1))
    assert state.position is m.Position.CHECKING
    assert not state.rescued


@pytest.mark.covers("TURN-44")
def test_the_executor_asks_at_most_its_cap_and_then_goes_to_review() -> None:
    facts: list[m.Fact] = [m.Opened()]
    for _ in range(24):
        facts += [m.Answered("tool_use", 1), m.Called(0)]
    state = folded(*facts)
    assert state.rescued
    assert state.phase is m.PhaseName.REVIEW
    assert state.answers == 24


@pytest.mark.covers("TURN-58")
def test_a_reviewer_without_a_verdict_sends_the_work_round_again() -> None:
    silent = m.Answered("end", 0)
    state = folded(m.Opened(), *submitted(), m.Checked("review"), silent, silent, silent)
    assert m.wanted(state) == (m.Weigh(1),)
    after, commands = m.advance(state, m.Weighed("", "", "a", reached=True))
    assert commands == (m.LoopBack(1, m.NO_REVIEW, ""),)
    after, commands = m.advance(after, m.LoopedBack())
    assert commands == (m.Ask(m.PhaseName.EXECUTE, 2, 0, 24, correction=m.NO_REVIEW),)


@pytest.mark.covers("TURN-60")
def test_done_is_overturned_while_the_asker_has_received_nothing() -> None:
    state = folded(m.Opened(), *a_pass("done", "a", reached=False))
    assert m.wanted(state) == (m.LoopBack(1, "notes", m.OVERTURNED),)
    state, (ask,) = m.advance(state, m.LoopedBack())
    assert isinstance(ask, m.Ask)
    assert ask.correction.endswith(m.OVERTURNED), "the correction comes last"
    engine = folded(m.Opened(), *a_pass("done", "a", reached=False), reply="engine")
    assert engine.end is not None
    assert engine.end.outcome is m.Outcome.COMPLETED


@pytest.mark.covers("TURN-61")
def test_a_third_rejected_pass_is_the_last() -> None:
    facts: list[m.Fact] = [m.Opened()]
    for n in range(3):
        facts += [*a_pass("self_iterate", f"artifact {n}"), m.LoopedBack()]
    state = folded(*facts[:-1])
    assert state.end is not None
    assert (state.end.error_kind, state.end.guard) == ("max_iter", "max_iter")


@pytest.mark.covers("TURN-61")
def test_the_same_artifact_twice_is_a_stall() -> None:
    state = folded(
        m.Opened(), *a_pass("self_iterate", "same"), m.LoopedBack(),
        *a_pass("self_iterate", "same"),
    )  # fmt: skip
    assert state.end is not None
    assert state.end.guard == "stall"


@pytest.mark.covers("TURN-6")
def test_a_turn_without_an_obligation_is_refused_before_any_phase() -> None:
    state = folded(m.Opened(), reply="")
    assert state.end is not None
    assert state.end.outcome is m.Outcome.FAILED
    assert state.answers == 0


@pytest.mark.covers("TURN-13")
@pytest.mark.parametrize(("depth", "ends"), [(2, False), (3, True), (4, True)])
def test_an_ask_at_the_depth_limit_fails_before_any_phase(depth: int, *, ends: bool) -> None:
    state = folded(m.Opened(depth))
    assert (state.end is not None and state.end.guard == "depth_cap") is ends


@pytest.mark.covers("TURN-12", "RUN-11")
def test_only_a_break_before_the_first_answer_hands_the_mail_back() -> None:
    early = folded(m.Opened(), m.Broke("unhandled_exception", "boom"))
    assert m.wanted(early) == (m.Release("boom"),)
    late = folded(m.Opened(), m.Answered("tool_use", 1), m.Broke("unhandled_exception", "boom"))
    assert late.end is not None
    assert late.end.guard == "unhandled_exception"
    fatal = folded(m.Opened(), m.Broke("fatal", "no such model", final=True))
    assert fatal.end is not None
    assert fatal.end.error_kind == "fatal"


@pytest.mark.covers("TURN-12")
@pytest.mark.parametrize("fact", [m.BudgetRefused(LATER), m.ProviderDown(LATER)])
def test_a_parked_turn_goes_on_exactly_where_it_was(fact: m.Fact) -> None:
    before = folded(m.Opened(), m.Answered("tool_use", 1), m.Called(0))
    parked, (command,) = m.advance(before, fact)
    assert isinstance(command, m.Park)
    assert command.until == LATER
    with pytest.raises(m.Impossible):
        m.advance(parked, m.Called(0))
    after, commands = m.advance(parked, m.Resumed())
    assert after == before
    assert commands == m.wanted(before)


@pytest.mark.covers("TURN-37")
def test_calls_are_answered_in_order() -> None:
    state = folded(m.Opened(), m.Answered("tool_use", 2))
    with pytest.raises(m.Impossible, match="call 1"):
        m.advance(state, m.Called(1))


def facts_for(command: m.Command, draw: st.DrawFn) -> m.Fact:
    """Any fact that a command may bring."""
    if isinstance(command, m.Open):
        return m.Opened(draw(st.integers(0, 4)))
    if isinstance(command, m.Ask):
        if draw(st.integers(0, 9)) == 0:
            return m.ProviderDown(LATER)
        return m.Answered(draw(st.sampled_from(STOPS)), draw(st.integers(0, 3)))
    if isinstance(command, m.RunCall):
        return m.Called(command.order, draw(st.booleans()))
    if isinstance(command, m.Check):
        return m.Checked(draw(st.sampled_from(["review", "correct", "skip"])), "fix it")
    if isinstance(command, m.Weigh):
        decision = draw(st.sampled_from(["done", "self_iterate", "failed", ""]))
        return m.Weighed(decision, "n", draw(st.text(max_size=2)), draw(st.booleans()))
    if isinstance(command, m.LoopBack):
        return m.LoopedBack()
    return m.Resumed()


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, list[m.Fact], m.State]:
    reply = draw(st.sampled_from(["none", "tool", "engine"]))
    state, facts = m.begin(reply), list[m.Fact]()
    for _ in range(draw(st.integers(1, 120))):
        command = m.wanted(state)[0]
        if isinstance(command, m.Settle | m.Release):
            break
        fact = facts_for(command, draw)
        facts.append(fact)
        state, _ = m.advance(state, fact)
    return reply, facts, state


@pytest.mark.covers("TURN-61")
@given(histories())
def test_whatever_happens_the_limits_hold(history: tuple[str, list[m.Fact], m.State]) -> None:
    _, _, state = history
    assert 1 <= state.iteration <= 3
    assert state.rounds <= state.limits.rounds(state.phase)
    assert state.answers <= 3 * (24 + 4)
    assert len(state.hashes) == len(set(state.hashes))
    assert len(m.wanted(state)) == 1
    assert (state.position is m.Position.ENDED) == (state.end is not None or bool(state.release))


@given(histories(), st.integers(0, 200))
def test_a_turn_that_is_folded_anew_from_any_point_is_the_same_turn(
    history: tuple[str, list[m.Fact], m.State], cut: int
) -> None:
    reply, facts, state = history
    half = folded(*facts[:cut], reply=reply)
    again = half
    for fact in facts[cut:]:
        again, _ = m.advance(again, fact)
    assert again == state
    assert m.wanted(again) == m.wanted(state)


@pytest.mark.covers("TURN-77")
@given(histories())
def test_a_live_turn_can_always_be_stopped_and_an_ended_one_takes_nothing(
    history: tuple[str, list[m.Fact], m.State],
) -> None:
    _, _, state = history
    stop = m.StopAsked("rita", "enough")
    if state.position in (m.Position.ENDED, m.Position.PARKED):
        with pytest.raises(m.Impossible):
            m.advance(state, stop)
        return
    after, _ = m.advance(state, stop)
    assert after.end is not None
    assert after.end.outcome is m.Outcome.STOPPED
