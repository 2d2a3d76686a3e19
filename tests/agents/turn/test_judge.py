"""A pass that runs out of rounds: a judge may grant more, and nothing that fails grants any."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models.budgets import LlmCall
from agents.models.turns import Phase, Turn
from agents.queries.turns import turn_detail
from agents.turn import machine as m
from agents.views.trace import trace
from crewlet.kernel import clock
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.models import EngineEvent
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage
from tests.agents.turn.test_resume import go_on, kill_at, killed
from tests.support.script import Step, call, on_system

__all__ = ["kill_at"]

LIMITS = m.Limits(executor_rounds=2, ceiling=5, step=2)
SILENT = m.Answered("end", 0)
ENGINE = "\nturn_engine: {{max_tool_rounds: 2, execute_max_tool_rounds_ceiling: 4, {extra}}}"


def busy(n: int = 1) -> tuple[m.Fact, ...]:
    return (m.Answered("tool_use", 1), m.Called(0)) * n


def folded(*facts: m.Fact, limits: m.Limits = LIMITS) -> m.State:
    state = m.begin("tool", limits)
    for fact in (m.Opened(), *facts):
        state, _ = m.advance(state, fact)
    return state


@pytest.mark.covers("TURN-46")
def test_the_judge_grants_a_step_at_a_time_up_to_the_ceiling() -> None:
    state = folded(*busy(2))
    assert m.wanted(state) == (m.Judge(1, 2, 2),)
    state, commands = m.advance(state, m.Judged(2))
    assert commands == (m.Ask(m.PhaseName.EXECUTE, 1, 2, 4),)
    state = folded(*busy(2), m.Judged(2), *busy(2))
    assert m.wanted(state) == (m.Judge(1, 4, 1),)
    state = folded(*busy(2), m.Judged(2), *busy(2), m.Judged(1), *busy())
    assert state.rescued
    assert m.wanted(state) == (m.Ask(m.PhaseName.REVIEW, 1, 0, 4),)


@pytest.mark.covers("TURN-46")
def test_no_grant_ends_the_pass_as_incomplete_and_a_submission_needs_none() -> None:
    refused = folded(*busy(2), m.Judged())
    assert (refused.phase, refused.rescued) == (m.PhaseName.REVIEW, True)
    on_time = folded(*busy(), m.Answered("tool_use", 1), m.Called(0, submitted=True))
    assert on_time.position is m.Position.CHECKING


@pytest.mark.covers("TURN-43")
def test_prose_on_the_last_round_spends_the_re_asks_past_it_without_a_judge() -> None:
    once = folded(*busy(), SILENT)
    assert m.wanted(once) == (m.Ask(m.PhaseName.EXECUTE, 1, 2, 3, corrective=True),)
    assert m.wanted(folded(*busy(), SILENT, SILENT))[0].__class__ is m.Ask
    assert folded(*busy(), SILENT, SILENT, SILENT).rescued
    at_the_top = folded(*busy(), SILENT, limits=m.Limits(executor_rounds=2, ceiling=2))
    assert at_the_top.rescued


LOOKS = [Step(calls=[call("look_at", item=f"ENG-{n}")]) for n in range(1, 5)]


def few_rounds(stage: Stage, extra: str = "extension_round_step: 2") -> None:
    stage.company(budget=ENGINE.format(extra=extra))


def judges(stage: Stage, *steps: Step) -> None:
    stage.server.script("judge", on_system("You decide whether"), list(steps))


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-46", "TURN-85")
def test_a_granted_extension_is_on_record_and_charged(stage: Stage) -> None:
    few_rounds(stage)

    def asked(seen: Any) -> None:
        assert not seen.tools
        assert "look_at" in seen.text
        assert "Bake twelve loaves" in seen.text

    stage.executes(*LOOKS[:2], NOTE, SUBMIT)
    judges(stage, Step(expect=asked, say="EXTEND. It is nearly there."))
    stage.reviews(DONE)
    end, turn = stage.work()
    assert end.kind == "completed"
    judge = Phase.objects.get(turn=turn, phase="judge")
    assert judge.submission == {"rounds": 2, "reason": "EXTEND. It is nearly there."}
    assert (judge.status, judge.host_round) == ("done", 2)
    executor = Phase.objects.get(turn=turn, phase="execute")
    assert (executor.max_rounds, executor.round_ceiling, executor.rounds.count()) == (2, 4, 4)
    assert LlmCall.objects.filter(turn_id=turn.id, phase="judge").count() == 1
    assert turn.calls == 6


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-46", "TURN-85")
def test_the_page_of_a_turn_shows_every_judge_of_a_pass(stage: Stage) -> None:
    few_rounds(stage, "extension_round_step: 1")
    stage.executes(*LOOKS[:2], NOTE, LOOKS[2])
    judges(stage, Step(say="EXTEND"), Step(say="extend: one more"))
    stage.reviews(DONE)
    _, turn = stage.work()
    page = trace(turn_detail(engine_actor("tests"), turn.id), clock.now())
    assert [(phase["key"], phase["state_word"]) for phase in page["phases"]][1:3] == [
        ("judge-1-after-2", "Granted 1 more round"),
        ("judge-1-after-3", "Granted 1 more round"),
    ]
    ids = [found["id"] for phase in page["phases"] for found in phase["rounds"]]
    assert len(set(ids)) == len(ids) == turn.calls


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-46", "PEER-24")
@pytest.mark.parametrize(
    "answer",
    [
        Step(say="STOP. It goes in circles."),
        Step(say="I would rather not EXTEND."),
        Step(say="EXTEND because", stop="length"),
        Step(status=400, error=("invalid_request_error", "no such model")),
    ],
    ids=["stop", "unclear", "cut off", "an error"],
)
def test_a_judge_that_does_not_clearly_grant_ends_the_pass(stage: Stage, answer: Step) -> None:
    few_rounds(stage)
    stage.executes(NOTE, LOOKS[0])
    judges(stage, answer)
    stage.reviews(Step(expect="incomplete", calls=DONE.calls))
    end, turn = stage.work()
    assert end.kind == "completed"
    assert turn.submitted == "incomplete"
    assert Phase.objects.get(turn=turn, phase="execute").rescued
    told = EngineEvent.objects.filter(turn_id=turn.id, type="agent_phase_completed")
    assert [event.payload["granted"] for event in told if event.payload["phase"] == "judge"] == [0]


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-46")
def test_without_extension_nobody_is_asked(stage: Stage) -> None:
    few_rounds(stage, "extension_enabled: false")
    stage.executes(NOTE, LOOKS[0])
    stage.reviews(DONE)
    assert stage.work()[0].kind == "completed"


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-46")
def test_a_grant_that_the_budget_refuses_is_none_and_the_turn_waits(stage: Stage) -> None:
    few_rounds(stage, "extension_round_step: 2}\ntoken_budget: {day: 1000")
    stage.executes(*[Step(calls=step.calls, usage=(10, 1)) for step in (NOTE, LOOKS[0])])
    judges(stage, Step(say="EXTEND", usage=(2000, 1)))
    end, turn = stage.work()
    assert (end.kind, turn.park_reason) == ("parked", "budget")
    submission = Phase.objects.get(turn=turn, phase="judge").submission
    assert submission is not None
    assert submission["rounds"] == 0
    stage.company()
    stage.adopt(turn.id, lost=False)
    stage.reviews(DONE)
    assert stage.run(turn.id, resumed=True).kind == "completed"
    assert Turn.objects.get().submitted == "incomplete"


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-46", "TURN-12")
@pytest.mark.parametrize(("place", "asked"), [("answer.recorded", 1), ("answer.received", 2)])
def test_a_worker_killed_at_the_judge_goes_on_and_asks_only_for_what_is_lost(
    stage: Stage, kill_at: Any, place: str, asked: int
) -> None:
    few_rounds(stage)
    stage.executes(LOOKS[0], NOTE, LOOKS[1], SUBMIT)
    judges(stage, *[Step(say="EXTEND")] * asked)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    kill_at(place, 3)
    assert killed(stage, turn_id)
    # The limits of a later document are for later turns; this one's rows fold as they were written.
    stage.company(budget="\nturn_engine: {max_tool_rounds: 1, extension_enabled: false}")
    assert go_on(stage, turn_id).kind == "completed"
    assert Phase.objects.filter(turn=turn_id, phase="judge").count() == 1
    lost = LlmCall.objects.filter(turn_id=turn_id, phase="judge", unobserved=True)
    assert lost.count() == asked - 1
