"""The diary: word for word, private, expired notes take nobody's place."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
import time_machine

from agents.memory import diary
from agents.models.memory import DiaryEntry
from crewlet.kernel import clock
from crewlet.kernel.actions import Door, Outcome, perform
from crewlet.kernel.actors import Actor, ActorKind, engine_actor
from crewlet.kernel.errors import Invalid
from crewlet.kernel.ids import new_id
from orgs import epochs
from orgs.revisions import apply_document
from tests.orgs.companies import TWO_TEAMS

pytestmark = pytest.mark.django_db


@pytest.fixture
def baker() -> UUID:
    apply_document(engine_actor("test"), TWO_TEAMS, summary="test")
    return epochs.active().seat_ids["baker"]


def keep(seat: UUID, content: str, kind: str = "long", days: int = 0) -> tuple[DiaryEntry, bool]:
    return diary.write(seat, kind, content, clock.now(), turn_id=new_id(), days=days)


@pytest.mark.covers("KNOW-40")
def test_the_same_living_note_is_kept_once(baker: UUID) -> None:
    first, new = keep(baker, "Rye sells out on Fridays.")
    again, repeated = keep(baker, " Rye sells out on Fridays. ")

    assert (new, repeated) == (True, False)
    assert first.id == again.id
    assert DiaryEntry.objects.count() == 1


@pytest.mark.covers("KNOW-41")
def test_an_expired_note_is_out_of_the_way_before_the_sweep(baker: UUID) -> None:
    with time_machine.travel(clock.now(), tick=False) as now:
        for day in range(diary.SHOWN):
            keep(baker, f"Short {day}", kind="short", days=1)
        lasting, _ = keep(baker, "Long")
        now.shift(timedelta(days=2))

        assert [note.id for note in diary.recent(baker, clock.now())] == [lasting.id]
        _, new = keep(baker, "Short 1", kind="short", days=1)
        assert new
        assert diary.sweep(clock.now()) == diary.SHOWN
        assert DiaryEntry.objects.count() == 2


@pytest.mark.covers("KNOW-40", "TURN-36")
@pytest.mark.parametrize("content", ["", "   ", "x" * (diary.MAX_CHARS + 1)])
def test_a_note_that_is_empty_or_too_long_is_refused_whole(baker: UUID, content: str) -> None:
    with pytest.raises(Invalid):
        keep(baker, content)
    assert DiaryEntry.objects.count() == 0


def test_the_newest_notes_are_shown_oldest_first(baker: UUID) -> None:
    with time_machine.travel(clock.now(), tick=False) as now:
        for n in range(diary.SHOWN + 3):
            keep(baker, f"Note {n}")
            now.shift(60)
    shown = [note.content for note in diary.recent(baker, clock.now())]
    assert shown == [f"Note {n}" for n in range(3, diary.SHOWN + 3)]


@pytest.mark.covers("KNOW-40")
@pytest.mark.django_db(transaction=True)
def test_a_seat_writes_into_its_own_diary_and_no_other(baker: UUID) -> None:

    def reflect(**args: object) -> Outcome:
        actor = Actor(ActorKind.SEAT, "baker", "Baker", seat_id=baker, handle="baker")
        return perform(actor, "reflect_and_persist", args, op_id=None, door=Door.TOOL)

    assert reflect(content="Rita likes rye.").status == "applied"
    assert (
        reflect(content="Rita likes rye.").unwrap().message == "You had written that down already."
    )
    with pytest.raises(Invalid, match="handle"):
        reflect(content="x", handle="seller")
    assert DiaryEntry.objects.get().seat_id == baker
