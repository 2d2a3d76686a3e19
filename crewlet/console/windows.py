"""The one grammar of `window=`: which stretch of time a page shows. Pure.

A length of time up to now (`15m` to `90d`), `today` from the company's midnight, `<from>/<to>` of
days or of instants, or one day for short. A screen says which lengths it takes; what it cannot read
is its default, for an address may outlive the screen that wrote it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_date, parse_datetime

TODAY = "today"
_DAYS = {"1d": 1, "7d": 7, "30d": 30, "90d": 90}
LENGTHS = {
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    **{key: timedelta(days=days) for key, days in _DAYS.items()},
}
WORDS = {
    "15m": "Last 15 minutes",
    "1h": "Last hour",
    "6h": "Last 6 hours",
    "1d": "Last 24 hours",
    "7d": "Last 7 days",
    "30d": "Last 30 days",
    "90d": "Last 90 days",
    TODAY: "Today",
}


@dataclass(frozen=True, slots=True)
class Window:
    """From `since` up to but without `until`. `key` is what the address says, `words` what a list
    of choices does; `first` and `last` are its company days.
    """

    key: str
    since: datetime
    until: datetime
    words: str
    zone: ZoneInfo

    @property
    def first(self) -> date:
        """The company day of its beginning."""
        return self.since.astimezone(self.zone).date()

    @property
    def last(self) -> date:
        """The company day of its end."""
        return (self.until - timedelta(microseconds=1)).astimezone(self.zone).date()


def window_of(
    asked: str,
    *,
    takes: Collection[str],
    default: str,
    now: datetime,
    zone: ZoneInfo,
    whole_days: bool = False,
) -> Window:
    """Returns the window that an address asks for, else the default of the screen.

    `takes` are the lengths of the screen; days and spans are always taken. With `whole_days` a
    length of days counts company days, today among them, and a span of instants is not taken.
    """
    for key in (asked, default):
        if "/" in key:
            found = _span(key, zone, whole_days=whole_days)
        elif key in takes:
            found = _length(key, now, zone, whole_days=whole_days)
        else:
            found = _of_days(key, day_of(key), day_of(key), zone)
        if found is not None:
            return found
    raise ValueError(f"The default '{default}' is no window.")


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Returns the first instant of a company day, where its clock may have none at 0:00."""
    return datetime.combine(day, time(), tzinfo=zone)


def day_of(text: str) -> date | None:
    """Returns a day such as 2026-03-01, None for anything else."""
    try:
        return parse_date(text)
    except ValueError:
        return None


def day_words(day: date) -> str:
    """Returns a day as charts and choices write it: `1 Mar`."""
    return f"{day.day} {day:%b}"


def _length(key: str, now: datetime, zone: ZoneInfo, *, whole_days: bool) -> Window | None:
    today = now.astimezone(zone).date()
    if key == TODAY:
        return Window(key, midnight(today, zone), now, WORDS[key], zone)
    if key not in LENGTHS or (whole_days and key not in _DAYS):
        return None
    since = now - LENGTHS[key]
    if whole_days:
        since = midnight(today - timedelta(days=_DAYS[key] - 1), zone)
    return Window(key, since, now, WORDS[key], zone)


def _span(key: str, zone: ZoneInfo, *, whole_days: bool) -> Window | None:
    start, _, end = key.partition("/")
    first, last = day_of(start), day_of(end)
    if first is not None or last is not None or whole_days:
        return _of_days(key, first, last, zone)
    since, until = _instant(start), _instant(end)
    if since is None or until is None or since >= until:
        return None
    words = f"{_moment(since, zone)} to {_moment(until, zone)}"
    return Window(key, since, until, words, zone)


def _of_days(key: str, first: date | None, last: date | None, zone: ZoneInfo) -> Window | None:
    if first is None or last is None or first > last or last == date.max:
        return None
    words = day_words(first) if first == last else f"{day_words(first)} to {day_words(last)}"
    until = midnight(last + timedelta(days=1), zone)
    return Window(key, midnight(first, zone), until, words, zone)


def _instant(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _moment(at: datetime, zone: ZoneInfo) -> str:
    here = at.astimezone(zone)
    return f"{day_words(here.date())} {here:%H:%M}"
