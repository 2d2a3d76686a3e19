"""What the runtime puts into the frame."""

from __future__ import annotations

from agents.live import pages as queries
from agents.live.snapshot import health_card, seat_rows
from agents.views.chart import activity_of, legend, sentence
from agents.views.home import register_home
from crewlet.console.readings import once
from crewlet.console.registries import (
    HEALTH,
    HOME_LINES,
    NAV,
    OBJECT_PAGES,
    PALETTE_SOURCES,
    Figure,
    NavRow,
    ObjectPage,
    PaletteRow,
    PaletteSource,
)
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Unavailable
from orgs import epochs


def register_panels() -> None:
    """Registers every panel of the runtime; `agents.registrations` calls it."""
    NAV.register("agents", NavRow("Agents", "waypoints", "/agents", 40, working_figure))
    NAV.register("live", NavRow("Live", "activity", "/live", 50))
    NAV.register("spend", NavRow("Spend", "gauge", "/spend", 70))
    HEALTH.register("agents", health_card)
    HOME_LINES.register("agents", agents_line)
    register_home()
    OBJECT_PAGES.register("seat", ObjectPage("seat", "handle"))
    OBJECT_PAGES.register("team", ObjectPage("unit", "unit"))
    OBJECT_PAGES.register("turn", ObjectPage("turn", "turn_id"))
    OBJECT_PAGES.register("live-event", ObjectPage("event", "event_id"))
    PALETTE_SOURCES.register("agents", PaletteSource("Agents", 20, find_seats, "@"))


def working_figure(actor: Actor) -> Figure | None:
    """Returns how many agents work now; nothing when none does."""
    count = len(queries.running_turns(actor))
    return (str(count), f"{count} working", False) if count else None


def agents_line(actor: Actor) -> str:
    """Returns what the agents do now, in words."""
    return sentence(legend(once("seats", lambda: seat_rows(actor))))


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
