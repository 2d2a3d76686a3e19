"""The axis over ended turns: which days a list shows, and a column for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.http import QueryDict

from agents.queries import history
from crewlet.console import windows
from crewlet.console.windows import Window
from crewlet.kernel.actors import Actor

HOURLY = ("1h", "6h", "1d")
TAKES = (*HOURLY, windows.TODAY, "7d", "30d", "90d")
SHOWN = "30d"
HOURLY_AT_MOST = timedelta(hours=25)  # the longest day of a company
BANDS = {
    "completed": "Completed",
    "sent_back": "Completed after a send-back",
    "failed": "Failed",
    "skipped": "Nothing to do",
    "stopped": "Stopped",
}


def window_of(given: Mapping[str, str], now: datetime, zone: ZoneInfo) -> tuple[Window, bool]:
    """Returns the window to draw, and whether the address narrows to it: any day is the default."""
    asked = given.get("window", "")
    found = windows.window_of(
        asked, takes=TAKES, default=SHOWN, now=now, zone=zone, whole_days=asked not in HOURLY
    )
    return found, found.key == asked


def choices(window: Window, *, narrowed: bool) -> list[tuple[str, str]]:
    """Returns the spans to choose from, with the one that is chosen."""
    found = [("", "Any day"), *((key, windows.WORDS[key]) for key in TAKES)]
    other = narrowed and window.key not in TAKES
    return [*found, (window.key, window.words)] if other else found


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
        actor, bucket="hour" if _by_hour(window) else "day", since=window.since, until=window.until,
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
    if _by_hour(window):
        return {"label": f"{at:%H:%M}", "values": values}
    narrowed = given.copy()
    narrowed.pop("cursor", None)
    narrowed["window"] = at.date().isoformat()
    return {
        "label": windows.day_words(at.date()),
        "values": values,
        "url": f"?{narrowed.urlencode()}",
    }


def _scope(window: Window, days: int) -> str:
    if _by_hour(window):
        return f"Ended turns by hour, {window.words}"
    return f"Ended turns by day, {days} days to {windows.day_words(window.last)}"


def _by_hour(window: Window) -> bool:
    return window.until - window.since <= HOURLY_AT_MOST
