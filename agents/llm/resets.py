"""When a vendor that names no header says in words that its limit ends (PEER-11)."""

from __future__ import annotations

import re
from datetime import timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crewlet.kernel import clock

UNKNOWN_RESET = 1800.0
"""Seconds to wait where a quota is spent and nobody says until when."""
NOON, HOURS = 12, 24

_CLOCK = re.compile(
    r"resets?(?: at)? (\d{1,2})(?::(\d{2}))? ?(am|pm)?(?: ?\(([A-Za-z_+\-/0-9]+)\))?", re.IGNORECASE
)
_IN = re.compile(
    r"(?:try again|retry|resets?) (?:in|after) "
    r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+) ?s(?:econds?)?)?(?:(\d+)ms)?",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"quota|usage limit|spend(?:ing)? limit", re.IGNORECASE)


def stated_wait(said: str) -> float | None:
    """Returns the seconds that the words ask to wait, None if they name no quota and no clock."""
    waiting = _clock(said)
    if waiting is None:
        waiting = _span(said)
    if waiting is None and _QUOTA.search(said):
        return UNKNOWN_RESET
    return waiting


def _clock(said: str) -> float | None:
    match = _CLOCK.search(said)
    if match is None or not (match[2] or match[3]):
        return None
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3]:
        hour = hour % NOON + (NOON if match[3].lower() == "pm" else 0)
    if hour >= HOURS:
        return None
    try:
        zone = ZoneInfo(match[4] or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return None
    now = clock.now()
    there = now.astimezone(zone)
    moment = there.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if moment <= there:
        moment += timedelta(days=1)
    return moment.timestamp() - now.timestamp()


def _span(said: str) -> float | None:
    match = _IN.search(said)
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds, millis = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + millis / 1000
