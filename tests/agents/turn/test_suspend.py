"""A turn waits for a person in the middle of a call, and goes on with the answer as its result."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import time_machine

from agents.actions.waits import AnswerWait, answer_wait
from agents.dispatch import screening
from agents.live.fold import Facts, activity
from agents.models.mail import Completion, Delivery
from agents.models.turns import StopRequest, Suspension, ToolCall, Turn
from agents.queries import waits
from agents.turn import journal
from agents.turn.engine import TurnEnd
from crewlet.kernel import clock
from crewlet.kernel.actions import ACTIONS, Door, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.errors import Conflict, ErrorCode, Gone
from crewlet.kernel.models import EngineEvent
from crewlet.kernel.registry import thawed
from orgs.inbox import waiting_rows
from orgs.models.seats import Seat
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, effects
from tests.support.script import SeenRequest, Step, call

pytestmark = pytest.mark.django_db
REGISTERED = ACTIONS["answer_wait"]

ASK = Step(
    calls=[call("wait_for_person", who="rita", question="Rye or wheat?", options=["Rye", "Wheat"])]
)


def rita() -> Actor:
    seat = Seat.objects.get(handle="rita")
    return Actor(
        ActorKind.PERSON, "rita", "Rita", person_id=seat.id, seat_id=seat.id, handle="rita"
    )


def answer(**said: Any) -> None:
    wait = Suspension.objects.get(state="open")
    answer_wait(rita(), AnswerWait(wait=wait.id, **said), waits.standing(wait.id))


def go_on(stage: Stage, turn_id: UUID) -> TurnEnd:
    stage.adopt(turn_id, lost=False)
    return stage.run(turn_id, resumed=True)


def result_is(text: str) -> Any:
    def check(seen: SeenRequest) -> None:
        assert seen.messages[-1].role == "tool"
        assert text in seen.messages[-1].text
        assert not seen.messages[-1].failed

    return check


@pytest.mark.covers("TURN-80", "PEER-18", "PEER-39", "ADD-1")
def test_the_answer_is_the_result_of_the_call_in_the_very_turn(stage: Stage) -> None:
    stage.executes(
        ASK,
        Step(expect=result_is("Rye"), calls=NOTE.calls),
        Step(calls=[call("wait_for_person", who="@rita", question="And when?")]),
        Step(expect=result_is("Tomorrow at six."), calls=SUBMIT.calls),
    )
    stage.reviews(DONE)
    end, turn = stage.work()
    assert (end.kind, turn.stage, turn.park_reason) == ("suspended", "parked", "person")
    assert not Delivery.objects.exists()
    assert Completion.objects.get().turn_id == turn.id
    assert EngineEvent.objects.get(type="agent_turn_parked").payload["suspended"] is True
    asked = waiting_rows(rita(), clock.now())
    assert [row.title for row in asked] == ["Rye or wheat?"]
    facts = Facts("agent", {"stage": "parked", "park_reason": "person"}, None,
                  waits.by_seat()[stage.seat()], {}, placed=True)  # fmt: skip
    assert activity(facts) == ("needs", None)
    with time_machine.travel(clock.now() + timedelta(days=30), tick=False):
        assert [row.ref for row in waiting_rows(rita(), clock.now())] == [asked[0].ref]
        answer(choice="Rye")
        assert waiting_rows(rita(), clock.now()) == []
        assert go_on(stage, turn.id).kind == "suspended"
        answer(answer="Tomorrow at six.")
        assert go_on(stage, turn.id).kind == "completed"
    assert effects() == 1
    assert Turn.objects.count() == 1
    assert set(Suspension.objects.values_list("state", flat=True)) == {"taken"}


@pytest.mark.covers("TURN-80", "TURN-86")
def test_the_seat_works_its_other_mail_meanwhile_and_takes_the_turn_up_when_answered(
    stage: Stage,
) -> None:
    stage.executes(ASK, NOTE, SUBMIT)
    stage.reviews(DONE)
    _, first = stage.work()
    seat = stage.seat()
    assert screening.open_turn(seat, clock.now()) is None
    _, second = stage.work()
    assert (second.outcome, Turn.objects.get(id=first.id).stage) == ("completed", "parked")
    stage.company(budget="mission: Bread")  # a new revision is no answer
    assert screening.open_turn(seat, clock.now()) is None
    answer(choice="Wheat")
    due = screening.open_turn(seat, clock.now())
    assert due is not None
    assert due.id == first.id


@pytest.mark.covers("TURN-80")
def test_a_second_wait_of_one_answer_is_refused_unrun(stage: Stage) -> None:
    two = [*ASK.calls, call("wait_for_person", who="rita", question="And butter?")]

    def refused(seen: SeenRequest) -> None:
        assert [said.failed for said in seen.messages[-2:]] == [False, True]
        assert "was not run" in seen.messages[-1].text

    stage.executes(Step(calls=two), Step(expect=refused, calls=NOTE.calls), SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    answer(choice="Rye")
    assert go_on(stage, turn.id).kind == "completed"
    assert Suspension.objects.count() == 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"who": "nobody at all", "question": "?"}, "names no one person"),
        ({"who": "chief", "question": "?"}, "held by an agent"),
        ({"who": "rita"}, "question"),
    ],
)
def test_a_wait_for_nobody_is_a_failed_call(stage: Stage, args: Any, says: str) -> None:
    stage.executes(Step(calls=[call("wait_for_person", **args)]), NOTE, SUBMIT)
    stage.reviews(DONE)
    end, _ = stage.work()
    assert end.kind == "completed"
    failed = ToolCall.objects.get(name="wait_for_person")
    assert failed.ok is False
    assert says in failed.result


@pytest.mark.covers("PEER-18", "PEER-19")
def test_a_lost_worker_asks_nothing_again_and_loses_no_answer(stage: Stage) -> None:
    stage.executes(ASK, Step(expect=result_is("Rye"), calls=NOTE.calls), SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    stage.adopt(turn.id, lost=True)  # taken up and lost before anything was said
    assert stage.run(turn.id, resumed=True).kind == "suspended"
    answer(choice="Rye")
    stage.adopt(turn.id, lost=False)
    stage.adopt(turn.id, lost=True)
    assert stage.run(turn.id, resumed=True).kind == "completed"
    assert Suspension.objects.count() == 1


@pytest.mark.covers("TURN-77", "TURN-79")
def test_stopping_a_waiting_turn_ends_it_and_closes_its_question(stage: Stage) -> None:
    stage.executes(ASK)
    _, turn = stage.work()
    journal.ask_stop(turn.id, by="rita", reason="never mind")
    due = screening.open_turn(stage.seat(), clock.now())
    assert due is not None
    stage.host.stop = StopRequest.objects.get()
    assert go_on(stage, turn.id).kind == "stopped"
    wait = Suspension.objects.get()
    assert (wait.state, waiting_rows(rita(), clock.now())) == ("closed", [])
    with pytest.raises(Gone, match="has ended"):
        answer_wait(rita(), AnswerWait(wait=wait.id, answer="Rye"), waits.standing(wait.id))


@pytest.mark.covers("TURN-80")
def test_after_ninety_days_the_turn_goes_on_without_the_person(stage: Stage) -> None:
    stage.executes(ASK, NOTE, SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    with time_machine.travel(clock.now() + timedelta(days=91), tick=False):
        due = screening.open_turn(stage.seat(), clock.now())
        assert due is not None
        assert go_on(stage, turn.id).kind == "completed"
    assert "Nobody answered" in ToolCall.objects.get(name="wait_for_person").result


@pytest.mark.covers("PEER-39")
def test_the_first_answer_counts_and_only_who_was_asked_or_leads_may_give_it(stage: Stage) -> None:
    stage.executes(ASK)
    stage.work()
    wait = Suspension.objects.get()
    sam = Actor(ActorKind.PERSON, "sam", "Sam")
    with thawed(ACTIONS):
        ACTIONS._entries["answer_wait"] = REGISTERED
        args = {"wait": str(wait.id), "choice": "Rye"}
        stranger = perform(sam, "answer_wait", args, op_id="a", door=Door.REST)
        assert stranger.error is not None
        assert stranger.error.code is ErrorCode.FORBIDDEN
        for _ in range(2):  # a double click lands once
            perform(rita(), "answer_wait", args, op_id="b", door=Door.FORM).unwrap()
        late = perform(rita(), "answer_wait", args, op_id="c", door=Door.FORM)
    assert isinstance(late.error, Conflict)
    assert late.error.code is ErrorCode.ALREADY_ANSWERED
