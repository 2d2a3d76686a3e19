"""Holds: reasons that stand and fall on their own."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from agents.models.seats import HoldReason, SeatHold
from agents.seats import holds
from crewlet.kernel.redis import client, key
from tests.agents.play import NOON, a_company

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kofi() -> UUID:
    return a_company("kofi")["kofi"]


@pytest.mark.covers("TURN-79")
def test_the_first_who_holds_stands_in_the_row_and_the_second_is_told_who(kofi: UUID) -> None:
    first = holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=NOON, note="a break")
    second = holds.put(kofi, HoldReason.SEAT_PAUSED, by="ben", now=NOON, note="me too")
    assert first.created and not second.created
    assert (second.by, second.note) == ("ana", "a break")
    assert SeatHold.objects.get().by == "ana"


def test_a_second_hold_can_add_the_stop_and_never_takes_it_away(kofi: UUID) -> None:
    holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=NOON)
    assert holds.put(
        kofi, HoldReason.SEAT_PAUSED, by="ben", now=NOON, stop_running=True
    ).stop_running
    assert holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=NOON).stop_running


def test_lifting_one_reason_leaves_the_others(kofi: UUID) -> None:
    holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=NOON)
    holds.put(
        kofi, HoldReason.BUDGET_WINDOW, by="engine", now=NOON, until=NOON + timedelta(hours=1)
    )
    standing = holds.standing(kofi, NOON)
    assert standing is not None and standing.reason == HoldReason.SEAT_PAUSED
    assert holds.lift(kofi, HoldReason.SEAT_PAUSED)
    assert not holds.lift(kofi, HoldReason.SEAT_PAUSED)
    standing = holds.standing(kofi, NOON)
    assert standing is not None and standing.reason == HoldReason.BUDGET_WINDOW


def test_a_hold_with_an_end_ends_by_itself(kofi: UUID) -> None:
    holds.put(
        kofi, HoldReason.BUDGET_WINDOW, by="engine", now=NOON, until=NOON + timedelta(hours=1)
    )
    assert holds.standing(kofi, NOON + timedelta(minutes=59)) is not None
    assert holds.standing(kofi, NOON + timedelta(hours=1)) is None


def test_lifting_a_hold_rings_the_seat(kofi: UUID) -> None:
    holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=NOON)
    assert client().get(key("wake", kofi)) is None
    holds.lift(kofi, HoldReason.SEAT_PAUSED)
    assert client().get(key("wake", kofi)) == "1"
