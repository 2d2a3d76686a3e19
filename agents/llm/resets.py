"""When a vendor that names no header says in words that its limit ends (PEER-11)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crewlet.kernel import clock

UNKNOWN_RESET = 1800.0
"""Seconds to wait where a quota is spent and nobody says until when."""
NOON, HOURS = 12, 24

_CLOCK = re.compile(
    r"resets?(?: at)? (\d{1,2})(?::(\d{2}))? ?(am|pm)?(?: ?\(([A-Za-z_+\-/0-9]+)\))?", re.IGNORECASE
)
_PART = (
    r"(\d+(?:\.\d+)?) ?"
    r"(ms|milliseconds?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:econds?|ecs?)?|d(?:ays?)?)(?![a-z])"
)
_IN = re.compile(
    r"(?:try again|retry|resets?|available(?: again)?|wait)(?: (?:in|after|for))? "
    rf"((?:{_PART}[ ,]*)+)",
    re.IGNORECASE,
)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_MOMENT = re.compile(
    r"resets?(?: at)?:? (\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)"
    r" ?(Z|UTC|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"quota|usage limit|spend(?:ing)? limit", re.IGNORECASE)


def stated_wait(said: str) -> float | None:
    """Returns the seconds that the words ask to wait, None if they name no quota and no clock."""
    waiting = _moment(said)
    if waiting is None:
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


def _moment(said: str) -> float | None:
    match = _MOMENT.search(said)
    if match is None:
        return None
    zone = match[2] if match[2] and match[2].upper() not in ("Z", "UTC") else "+00:00"
    try:
        moment = datetime.fromisoformat(f"{match[1]}{zone}")
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - clock.now().timestamp())


def _span(said: str) -> float | None:
    match = _IN.search(said)
    if match is None:
        return None
    parts = re.findall(_PART, match[1], re.IGNORECASE)
    return sum(float(number) * _unit(unit.lower()) for number, unit in parts)


def _unit(word: str) -> float:
    """Returns the seconds of a unit of time, however short it is written."""
    if word == "ms" or word.startswith("milli"):
        return 0.001
    return _SECONDS[word[0]]
