"""A model that goes in circles, or fills its context: cut by rules, and the work so far is kept."""

from __future__ import annotations

from itertools import cycle, islice

import pytest

from agents.models.turns import IterationRecord, Phase, Turn
from agents.turn import machine as m
from agents.turn import words
from agents.turn.repeats import Repeats
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage
from tests.support.script import Step, call


def counted(*digests: str) -> Repeats:
    """One call a round."""
    found = Repeats()
    for n, digest in enumerate(digests, 1):
        found = found.after(digest, n)
    return found


@pytest.mark.covers("PEER-29")
@pytest.mark.parametrize("loop", ["a", "ab", "abc"])
def test_a_circle_is_warned_once_and_then_over(loop: str) -> None:
    length = len(loop)
    before = counted(*islice(cycle(loop), 2 * length))
    assert (before.nudged, before.over) == (0, False)
    third = counted(*islice(cycle(loop), 2 * length + 1))
    assert (third.nudged, third.over) == (2 * length + 1, False)
    assert counted(*islice(cycle(loop), 2 * length + 2)).over


def test_something_new_is_progress_and_starts_the_count_again() -> None:
    assert not counted(*"aabaacaada").nudged
    assert not counted(*"aaab").nudged
    assert not counted(*"aaabaa").over


def test_the_same_call_twice_in_one_answer_counts_once() -> None:
    found = Repeats()
    for _ in range(9):
        found = found.after("a", 1)
    assert not found.nudged


def full(n: int) -> m.State:
    state = m.begin("tool", m.Limits(iterations=2))
    facts: list[m.Fact] = [m.Opened()]
    for _ in range(n):
        facts += [m.Answered("tool_use", 1, full=True), m.Called(0), m.LoopedBack()]
    for fact in facts[:-1] if n > 2 else facts:
        state, _ = m.advance(state, fact)
    return state


@pytest.mark.covers("PEER-40")
def test_a_full_context_hands_over_twice_in_a_row_and_then_fails_by_name() -> None:
    second = full(2)
    assert (second.iteration, second.correction) == (3, m.HANDED_OVER)
    assert m.wanted(second)[0] == m.Ask(m.PhaseName.EXECUTE, 3, 0, 24, correction=m.HANDED_OVER)
    third = full(3)
    assert third.end is not None
    assert (third.end.outcome, third.end.error_kind) == (m.Outcome.FAILED, "context_exceeded")


@pytest.mark.covers("PEER-40")
def test_a_handover_costs_no_iteration_and_a_verdict_starts_its_count_again() -> None:
    state = full(2)
    facts = (
        m.Answered("tool_use", 1, full=True), m.Called(0, submitted=True), m.Checked("review"),
        m.Answered("tool_use", 1), m.Called(0, submitted=True),
        m.Weighed("self_iterate", "more", "a", reached=True), m.LoopedBack(),
        m.Answered("tool_use", 1, full=True), m.Called(0),
    )  # fmt: skip
    for fact in facts:
        state, _ = m.advance(state, fact)
    assert (state.position, state.handovers, state.end) == (m.Position.LOOPING, 1, None)


LOOK = Step(calls=[call("look_at", item="ENG-1")])


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("PEER-29", "PEER-41", "PEER-24")
def test_a_loop_is_told_then_cut_by_name_and_the_seat_takes_its_next_message(stage: Stage) -> None:
    warned = Step(expect=words.IN_CIRCLES, calls=LOOK.calls)
    stage.executes(NOTE, LOOK, LOOK, LOOK, warned)
    stage.reviews(Step(expect=words.WENT_IN_CIRCLES, calls=DONE.calls))
    end, turn = stage.work()
    executor = Phase.objects.get(turn=turn, phase="execute")
    assert (executor.rescued, executor.error_kind) == (True, "repeated_calls")
    assert (end.kind, turn.submitted) == ("completed", "incomplete")
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    assert stage.work()[0].kind == "completed"


@pytest.mark.django_db(transaction=True)
def test_a_model_that_heeds_the_warning_goes_on(stage: Stage) -> None:
    stage.executes(LOOK, LOOK, LOOK, Step(expect=words.IN_CIRCLES, calls=NOTE.calls), SUBMIT)
    stage.reviews(DONE)
    end, turn = stage.work()
    assert (end.kind, turn.submitted) == ("completed", "delivered")


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("PEER-40", "PEER-30")
def test_a_nearly_full_context_goes_on_in_a_fresh_conversation_through_the_ledger(
    stage: Stage,
) -> None:
    small = (
        '    small: {{type: openai-compatible, model: s, base_url: "{url}", context_tokens: 1000}}'
    )
    stage.company(providers=small, seat_budget="    llm: small")

    def fresh(seen: object) -> None:
        text = seen.text  # type: ignore[attr-defined]
        assert m.HANDED_OVER in text
        assert "do not repeat it" in text
        assert not seen.calls()  # type: ignore[attr-defined]

    stage.executes(
        Step(calls=NOTE.calls, usage=(790, 20)), Step(expect=fresh, calls=SUBMIT.calls)
    )  # fmt: skip
    stage.reviews(DONE)
    end, turn = stage.work()
    assert (end.kind, turn.iteration) == ("completed", 2)
    (handed,) = IterationRecord.objects.filter(turn=turn)
    assert (handed.outcome, handed.decision) == ("incomplete", "")
    assert Turn.objects.count() == 1
