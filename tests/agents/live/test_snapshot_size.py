"""The picture of every seat costs as many statements for five hundred as for six."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.live.snapshot import seat_rows
from agents.models.turns import Turn
from crewlet.kernel import clock
from crewlet.kernel.actors import engine_actor
from orgs.models.seats import Seat
from tests.api.conftest import company

pytestmark = pytest.mark.django_db

__all__ = ["company"]


@pytest.mark.covers("UI-47")
def test_five_hundred_seats_cost_no_more_statements_than_a_few(company: None) -> None:
    """One picture, a fixed number of statements."""
    actor = engine_actor("tests")
    with CaptureQueriesContext(connection) as few:
        assert len(seat_rows(actor)) == 6
    crowd(500)
    with CaptureQueriesContext(connection) as many:
        rows = seat_rows(actor)
    assert len(rows) == 506
    assert len(many) == len(few)
    assert sum(row["activity"] == "working" for row in rows) == 50


def crowd(count: int) -> None:
    """Many seats, each with an ended turn, every tenth with a running one."""
    now = clock.now()
    seats = Seat.objects.bulk_create(
        Seat(handle=f"s{n}", name=f"Seat {n}", kind="agent", position=100 + n) for n in range(count)
    )
    ended = [a_turn(seat, stage="done", outcome="completed", ended_at=now) for seat in seats]
    running = [a_turn(seat, stage="phase", phase="execute") for seat in seats[::10]]
    Turn.objects.bulk_create(ended + running)


def a_turn(seat: Seat, **more: object) -> Turn:
    """A turn of a seat, not stored yet."""
    return Turn(
        seat=seat, work_key=f"k{seat.handle}", reply_kind="none", trigger={}, batch_key="b",
        conversation="c", epoch=1, lease_epoch=1,
        started_at=clock.now() - timedelta(minutes=5), **more,
    )  # fmt: skip
