"""Windows on the company's clock: midnights that are skipped, doubled, or an hour early."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.budgets.windows import (
    BudgetState,
    WindowKind,
    last_of,
    midnight,
    refused_by,
    state_of,
    window_at,
    windows_at,
)

ZONES = ["UTC", "Europe/Lisbon", "America/New_York", "Africa/Cairo", "Asia/Kathmandu",
         "Australia/Lord_Howe", "America/Havana", "America/Sao_Paulo", "Pacific/Apia"]  # fmt: skip


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.covers("UI-70")
@pytest.mark.parametrize(
    ("zone", "now", "starts", "ends"),
    [
        ("UTC", "2026-03-10T12:00", date(2026, 3, 10), "2026-03-11T00:00"),
        # 8 March has 23 hours in New York, 1 November has 25.
        ("America/New_York", "2026-03-08T12:00", date(2026, 3, 8), "2026-03-09T04:00"),
        ("America/New_York", "2026-11-01T12:00", date(2026, 11, 1), "2026-11-02T05:00"),
        # In Cairo midnight itself is skipped: 24 April begins at 01:00 local.
        ("Africa/Cairo", "2026-04-23T12:00", date(2026, 4, 23), "2026-04-23T22:00"),
        # In Havana midnight strikes twice: the day begins at the first.
        ("America/Havana", "2026-10-31T12:00", date(2026, 10, 31), "2026-11-01T04:00"),
        # Just before and at a local midnight.
        ("Europe/Lisbon", "2026-07-01T22:59:59", date(2026, 7, 1), "2026-07-01T23:00"),
        ("Europe/Lisbon", "2026-07-01T23:00", date(2026, 7, 2), "2026-07-02T23:00"),
    ],
)
def test_a_day_ends_at_the_company_midnight(zone: str, now: str, starts: date, ends: str) -> None:
    window = window_at(WindowKind.DAY, at(now), ZoneInfo(zone))
    assert (window.starts_on, window.ends_at) == (starts, at(ends))


@pytest.mark.covers("TURN-82", "UI-70")
def test_a_week_starts_on_monday_and_a_month_on_the_first() -> None:
    tz = ZoneInfo("Europe/Lisbon")
    week = window_at(WindowKind.WEEK, at("2027-01-03T12:00"), tz)  # a Sunday, ISO week 53
    assert (week.starts_on, week.ends_at) == (date(2026, 12, 28), at("2027-01-04T00:00"))
    month = window_at(WindowKind.MONTH, at("2026-12-31T23:59"), tz)
    assert (month.starts_on, month.ends_at) == (date(2026, 12, 1), at("2027-01-01T00:00"))
    leap = window_at(WindowKind.MONTH, at("2028-02-29T12:00"), tz)
    assert leap.ends_at == at("2028-03-01T00:00")


@given(
    st.integers(0, 15 * 365 * 86_400).map(
        lambda seconds: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    ),
    st.sampled_from(ZONES),
)
def test_every_instant_lies_in_its_windows_and_windows_touch(now: datetime, zone: str) -> None:
    tz = ZoneInfo(zone)
    for window in windows_at(now, tz):
        assert midnight(window.starts_on, tz) <= now < window.ends_at
        following = window_at(window.kind, window.ends_at, tz)
        assert midnight(following.starts_on, tz) == window.ends_at
        before = window_at(window.kind, window.ends_at - timedelta(microseconds=1), tz)
        assert before == window


@pytest.mark.covers("UI-72")
@pytest.mark.parametrize(
    ("used", "limit", "state"),
    [
        (10**9, None, BudgetState.OK),
        (0, 100, BudgetState.OK),
        (89, 100, BudgetState.OK),
        (90, 100, BudgetState.NEAR),
        (99, 100, BudgetState.NEAR),
        (100, 100, BudgetState.REFUSING),
        (101, 100, BudgetState.REFUSING),
    ],
)
def test_the_state_of_a_window_is_one_word(
    used: int, limit: int | None, state: BudgetState
) -> None:
    assert state_of(used, limit) is state


def test_reaching_a_ceiling_is_allowed_passing_it_is_not_and_then_nothing_fits() -> None:
    windows = windows_at(at("2026-03-10T12:00"), ZoneInfo("UTC"))
    limits = {("company", WindowKind.DAY): 100}
    used = {("company", "day"): 100}
    assert refused_by(used, limits, windows, who="", over=True) == []
    assert len(refused_by(used, limits, windows, who="", over=False)) == 1
    assert len(refused_by({("company", "day"): 101}, limits, windows, who="", over=True)) == 1


def test_of_several_refusals_the_one_that_lasts_longest_counts_and_the_company_comes_first() -> (
    None
):
    windows = windows_at(at("2026-03-10T12:00"), ZoneInfo("UTC"))
    limits = {("seat:x", WindowKind.MONTH): 1, ("seat:x", WindowKind.DAY): 1,
              ("company", WindowKind.DAY): 1}  # fmt: skip
    used = {("seat:x", "day"): 5, ("seat:x", "month"): 5, ("company", "day"): 5}
    found = refused_by(used, limits, windows, who="baker", over=False)
    assert [(r.scope, r.kind.value) for r in found] == [
        ("company", "day"), ("seat:x", "day"), ("seat:x", "month"),
    ]  # fmt: skip
    last = last_of(found)
    assert last is not None
    assert last.kind is WindowKind.MONTH
    assert "baker has used 5 of 1 tokens for this month" in last.message
    assert "2026-04-01T00:00" in last.message
