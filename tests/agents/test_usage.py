"""What was used: by company day, in bands and splits, with the unknown kept unknown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.db import OperationalError, connection, transaction

from agents.budgets import spend
from agents.budgets.charge import Charge, charge
from agents.llm.base import Usage
from agents.queries import usage
from crewlet.kernel.errors import CrewletError
from orgs.epochs import Snapshot
from tests.agents.turn.conftest import bare_stage, model_server, stage
from tests.agents.turn.stage import Stage

__all__ = ["bare_stage", "model_server", "stage"]
pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
TURN = UUID(int=7)


def call(here: Stage, tokens: int = 0, *, now: datetime = NOON, **more: Any) -> None:
    """One model call, charged as turns charge theirs."""
    seat = here.seat(more.pop("seat", "baker"))
    zone = more.pop("zone", here.snapshot.timezone)
    known: dict[str, Any] = {
        "turn_id": TURN, "phase": "execute", "usage": Usage(tokens, 0), "model": "m-1",
        "provider_entry": "main",
    }  # fmt: skip
    with transaction.atomic(), connection.cursor() as cursor:
        charge(cursor, Charge(seat, "baker", **{**known, **more}), limits={}, tz=zone, now=now)


def span(stage: Stage, days: int = 30, now: datetime = NOON) -> usage.Span:
    return usage.span_of(stage.snapshot, now, days=days)


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {row["key"]: row["tokens"] for row in rows}


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collects the statements that run inside."""
    seen: list[str] = []

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        yield seen


@pytest.mark.covers("UI-76", "UI-77")
def test_a_span_is_split_by_phase_model_provider_seat_and_unit(stage: Stage) -> None:
    call(stage, 50)
    call(stage, 20, phase="review", model="m-2", provider_entry="spare")
    call(stage, 5, stage="reflection", purpose="episode_summary")
    call(stage, 3, seat="chief", phase="worker", turn_id=UUID(int=8))
    found = usage.breakdown(stage.snapshot, span(stage))
    assert found["total"]["tokens"] == 78
    assert figures(found["by_phase"]) == {
        "execute": 50, "review": 20, "auxiliary": 5, "workers": 3,
    }  # fmt: skip
    assert figures(found["by_model"]) == {"m-1": 58, "m-2": 20}
    assert figures(found["by_provider"]) == {"main": 58, "spare": 20}
    assert figures(found["by_unit"]) == {"": 78}
    baker, chief = found["by_seat"]
    assert (baker["key"], baker["label"], baker["tokens"], baker["turns"]) == (
        "baker", "Baker", 75, 1,
    )  # fmt: skip
    assert (chief["tokens"], chief["per_turn"], chief["share"]) == (3, 3, round(3 / 78, 4))


def test_the_answer_costs_two_statements_however_much_was_called(stage: Stage) -> None:
    snapshot = stage.snapshot
    for seat in ("baker", "chief"):
        for n in range(6):
            call(stage, 1, seat=seat, model=f"m-{n}", now=NOON - timedelta(days=n))
    with counted() as seen:
        usage.breakdown(snapshot, span(stage), previous=True)
    assert len([sql for sql in seen if "agents_llmcall" in sql]) == 2
    with counted() as seen:
        usage.series(snapshot, usage.Span(date(2026, 3, 1), date(2026, 3, 10), date(2026, 1, 1)),
                     group="model")  # fmt: skip
    assert len(seen) == 1


@pytest.mark.covers("UI-92", "PEER-8")
def test_a_call_that_nobody_measured_is_unknown_and_never_nought(stage: Stage) -> None:
    call(stage, 40)
    call(stage, seat="chief", model="", provider_entry="", unobserved=True)
    call(stage, usage=Usage(9, 0, estimated=True))
    found = usage.breakdown(stage.snapshot, span(stage))
    assert figures(found["by_seat"]) == {"baker": 49, "chief": None}
    lost = next(row for row in found["by_model"] if row["key"] == "")
    assert (lost["label"], lost["tokens"], lost["tokens_in"], lost["share"]) == (
        "Unknown", None, None, None,
    )  # fmt: skip
    total = found["total"]
    assert (total["tokens"], total["unknown_calls"], total["estimated_calls"]) == (49, 1, 1)
    assert total["cache_read"] is None, "nobody reported any"
    days = usage.series(stage.snapshot, span(stage, 2), group="seat")["buckets"]
    assert [day["values"]["chief"] for day in days] == [0, None]


