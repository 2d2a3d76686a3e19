"""Whoever gave work away hears how it ended, once, and what was done is never lost or redone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction

from agents.actions.waits import AnswerWait, answer_wait
from agents.models.colleagues import A2AChannel
from agents.models.mail import Delivery
from agents.models.seats import SeatLease
from agents.models.turns import Suspension, ToolCall, Turn
from agents.queries import waits
from agents.turn import colleague, journal
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor, ActorKind, TurnRef
from crewlet.kernel.errors import Invalid
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from orgs.models.notices import Notice
from orgs.models.seats import Seat
from orgs.people.actors import seat_actor
from tests.agents.play import a_node
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, Stop, effects
from tests.support.script import SeenRequest, Step, call

pytestmark = pytest.mark.django_db

TALK = Step(say="All baked!")
REFUSES = Step(say="no", stop="content_filter")
BLOCKED = Step(
    calls=[call("submit_work", outcome="blocked", summary="No flour.", evidence="Asked the mill.")]
)


def chief(turn: TurnRef | None = None) -> Actor:
    return seat_actor(Seat.objects.get(handle="chief"), turn)


def ask(stage: Stage, brief: str = "How many loaves?", turn: TurnRef | None = None) -> None:
    with transaction.atomic():
        colleague.open_channel(chief(turn), stage.seat("baker"), "baker", brief)


def told(stage: Stage) -> list[str]:
    """What waits for the chief, who gave the work and leads the seat."""
    waiting = Delivery.objects.filter(seat_id=stage.seat("chief")).order_by("seq")
    return [str(letter.payload["text"]) for letter in waiting]


@pytest.mark.covers("TURN-13")
def test_the_depth_of_asks_is_the_one_that_the_document_sets(bare_stage: Stage) -> None:
    bare_stage.company(budget="turn_engine: {delegation_depth_limit: 5}")
    ask(bare_stage, turn=TurnRef(new_id(), "work", depth=3))
    assert Delivery.objects.get().depth == 4
    with pytest.raises(Invalid, match="chain of 5 asks"):
        ask(bare_stage, turn=TurnRef(new_id(), "work", depth=4))


def _stop(stage: Stage) -> None:
    stage.host.stop = Stop("rita", "enough")


FAILED = "could not finish this"
ENDS: dict[str, tuple[tuple[Step, ...], dict[str, str]]] = {
    "failure": ((REFUSES,), {"a colleague": FAILED, "an item": FAILED}),
    "kill": ((), dict.fromkeys(["a colleague", "an item"], "rita stopped this turn: enough.")),
    # A colleague reads the text itself; whoever waits on an item has received nothing.
    "bare text": ((TALK,) * 20, {"a colleague": "All baked!", "an item": FAILED}),
}


@pytest.mark.covers("PEER-28", "PEER-16")
@pytest.mark.parametrize("asked", ["a colleague", "an item"])
@pytest.mark.parametrize("end", ENDS)
def test_whoever_gave_the_work_hears_of_its_end_once(stage: Stage, end: str, asked: str) -> None:
    """The chief asked and leads the seat: still one letter. Who stopped it needs none."""
    steps, words = ENDS[end]
    stage.executes(*steps)
    stage.reviews(*[DONE] * 5)
    if asked == "a colleague":
        ask(stage)
    else:
        stage.mail()
    turn_id = stage.claim()
    if end == "kill":
        _stop(stage)
    stage.run(turn_id)
    stage.server.model.forgive()
    (letter,) = told(stage)
    assert words[asked] in letter
    assert Notice.objects.filter(seat__handle="rita").exists() is (words[asked] == FAILED)


@pytest.mark.covers("PEER-26")
@pytest.mark.parametrize("died", ["in a model call", "with its workers"])
def test_a_turn_that_delivered_and_died_before_it_said_so_is_told_as_such(
    stage: Stage, died: str
) -> None:
    if died == "in a model call":
        stage.executes(NOTE, REFUSES)
        _, turn = stage.work()
    else:
        stage.executes(NOTE, Step(status=529, error=("overloaded_error", "busy")))
        _, turn = stage.work()
        with transaction.atomic(), connection.cursor() as cursor:
            journal.abandon(cursor, turn.id, error_kind="node_lost", error="Five workers died.")
        turn.refresh_from_db()
    assert turn.outcome == "failed"
    assert "Unreported completion: it had delivered item:ENG-1" in turn.error
    assert "Unreported completion" in told(stage)[0]
    assert "Unreported completion" in Notice.objects.get(seat__handle="rita").body


@pytest.mark.covers("PEER-26")
def test_a_turn_that_reported_and_was_then_refused_is_no_unreported_one(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(Step(calls=[call("submit_review", decision="failed", notes="Burnt.")]))
    _, turn = stage.work()
    assert turn.outcome == "failed"
    assert "Unreported" not in turn.error


@pytest.mark.covers("PEER-34")
def test_a_seat_that_is_blocked_on_one_item_three_times_in_a_day_is_escalated(
    stage: Stage,
) -> None:
    def blocked() -> None:
        stage.executes(NOTE, BLOCKED)
        stage.reviews(DONE)
        stage.work()

    with time_machine.travel(clock.now() - timedelta(hours=25), tick=False):
        blocked()
    stage.company()
    blocked()
    blocked()
    assert not Notice.objects.filter(kind="blocked_again").exists(), "yesterday's is too old"
    blocked()
    notice = Notice.objects.get(kind="blocked_again")
    assert (notice.seat_id, notice.ref) == (stage.seat("rita"), "item:ENG-1")
    assert "blocked on ENG-1 3 times within 24 hours" in notice.title
    assert "give it to somebody else" in notice.body
    assert Delivery.objects.get(kind="blocked_again").seat_id == stage.seat("chief")
    blocked()
    assert Notice.objects.filter(kind="blocked_again").count() == 1, "not at every one after"


@pytest.mark.covers("PEER-33")
def test_twenty_asks_in_a_row_to_one_colleague_are_all_answered(stage: Stage) -> None:
    for n in range(20):
        ask(stage, f"How many loaves on day {n}?")
        stage.executes(Step(expect=f"day {n}?", calls=[call("submit_work", summary=f"{n} loaves")]))
        stage.reviews(DONE)
        assert stage.run(stage.claim()).kind == "completed"
    assert set(A2AChannel.objects.values_list("state", flat=True)) == {"answered"}
    answers = told(stage)
    assert len(answers) == 20
    assert all(f"{n} loaves" in text for n, text in enumerate(answers))


@pytest.mark.covers("PEER-17")
def test_work_before_a_question_is_not_done_again_when_the_answer_comes_elsewhere(
    stage: Stage,
) -> None:
    def whole(seen: SeenRequest) -> None:
        notes = [c for m in seen.messages for c in m.calls if c.name == "note_on"]
        assert len(notes) == 1
        assert "Rye" in seen.messages[-1].text

    question = call("wait_for_person", who="rita", question="Rye or wheat?")
    stage.executes(NOTE, Step(calls=[question]), Step(expect=whole, calls=SUBMIT.calls))
    stage.reviews(DONE)
    _, turn = stage.work()
    wait = Suspension.objects.get()
    seat = Seat.objects.get(handle="rita")
    rita = Actor(
        ActorKind.PERSON, "rita", "Rita", person_id=seat.id, seat_id=seat.id, handle="rita"
    )
    with time_machine.travel(clock.now() + timedelta(days=1), tick=False):
        answer_wait(rita, AnswerWait(wait=wait.id, answer="Rye"), waits.standing(wait.id))
        stage.node, stage.lease_epoch = a_node("elsewhere"), 2
        SeatLease.objects.filter(seat_id=stage.seat()).update(epoch=2, owner_id=stage.node)
        stage.adopt(turn.id, lost=False)
        assert stage.run(turn.id, resumed=True).kind == "completed"
    assert (effects(), ToolCall.objects.filter(name="note_on").count()) == (1, 1)
    assert Turn.objects.get().node == stage.node


@pytest.mark.covers("ADD-2")
def test_a_look_that_fails_and_nothing_to_do_is_a_skip_and_no_failure(stage: Stage) -> None:
    """A scheduled turn reads, meets one error, and finds that nothing is needed."""
    look = Step(calls=[call("look_at", item="ENG-1")])
    wrong = Step(calls=[call("look_at", itm="ENG-404")])
    idle = Step(calls=[call("submit_work", outcome="no_action", summary="Done already.")])
    stage.executes(look, wrong, idle)
    known: dict[str, Any] = {"reply_kind": "none", "reply_surface": "", "kind": "schedule"}
    end, turn = stage.work(**known)
    assert (end.kind, turn.submitted, turn.error_kind) == ("skipped", "no_action", "")
    assert ToolCall.objects.filter(ok=False).count() == 1
    assert not EngineEvent.objects.filter(type="agent_turn_completed", failed=True).exists()
    assert not Notice.objects.exists()
    assert told(stage) == []
