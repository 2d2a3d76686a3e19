"""What the runtime puts into the frame."""

from __future__ import annotations

from typing import Any

from agents.live import pages as queries
from agents.live.snapshot import health_card, seat_rows
from agents.views.chart import activity_of, legend, sentence
from agents.views.faces import turn_face
from agents.views.news import news
from crewlet.console.registries import (
    HEALTH,
    HOME_LINES,
    HOME_PANELS,
    NAV,
    PALETTE_SOURCES,
    Figure,
    HomePanel,
    NavRow,
    PaletteRow,
    PaletteSource,
)
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Unavailable
from orgs import epochs

FEED_READ, FEED_ROWS = 120, 20


def register_panels() -> None:
    """Registers every panel of the runtime; `agents.registrations` calls it."""
    NAV.register("agents", NavRow("Agents", "waypoints", "/agents", 40, working_figure))
    NAV.register("live", NavRow("Live", "activity", "/live", 50))
    HEALTH.register("agents", health_card)
    HOME_LINES.register("agents", agents_line)
    HOME_PANELS.register("now", HomePanel("agents/_home_now.html", now, 20, "agents live"))
    HOME_PANELS.register("day", HomePanel("agents/_home_day.html", day, 25, "live agents", "side"))
    HOME_PANELS.register("feed", HomePanel("agents/_home_feed.html", feed, 40, "work agents home"))
    PALETTE_SOURCES.register("agents", PaletteSource("Agents", 20, find_seats, "@"))


def working_figure(actor: Actor) -> Figure | None:
    """Returns how many agents work now; nothing when none does."""
    count = len(queries.running_turns(actor))
    return (str(count), f"{count} working", False) if count else None


def agents_line(actor: Actor) -> str:
    """Returns what the agents do now, in words."""
    try:
        return sentence(legend(seat_rows(actor)))
    except Unavailable:
        return "No company is set up yet."


def now(actor: Actor) -> dict[str, Any]:
    """Returns the turns that run or are parked."""
    running = [turn_face(row) for row in queries.running_turns(actor)]
    return {"running": running, "parked": [turn_face(row) for row in queries.parked_turns(actor)]}


def feed(actor: Actor) -> dict[str, Any]:
    """Returns the newest events that a person wants; turns without work are folded."""
    events = queries.feed(actor, limit=FEED_READ)["events"]
    return {"lines": news(events, FEED_ROWS)}


def day(actor: Actor) -> dict[str, Any]:
    """Returns the ended turns of the last 24 hours and the tokens of the week."""
    hours = queries.turn_hours(actor)
    return {
        "hours": [(row["completed"], row["sent_back"], row["failed"]) for row in hours],
        "completed": sum(row["completed"] for row in hours),
        "sent_back": sum(row["sent_back"] for row in hours),
        "failed": sum(row["failed"] for row in hours),
        "skipped": sum(row["skipped"] for row in hours),
        "week": queries.tokens_week(actor),
    }


def find_seats(actor: Actor, text: str) -> list[PaletteRow]:
    """Returns seats whose handle, name or unit contains the text."""
    try:
        chart = epochs.active().chart
    except Unavailable:
        return []
    states = {row["handle"]: row for row in seat_rows(actor)}
    wanted = text.lower()
    rows = []
    for seat in chart.walk():
        unit = chart.units[seat.unit].name if seat.unit else ""
        if wanted in f"{seat.handle} {seat.name} {unit}".lower():
            row = states.get(seat.handle)
            note = unit if row is None or activity_of(row) == "person" else row["word"]
            icon = "activity" if seat.is_agent else "user-round"
            rows.append(PaletteRow(seat.name, f"/agents/seats/{seat.handle}", icon, note))
    return rows
