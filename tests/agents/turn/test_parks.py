"""A budget or a provider that has no room puts a turn to sleep; it never costs its mail."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agents.budgets import windows
from agents.models.budgets import BudgetWindow, LlmCall
from agents.models.mail import Delivery
from agents.models.turns import Segment, ToolCall, Turn
from agents.turn.engine import TurnEnd
from crewlet.kernel import clock
from crewlet.kernel.models import EngineEvent
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, effects
from tests.support.script import Step

pytestmark = pytest.mark.django_db

DOWN = Step(status=529, error=("overloaded_error", "too busy"))


def resume(stage: Stage) -> TurnEnd:
    turn_id = Turn.objects.get().id
    stage.adopt(turn_id, lost=False)
    return stage.run(turn_id, resumed=True)


@pytest.mark.covers("TURN-12", "TURN-86")
def test_a_provider_that_is_down_parks_the_turn_and_costs_no_attempt(stage: Stage) -> None:
    stage.executes(NOTE, DOWN, DOWN, SUBMIT)
    stage.reviews(DONE)
    end, turn = stage.work()
    assert (end.kind, turn.stage, turn.park_reason) == ("parked", "parked", "provider")
    assert turn.wake_at is not None
    assert turn.wake_at - clock.now() <= timedelta(seconds=1)
    letter = Delivery.objects.get()
    assert (letter.turn_id, letter.attempts) == (turn.id, 0)
    assert EngineEvent.objects.get(type="llm_unavailable").payload["error_kind"] == "server"
    assert resume(stage).kind == "parked"
    again = Turn.objects.get()
    assert again.wake_at is not None
    assert again.wake_at - clock.now() > timedelta(seconds=1), "the pause grows"
    assert resume(stage).kind == "completed"
    assert effects() == 1
    assert Segment.objects.count() == 3
    assert sum(Segment.objects.values_list("tokens_in", flat=True)) == Turn.objects.get().tokens_in


def test_a_provider_that_is_down_at_the_first_call_parks_as_well(stage: Stage) -> None:
    stage.executes(DOWN, NOTE, SUBMIT)
    stage.reviews(DONE)
    end, turn = stage.work()
    assert (end.kind, turn.calls) == ("parked", 0)
    stage.adopt(turn.id, lost=False)
    assert Turn.objects.get().stage == "context"
    assert stage.run(turn.id, resumed=True).kind == "completed"


def test_the_vendor_says_when_to_come_back(stage: Stage) -> None:
    stage.executes(
        Step(status=429, headers={"retry-after": "120"}, error=("rate_limit_error", "slow down"))
    )
    _, turn = stage.work()
    assert turn.wake_at is not None
    pause = turn.wake_at - clock.now()
    assert timedelta(seconds=110) < pause <= timedelta(seconds=120)


def test_a_wrong_model_fails_the_turn_instead_of_trying_for_ever(stage: Stage) -> None:
    stage.executes(Step(status=404, error=("not_found_error", "no such model")))
    end, turn = stage.work()
    assert (end.kind, turn.error_kind) == ("failed", "fatal")
    assert not Delivery.objects.filter(seat_id=stage.seat("baker")).exists()


@pytest.mark.covers("TURN-82", "TURN-83", "UI-71")
def test_a_round_over_the_ceiling_is_counted_refused_and_parked_before_its_calls(
    bare_stage: Stage,
) -> None:
    stage = bare_stage
    stage.company(seat_budget="    token_budget: {day: 1000}")
    stage.executes(Step(calls=NOTE.calls, usage=(900, 200)), Step(calls=SUBMIT.calls, usage=(5, 5)))
    stage.reviews(Step(calls=DONE.calls, usage=(5, 5)))
    end, turn = stage.work()
    assert (end.kind, turn.park_reason, turn.calls) == ("parked", "budget", 1)
    assert effects() == 0
    assert ToolCall.objects.get().status == "running"
    day = BudgetWindow.objects.get(scope=windows.seat_scope(stage.seat()), kind="day")
    assert day.used == 1100
    assert day.refused_at is not None
    assert turn.wake_at == day.ends_at == end.wake_at
    told = EngineEvent.objects.get(type="budget_exhausted").payload
    assert (told["period"], told["used"], told["limit"]) == ("day", 1100, 1000)
    assert LlmCall.objects.get().refused
    assert Delivery.objects.get().attempts == 0

    stage.company(seat_budget="    token_budget: {day: 100000}")
    assert Turn.objects.get().epoch != stage.snapshot.epoch, "the turn keeps the company it pinned"
    assert resume(stage).kind == "completed"
    assert effects() == 1
    assert Turn.objects.get().calls == 3


def test_a_review_that_was_paid_beyond_the_ceiling_still_settles_its_turn(
    bare_stage: Stage,
) -> None:
    stage = bare_stage
    stage.company(seat_budget="    token_budget: {day: 1000}")
    stage.executes(Step(calls=NOTE.calls, usage=(5, 5)), Step(calls=SUBMIT.calls, usage=(5, 5)))
    stage.reviews(Step(calls=DONE.calls, usage=(2000, 1)))
    end, _ = stage.work()
    assert end.kind == "completed"
    assert windows.refusal(stage.seat(), stage.snapshot, clock.now()) is not None


@pytest.mark.covers("TURN-12")
def test_an_unusable_key_is_no_reason_to_lose_mail(stage: Stage) -> None:
    stage.executes(Step(status=401, error=("authentication_error", "bad key")))
    end, turn = stage.work()
    assert (end.kind, turn.park_reason) == ("parked", "provider")
    assert "bad key" in turn.park_detail["message"] or turn.park_detail["message"]


@pytest.mark.covers("TURN-12")
def test_a_turn_parked_in_the_middle_of_a_review_goes_on_with_the_review(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DOWN, DONE)
    end, turn = stage.work()
    assert (end.kind, turn.phase, turn.stage) == ("parked", "review", "parked")
    assert resume(stage).kind == "completed"
    assert Turn.objects.get().calls == 3
    started = EngineEvent.objects.filter(type="agent_phase_started")
    assert sorted(event.payload["phase"] for event in started) == ["execute", "review"]
