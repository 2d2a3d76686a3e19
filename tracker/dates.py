"""Due dates as people and models write them. Pure: the present day is an argument.

A day is kept as noon UTC with the mark `all_day`, so that it stays the same day in every zone; an
instant is kept as it is.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from crewlet.kernel.errors import Invalid

FORMS = (
    "a day (2026-03-31), an instant with its zone (2026-03-31T17:00Z), today, tomorrow, eow, eom "
    "or +7d"
)
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_RELATIVE = re.compile(r"\+(\d{1,4})([dw])")


@dataclass(frozen=True, slots=True)
class Due:
    """When something is due: an instant, or noon UTC of a whole day."""

    at: datetime
    all_day: bool


def whole_day(day: date) -> Due:
    """Returns a day as it is stored."""
    return Due(datetime.combine(day, time(12), tzinfo=UTC), all_day=True)


def day_of(at: datetime, *, all_day: bool, zone: ZoneInfo) -> date:
    """Returns the company's day on which something is due."""
    return at.astimezone(UTC).date() if all_day else at.astimezone(zone).date()


def read_due(text: str, *, field: str, now: datetime, zone: ZoneInfo) -> Due:
    """Returns what a due date means on the company's calendar.

    Raises `Invalid`, naming the argument and the forms that are understood.
    """
    word = text.strip().casefold()
    day = _named_day(word, now.astimezone(zone).date())
    if day is not None:
        return whole_day(day)
    try:
        if _ISO_DAY.fullmatch(word):
            return whole_day(date.fromisoformat(word))
        at = datetime.fromisoformat(text.strip())
        at = at if at.tzinfo else at.replace(tzinfo=zone)
        return Due(at.astimezone(UTC), all_day=False)
    except (ValueError, OverflowError):
        message = f"{field}: {text!r} is not a date. Write {FORMS}."
        raise Invalid(message, field=field) from None


def _named_day(word: str, today: date) -> date | None:
    if word == "today":
        return today
    if word == "tomorrow":
        return today + timedelta(days=1)
    if word == "eow":
        return today + timedelta(days=6 - today.weekday())
    if word == "eom":
        return today.replace(day=monthrange(today.year, today.month)[1])
    relative = _RELATIVE.fullmatch(word)
    if relative is None:
        return None
    amount = int(relative[1])
    return today + timedelta(days=amount * (7 if relative[2] == "w" else 1))


def shown(at: datetime | None, *, all_day: bool, zone: ZoneInfo) -> str | None:
    """Returns a due date as it is written back: the day, or the instant in the company's zone."""
    if at is None:
        return None
    if all_day:
        return at.astimezone(UTC).date().isoformat()
    return at.astimezone(zone).isoformat(timespec="minutes")
