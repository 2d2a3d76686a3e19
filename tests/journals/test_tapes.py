"""Turns that an earlier version left open go on, and ask nothing again that was answered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agents.models.mail import Completion
from agents.models.turns import Round, ToolCall, Turn
from tests.agents.turn.stage import DONE, SUBMIT, Stage, again, effects
from tests.journals.tape import FOLDER, play
from tests.support.script import Step

pytestmark = pytest.mark.django_db

# What is still to be asked after each tape: of the executor, of the reviewer; what is still to do.
LEFT: dict[str, tuple[Sequence[Step], Sequence[Step], int]] = {
    "v1_call_running": ([SUBMIT, SUBMIT], [again(), DONE], 1),
    "v1_submitted": ([SUBMIT], [again(), DONE], 0),
    "v1_second_pass": ([SUBMIT], [DONE], 0),
    "v1_second_review": ([], [DONE], 0),
}


def test_every_tape_is_played() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(LEFT)


@pytest.mark.parametrize("name", sorted(LEFT))
def test_a_recorded_turn_goes_on_where_it_was(stage: Stage, name: str) -> None:
    executes, reviews, effect = LEFT[name]
    turn_id = play(name, seat_id=stage.seat(), epoch=stage.snapshot.epoch)
    stored = Round.objects.count()
    if executes:
        stage.executes(*executes)
    stage.reviews(*reviews)
    stage.adopt(turn_id, lost=True)
    assert stage.run(turn_id, resumed=True).kind == "completed"
    turn = Turn.objects.get()
    assert (turn.outcome, turn.iteration, turn.calls) == ("completed", 2, 5)
    assert Round.objects.count() == stored + len(executes) + len(reviews)
    assert effects() == effect
    assert not ToolCall.objects.filter(status="running").exists()
    assert Completion.objects.count() == 1
