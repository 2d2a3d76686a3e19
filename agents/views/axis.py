"""The axis over ended turns: which days a list shows, and a column for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils.dateparse import parse_date

from agents.api.asked import bad
from agents.queries import history
from crewlet.kernel.actors import Actor

SPANS = {"7d": 7, "30d": 30, "90d": 90}
SHOWN_DAYS = 30
BANDS = {
    "completed": "Completed",
    "sent_back": "Completed after a send-back",
    "failed": "Failed",
    "skipped": "Nothing to do",
    "stopped": "Stopped",
}


@dataclass(frozen=True, slots=True)
class Window:
    """A span of company days; an empty key narrows nothing and draws the newest days."""

    key: str
    since: datetime
    until: datetime
    zone: ZoneInfo

    @property
    def is_day(self) -> bool:
        """Whether it is one day, drawn by the hour."""
        return self.key not in ("", *SPANS)


def window_of(given: Mapping[str, str], now: datetime, zone: ZoneInfo) -> Window:
    """Returns what `window=` asks for: `7d`, `30d`, `90d` or a company day."""
    key = given.get("window", "")
    today = now.astimezone(zone).date()
    if key in ("", *SPANS):
        first = today - timedelta(days=SPANS.get(key, SHOWN_DAYS) - 1)
        return Window(key, _midnight(first, zone), now, zone)
    day = day_of(key)
    if day is None:
        raise bad("window", f"window takes {', '.join(SPANS)} or a day such as 2026-03-01.")
    return Window(key, _midnight(day, zone), _midnight(day + timedelta(days=1), zone), zone)


def choices(window: Window) -> list[tuple[str, str]]:
    """Returns the spans to choose from, with the day that is chosen."""
    found = [("", "Any day"), *((key, f"Last {days} days") for key, days in SPANS.items())]
    return [*found, (window.key, _words(window.since))] if window.is_day else found


def drawn(
    actor: Actor,
    given: QueryDict,
    window: Window,
    *,
    seat: str,
    outcome: str,
    failed: bool | None,
) -> dict[str, Any]:
    """Returns the chart of a window: every bucket, each day with the address that narrows to it."""
    counted = history.turns_series(
        actor, bucket="hour" if window.is_day else "day", since=window.since, until=window.until,
        zone=window.zone, seat=seat, outcome=outcome, failed=failed,
    )  # fmt: skip
    return {
        "bands": list(BANDS.values()),
        "columns": [_column(row, given, window) for row in counted],
        "scope": _scope(window, len(counted)),
    }


def _column(row: Mapping[str, Any], given: QueryDict, window: Window) -> dict[str, Any]:
    at = row["at"].astimezone(window.zone)
    values = [row[name] for name in BANDS]
    if window.is_day:
        return {"label": f"{at:%H:%M}", "values": values}
    narrowed = given.copy()
    narrowed.pop("cursor", None)
    narrowed["window"] = at.date().isoformat()
    return {"label": _words(at), "values": values, "url": f"?{narrowed.urlencode()}"}


def _scope(window: Window, days: int) -> str:
    if window.is_day:
        return f"Ended turns by hour, {_words(window.since)}"
    return f"Ended turns by day, {days} days to {_words(window.until.astimezone(window.zone))}"


def _words(day: datetime) -> str:
    return f"{day.day} {day:%b}"


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), tzinfo=zone)


def day_of(text: str) -> date | None:
    """Returns a day such as 2026-03-01, None for anything else."""
    try:
        return parse_date(text)
    except ValueError:
        return None
