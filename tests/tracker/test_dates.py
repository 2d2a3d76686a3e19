"""Due dates on the company's calendar."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from crewlet.kernel.errors import Invalid
from tracker.dates import day_of, read_due, shown, whole_day

TOKYO = ZoneInfo("Asia/Tokyo")
# 23:30 UTC on a Wednesday: Thursday morning in Tokyo.
NOW = datetime(2026, 4, 1, 23, 30, tzinfo=UTC)


@pytest.mark.covers("TRK-12")
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", date(2026, 4, 2)),
        ("Tomorrow", date(2026, 4, 3)),
        ("eow", date(2026, 4, 5)),
        ("eom", date(2026, 4, 30)),
        ("+7d", date(2026, 4, 9)),
        ("+2w", date(2026, 4, 16)),
        ("2026-12-24", date(2026, 12, 24)),
    ],
)
def test_a_day_is_a_day_of_the_company(text: str, day: date) -> None:
    due = read_due(text, field="due", now=NOW, zone=TOKYO)
    assert due.all_day
    assert day_of(due.at, all_day=True, zone=TOKYO) == day


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Auckland", "America/Santiago"])
def test_a_stored_day_is_the_same_day_in_every_zone(zone: str) -> None:
    due = whole_day(date(2026, 9, 6))
    assert day_of(due.at, all_day=True, zone=ZoneInfo(zone)) == date(2026, 9, 6)
    assert shown(due.at, all_day=True, zone=ZoneInfo(zone)) == "2026-09-06"


def test_an_instant_without_a_zone_is_the_companys() -> None:
    due = read_due("2026-04-02T09:00", field="due", now=NOW, zone=TOKYO)
    assert not due.all_day
    assert due.at == datetime(2026, 4, 2, 0, 0, tzinfo=UTC)
    assert shown(due.at, all_day=False, zone=TOKYO) == "2026-04-02T09:00+09:00"


@pytest.mark.covers("TRK-12")
@pytest.mark.parametrize(
    "text", ["soon", "2026-02-30", "31.3.2026", "+7x", "9999999999", "9999-12-31T23:59-12:00"]
)
def test_an_unreadable_date_is_refused_by_the_arguments_name(text: str) -> None:
    with pytest.raises(Invalid, match=r"^due: .* is not a date"):
        read_due(text, field="due", now=NOW, zone=TOKYO)
