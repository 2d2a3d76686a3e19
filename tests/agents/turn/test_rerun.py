"""An ended turn's mail is worked once more as the same unit of work."""

from __future__ import annotations

import pytest

from agents.actions.turns import RerunTurn, _ended_turn, rerun_turn
from agents.models.mail import Completion, Delivery
from agents.models.turns import Turn
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import Conflict
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, effects
from tests.support.script import Step, call

pytestmark = pytest.mark.django_db
BY = engine_actor("test")


@pytest.mark.covers("TURN-11", "PEER-16")
def test_a_failed_turn_runs_again_and_writes_nothing_twice(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT, NOTE, SUBMIT)
    stage.reviews(Step(calls=[call("submit_review", decision="failed", notes="No.")]), DONE)
    _, failed = stage.work()
    assert (failed.outcome, effects()) == ("failed", 1)
    args = RerunTurn(turn=failed.id)
    told = rerun_turn(BY, args, _ended_turn(BY, args))
    assert told.data == {"letters": 1}
    assert "already" in rerun_turn(BY, args, _ended_turn(BY, args)).message
    again = stage.claim()
    assert stage.run(again).kind == "completed"
    assert Turn.objects.get(id=again).work_key == failed.work_key
    assert effects() == 1
    assert Completion.objects.get().turn_id == again
    assert not Delivery.objects.filter(seat_id=stage.seat()).exists()
    with pytest.raises(Conflict, match="its work counts"):
        _ended_turn(BY, RerunTurn(turn=again))
