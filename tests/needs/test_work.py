"""However a turn ends, nothing stays claimed, and it does not end green without a delivery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection

from agents.dispatch.turns import JournalledTurns
from agents.mail import claim
from agents.models.mail import Delivery
from agents.models.turns import Turn
from agents.queries import rows
from agents.turn.machine import Outcome
from agents.views.faces import turn_face
from crewlet.kernel import clock
from crewlet.kernel.models import EngineEvent
from orgs import epochs
from orgs.models.notices import Notice
from tests.agents.play import a_company, a_letter, a_node, an_open_turn, post_now
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, Stop
from tests.support.script import Step, call

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Ending:
    """How the model behaves, and which end of a turn that is."""

    executes: tuple[Step, ...]
    kind: str
    reviews: tuple[Step, ...] = ()
    before: Callable[[Stage, pytest.MonkeyPatch], None] = lambda _stage, _patch: None
    mail: tuple[tuple[str, Any], ...] = ()


def _stopped(stage: Stage, _patch: pytest.MonkeyPatch) -> None:
    stage.host.stop = Stop("rita", "enough")


def _broken(_stage: Stage, patch: pytest.MonkeyPatch) -> None:
    def burst(_context: object) -> None:
        raise KeyError("policies")

    patch.setattr("agents.prompts.build.executor", burst)


IDLE = Step(calls=[call("submit_work", outcome="no_action", summary="Nothing to do.")])
WRONG = Step(status=404, error=("not_found_error", "no such model"))
CUT = Step(say="I was", stop="length")
EXPLODES = Step(calls=[call("note_on", item="ENG-1", text="explode")])
ENDINGS = {
    "completed": Ending((NOTE, SUBMIT), "completed", (DONE,)),
    "skipped": Ending((IDLE,), "skipped", mail=(("reply_kind", "none"), ("reply_surface", ""))),
    "cut": Ending((CUT,), "failed"),
    "refused by the vendor": Ending((WRONG,), "failed"),
    "a tool bursts": Ending((EXPLODES,), "failed"),
    "too deep": Ending((), "failed", mail=(("depth", 99),)),
    "stopped": Ending((), "stopped", before=_stopped),
    "never began": Ending((), "released", before=_broken),
}


def claims(stage: Stage) -> int:
    """How many letters of the seat somebody holds."""
    return Delivery.objects.filter(seat_id=stage.seat()).exclude(turn=None).count()


@pytest.mark.covers("PEER-13")
@pytest.mark.parametrize("name", ENDINGS)
def test_every_end_of_a_turn_frees_all_it_had_claimed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The seat takes its next message without anybody's help."""
    ending = ENDINGS[name]
    stage.executes(*ending.executes)
    if ending.reviews:
        stage.reviews(*ending.reviews)
    for _ in range(2):
        stage.mail(batch_key="one", **dict(ending.mail))
    turn_id = stage.claim()
    assert claims(stage) == 2
    ending.before(stage, monkeypatch)
    end = stage.run(turn_id)
    assert end.kind == ending.kind, end
    assert claims(stage) == 0
    assert Turn.objects.get(id=turn_id).stage == "done"
    assert not Turn.objects.filter(seat_id=stage.seat()).exclude(stage="done").exists()
    waiting = Delivery.objects.filter(seat_id=stage.seat())
    assert waiting.count() == (2 if ending.kind == "released" else 0)
    stage.mail(batch_key="next")
    waiting.update(not_before=None)
    assert stage.claim() != turn_id


@pytest.mark.covers("PEER-13")
def test_the_ends_that_were_walked_are_all_there_are() -> None:
    """A new way to end makes this fail until its claims are looked at above."""
    assert {ending.kind for ending in ENDINGS.values()} == {
        *(outcome.value for outcome in Outcome), "released",
    }  # fmt: skip


@pytest.mark.covers("PEER-13")
def test_a_turn_that_is_given_up_as_poison_frees_its_claims_too() -> None:
    kofi = a_company("kofi")["kofi"]
    letter = a_letter()
    post_now(kofi, letter)
    with connection.cursor() as cursor:
        turn_id = an_open_turn(
            cursor, kofi, [letter.event_id], stage="phase", node=a_node(),
            epoch=epochs.active().epoch,
        )  # fmt: skip
        claim.bury(cursor, turn_id, "five workers died")
        JournalledTurns().abandon(cursor, turn_id, "node_lost", "five workers died")
    assert not Delivery.objects.exists()
    assert Turn.objects.get().stage == "done"


@pytest.mark.covers("PEER-22")
def test_done_that_reached_nobody_cannot_end_green(stage: Stage) -> None:
    """The model's word counts only where the record of its calls bears it out."""
    lie = Step(calls=[call("submit_work", summary="Baked.", deliveries=["item:ENG-1"])])
    talk = Step(say="I am done.")
    stage.executes(lie, *[talk] * 12)
    stage.reviews(*[DONE] * 3)
    end, turn = stage.work()
    stage.server.model.forgive()
    assert (end.kind, turn.outcome) == ("failed", "failed")
    assert turn.submitted == "incomplete"
    assert Notice.objects.filter(reason="turn_failed").exists(), "people hear of it"
    assert EngineEvent.objects.filter(type="agent_turn_completed", failed=True).count() == 1


@pytest.mark.covers("PEER-22", "PEER-25")
def test_work_that_cannot_be_done_is_told_as_blocked_and_never_as_delivered(stage: Stage) -> None:
    said = call("note_on", item="ENG-1", text="The mill is closed; who can open it?")
    blocked = call(
        "submit_work", outcome="blocked", summary="The mill is closed.",
        evidence="It said so at the door.", deliveries=["item:ENG-1"],
    )  # fmt: skip
    stage.executes(Step(calls=[said]), Step(calls=[blocked]))
    stage.reviews(DONE)
    _, turn = stage.work()
    assert turn.submitted == "blocked"
    assert turn.ended_at is not None
    assert turn.ended_at <= clock.now()
    shown = turn_face(rows.select("t.id = %s", [turn.id], "")[0])
    assert (shown["word"], shown["tone"]) == ("Blocked", "need"), "never drawn as done"


LIES = {
    "a call never made": ((), ["note_on"]),
    "a delivery never made": ((), ["item:ENG-1"]),
    "another item than it touched": ((NOTE,), ["item:ENG-9"]),
}


@pytest.mark.covers("PEER-22")
@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("reply", ["tool", "none"])
def test_a_claim_that_the_record_refutes_is_never_taken(stage: Stage, lie: str, reply: str) -> None:
    """Also where nobody waits for an answer, and though the reviewer would believe it.

    Only what the record has counts: a note that did reach the asker may still make it done.
    """
    did, claims = LIES[lie]
    stage.executes(
        *did, *[Step(calls=[call("submit_work", summary="Baked.", deliveries=claims)])] * 40
    )
    stage.reviews(*[DONE] * 10)
    end, turn = stage.work(reply_kind=reply, reply_surface="work" if reply == "tool" else "")
    stage.server.model.forgive()
    reached = reply == "tool" and did == (NOTE,)
    assert end.kind == turn.outcome == ("completed" if reached else "failed")
    assert (turn.submitted == "incomplete") is (reply == "tool"), "it was never accepted"
    assert EngineEvent.objects.filter(type="agent_turn_completed", failed=not reached).exists()
