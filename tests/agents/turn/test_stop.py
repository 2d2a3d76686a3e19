"""Whoever leads a seat can end its turn; what it did stays, and nothing more is started."""

from __future__ import annotations

import pytest

from agents.actions.turns import StopTurn, _open_turn, stop_turn
from agents.models.turns import StopRequest, Turn
from crewlet.kernel.actions import ACTIONS, Door, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.errors import Gone, NotFound
from crewlet.kernel.ids import new_id
from crewlet.kernel.registry import thawed
from orgs.models.seats import Seat
from orgs.people.actors import seat_actor
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage

pytestmark = pytest.mark.django_db

REGISTERED = ACTIONS["stop_turn"]  # the stage replaces the registry by its own three tools


def rita() -> Actor:
    seat = Seat.objects.get(handle="rita")
    return Actor(ActorKind.PERSON, "rita", "Rita", seat_id=seat.id, handle="rita")


@pytest.mark.covers("TURN-77", "PEER-16")
def test_the_lead_above_stops_a_turn_once_and_is_named(stage: Stage) -> None:
    stage.mail()
    turn_id = stage.claim()
    args = StopTurn(turn=turn_id, reason="wrong bread")
    target = _open_turn(rita(), args)
    assert "at its next round" in stop_turn(rita(), args, target).message
    chief = seat_actor(Seat.objects.get(handle="chief"))
    assert "already" in stop_turn(chief, args, target).message
    asked = StopRequest.objects.get()
    assert (asked.by, asked.reason) == ("rita", "wrong bread")


def test_a_turn_that_has_ended_or_never_was_cannot_be_stopped(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    with pytest.raises(Gone, match="completed"):
        _open_turn(rita(), StopTurn(turn=turn.id))
    with pytest.raises(NotFound):
        _open_turn(rita(), StopTurn(turn=new_id()))


def test_only_who_leads_the_seat_or_operates_may_stop_it(stage: Stage) -> None:
    stage.mail()
    turn_id = stage.claim()
    baker = seat_actor(Seat.objects.get(handle="baker"))
    with thawed(ACTIONS):
        ACTIONS._entries["stop_turn"] = REGISTERED
        with pytest.raises(NotFound):
            perform(baker, "stop_turn", {"turn": turn_id}, op_id="a", door=Door.TOOL)
        refused = perform(baker, "stop_turn", {"turn": turn_id}, op_id="a", door=Door.REST)
        assert refused.error is not None
        assert not StopRequest.objects.exists()
        done = perform(rita(), "stop_turn", {"turn": turn_id}, op_id="b", door=Door.REST)
        assert done.status == "applied"
    assert Turn.objects.get().stage == "context"