@pytest.mark.covers("UI-76")
def test_the_days_before_are_told_where_they_are_on_record(stage: Stage) -> None:
    call(stage, 10)
    call(stage, 4, now=NOON - timedelta(days=7))
    call(stage, 99, now=NOON - timedelta(days=14))
    found = usage.breakdown(stage.snapshot, span(stage, 7), previous=True)
    assert found["total"]["tokens"] == 10
    assert found["previous"]["total"]["tokens"] == 4
    assert found["previous"]["until"] == date(2026, 3, 3)
    assert "previous" not in usage.breakdown(stage.snapshot, span(stage, 7))
    floor = usage.span_of(stage.snapshot, NOON, since=span(stage).floor, until=date(2025, 10, 1))
    assert usage.breakdown(stage.snapshot, floor, previous=True)["previous"] is None


@pytest.mark.covers("UI-76")
def test_a_day_before_the_record_is_refused_naming_the_first(stage: Stage) -> None:
    floor = date(2025, 9, 11)
    assert usage.span_of(stage.snapshot, NOON, since=floor, until=floor).days == 1
    day = floor - timedelta(days=1)
    with pytest.raises(CrewletError, match="The first day is 2025-09-11"):
        usage.span_of(stage.snapshot, NOON, since=day, until=day)
    with pytest.raises(CrewletError, match="start on 2025-12-11"):
        usage.span_of(stage.snapshot, NOON, since=date(2025, 12, 10))
    assert usage.span_of(stage.snapshot, NOON, since=date(2025, 12, 11)).days == 90


@pytest.mark.covers("UI-76")
@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Lisbon", date(2026, 3, 29), 23),
        ("Europe/Lisbon", date(2026, 10, 25), 25),
        ("America/Santiago", date(2026, 9, 6), 23),  # its clock skips midnight
        ("America/Havana", date(2026, 11, 1), 25),  # its midnight hour comes twice
        ("Australia/Lord_Howe", date(2026, 10, 4), 23.5),
    ],
)
def test_a_company_day_holds_what_its_clock_says(
    stage: Stage, zone: str, day: date, hours: float
) -> None:
    """A day of 23, 24.5 or 25 hours is one bucket, from its first instant to its last."""
    tz = ZoneInfo(zone)
    first = datetime(day.year, day.month, day.day, tzinfo=tz).astimezone(UTC)
    last = first + timedelta(hours=hours)
    minute = timedelta(minutes=1)
    for tokens, now in ((1, first - minute), (10, first), (100, last - minute), (1000, last)):
        call(stage, tokens, now=now, zone=tz)
    here = SimpleNamespace(timezone=tz, chart=stage.snapshot.chart, handles=stage.snapshot.handles)
    snapshot = cast("Snapshot", here)
    three = usage.span_of(snapshot, last, days=3)
    assert three.last == day + timedelta(days=1)
    found = usage.series(snapshot, three, group="phase")
    assert [bucket["tokens"] for bucket in found["buckets"]] == [1, 110, 1000]


@pytest.mark.covers("UI-76")
def test_the_largest_four_stand_alone_and_the_rest_together(stage: Stage) -> None:
    for n in range(1, 7):
        call(stage, n * 10, model=f"m-{n}")
    found = usage.series(stage.snapshot, span(stage, 1), group="model")
    assert [band["key"] for band in found["bands"]] == ["m-6", "m-5", "m-4", "m-3", "(other)"]
    assert found["bands"][-1]["label"] == "2 others"
    assert found["buckets"][0]["values"]["(other)"] == 30
    phases = usage.series(stage.snapshot, span(stage, 1), group="phase")["bands"]
    assert [band["key"] for band in phases] == list(usage.PHASES)


def test_a_week_begins_on_monday_and_every_bucket_is_there(stage: Stage) -> None:
    call(stage, 5, now=NOON - timedelta(days=2))  # the Sunday
    call(stage, 7)
    found = usage.series(stage.snapshot, span(stage, 10), group="phase", bucket="week")
    assert [(b["start"], b["end"], b["tokens"]) for b in found["buckets"]] == [
        (date(2026, 3, 1), date(2026, 3, 1), 0),
        (date(2026, 3, 2), date(2026, 3, 8), 5),
        (date(2026, 3, 9), date(2026, 3, 10), 7),
    ]
    assert found["horizon"] == {"days": 181, "floor": date(2025, 9, 11)}


@pytest.mark.covers("UI-75")
def test_budgets_whose_counters_cannot_be_read_show_no_figure(stage: Stage) -> None:
    snapshot = stage.snapshot
    assert spend.payload(snapshot, NOON)["durable"] is True

    def broken(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        raise OperationalError("the disk is gone")

    with connection.execute_wrapper(broken):
        page = spend.payload(snapshot, NOON)
    assert (page["durable"], page["scopes"]) == (False, [])
