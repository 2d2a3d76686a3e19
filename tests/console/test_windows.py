"""One grammar of `window=` for every screen."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from crewlet.console.windows import LENGTHS, TODAY, WORDS, Window, window_of

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 30, 9, 30, tzinfo=UTC)  # the day after its clocks went forward


def asked(text: str, *, takes: tuple[str, ...] = tuple(WORDS), whole_days: bool = False) -> Window:
    """What a screen that takes everything shows."""
    return window_of(text, takes=takes, default="7d", now=NOW, zone=BERLIN, whole_days=whole_days)


@pytest.mark.covers("UI-11")
@pytest.mark.parametrize("key", LENGTHS)
def test_a_length_ends_now(key: str) -> None:
    found = asked(key)
    assert (found.key, found.until, found.until - found.since) == (key, NOW, LENGTHS[key])


@pytest.mark.covers("UI-11")
def test_today_begins_at_the_company_s_midnight_and_days_are_company_days() -> None:
    assert asked(TODAY).since == datetime(2026, 3, 30, tzinfo=BERLIN)
    week = asked("7d", whole_days=True)
    assert (week.first, week.last) == (date(2026, 3, 24), date(2026, 3, 30))
    assert asked("1h", whole_days=True).key == "7d", "no day is an hour long"


@pytest.mark.covers("UI-11")
def test_a_span_holds_its_last_day_whole_and_instants_as_they_are() -> None:
    days = asked("2026-03-28/2026-03-29")
    assert (days.first, days.last, days.words) == (
        date(2026, 3, 28), date(2026, 3, 29), "28 Mar to 29 Mar",
    )  # fmt: skip
    assert days.until.astimezone(UTC) - days.since.astimezone(UTC) == timedelta(hours=47)
    assert asked("2026-03-29").words == "29 Mar"
    exact = asked("2026-03-28T10:00:00Z/2026-03-28T11:30:00Z")
    assert exact.until - exact.since == timedelta(minutes=90)
    assert exact.words == "28 Mar 11:00 to 28 Mar 12:30"


@pytest.mark.covers("UI-11")
@pytest.mark.parametrize(
    "text",
    ["", "soon", "8d", "90d", "2026-13-45", "2026-03-02/2026-03-01", "/", "2026-03-01/",
     "2026-03-28T10:00:00/2026-03-28T11:00:00", "9999-12-31"],
)  # fmt: skip
def test_what_a_screen_does_not_take_is_its_default(text: str) -> None:
    assert asked(text, takes=("1d", "7d")).key == "7d"
