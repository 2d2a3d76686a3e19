"""What the tracker shows on Home besides projects: items in progress and items completed."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django.http import QueryDict

from agents.views.home import RANGE_WORDS, range_of
from crewlet.console.registries import HOME_PANELS, HomePanel
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from orgs.inbox import company_zone
from tracker.queries import tallies

CHART_DAYS = 14


def register_home() -> None:
    """Registers the tiles and the chart."""
    HOME_PANELS.register(
        "items", HomePanel("tracker/_home_items.html", item_tiles, 20, "work", "tiles")
    )
    HOME_PANELS.register("done", HomePanel("tracker/_home_done.html", done, 26, "work", "side"))


def item_tiles(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the items in progress, and those completed in the range and in the one before."""
    chosen, days = range_of(query)
    active, review = tallies.in_progress()
    counts = _counts(days * 2)
    before, now = sum(counts[:days]), sum(counts[days:])
    return {
        "active": active,
        "review": review,
        "completed": now,
        "before": before,
        "words": RANGE_WORDS[chosen],
    }


def done(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the completed items of the last 14 company days, as columns of a chart."""
    counts = _counts(CHART_DAYS)
    today = _today()
    days = [today - timedelta(days=CHART_DAYS - 1 - n) for n in range(CHART_DAYS)]
    return {
        "columns": [
            {"label": f"{day.day} {day:%b}", "values": [count]}
            for day, count in zip(days, counts, strict=True)
        ],
        "total": sum(counts),
    }


def _today() -> date:
    return clock.now().astimezone(company_zone()).date()


def _counts(days: int) -> list[int]:
    """Returns the completed items of each of the last company days, the oldest first."""
    zone, today = company_zone(), _today()
    first = today - timedelta(days=days - 1)
    found = tallies.finished_by_day(first, today, zone)
    return [found.get(first + timedelta(days=n), 0) for n in range(days)]
