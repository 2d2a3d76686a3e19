"""What is finished with is remembered for 30 days, and what nobody has dealt with for ever."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from agents.dispatch.duties import DUTIES
from agents.mail import retention
from agents.models.mail import Completion, DeadLetter
from crewlet.kernel import clock
from crewlet.kernel.events import EventType, forget_old, publish
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from tests.agents.play import a_company

pytestmark = pytest.mark.django_db

DAYS_30 = timedelta(days=30)


@pytest.fixture
def kofi() -> UUID:
    return a_company("kofi")["kofi"]


def done(seat: UUID, at: datetime) -> Completion:
    return Completion.objects.create(
        seat_id=seat, event_id=new_id(), turn_id=new_id(), outcome="completed", at=at
    )


def dead(seat: UUID, handled_at: datetime | None) -> DeadLetter:
    long_ago = clock.now() - timedelta(days=400)
    return DeadLetter.objects.create(
        seat_id=seat, event_id=new_id(), mail={}, attempts=25, error="x", at=long_ago,
        handled_at=handled_at,
    )  # fmt: skip


@pytest.mark.covers("TURN-3", "RUN-10")
def test_a_completion_is_kept_for_thirty_days(kofi: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.now()
    young = done(kofi, now - DAYS_30 + timedelta(minutes=1))
    for _ in range(3):
        done(kofi, now - DAYS_30 - timedelta(minutes=1))
    monkeypatch.setattr(retention, "_BATCH", 2)
    assert [retention.forget_old(now) for _ in range(3)] == [2, 1, 0]
    assert Completion.objects.get().id == young.id


@pytest.mark.covers("RUN-9")
def test_a_dead_letter_goes_thirty_days_after_somebody_dealt_with_it(kofi: UUID) -> None:
    now = clock.now()
    open_one, recent = dead(kofi, None), dead(kofi, now - timedelta(days=29))
    dead(kofi, now - timedelta(days=31))
    assert retention.forget_old(now) == 1
    assert set(DeadLetter.objects.values_list("id", flat=True)) == {open_one.id, recent.id}


@pytest.mark.covers("RUN-13")
def test_an_event_is_kept_for_thirty_days() -> None:
    publish(EventType.ORG_STARTED, summary="Old")
    EngineEvent.objects.update(ts=clock.now() - timedelta(days=31))
    publish(EventType.ORG_STARTED, summary="New")
    assert forget_old(clock.now()) == 1
    assert EngineEvent.objects.get().summary == "New"


def test_the_beat_sees_to_it() -> None:
    assert {"mail_retention", "event_retention"} <= set(DUTIES)
