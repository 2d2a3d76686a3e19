"""What the tracker puts into the frame."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from crewlet.console.registries import (
    GROUPS,
    HOME_LINES,
    HOME_PANELS,
    NAV,
    PALETTE_SOURCES,
    HomePanel,
    NavRow,
    PaletteRow,
    PaletteSource,
    SidebarGroup,
)
from crewlet.console.words import said
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import CrewletError
from tracker.queries import pages as queries
from tracker.views.peeks import register_peeks

LEAST_LETTERS = 2


def register_panels() -> None:
    """Registers every panel of the tracker; `tracker.registrations` calls it."""
    NAV.register("me", NavRow("My work", "list-checks", "/me", 25))
    NAV.register("work", NavRow("Work", "kanban", "/work", 30))
    GROUPS.register("projects", SidebarGroup("Projects", 10, project_rows))
    HOME_LINES.register("work", open_line)
    HOME_PANELS.register(
        "projects", HomePanel("tracker/_home_projects.html", project_panel, 30, "work", "side")
    )
    register_peeks()
    PALETTE_SOURCES.register("items", PaletteSource("Items", 30, find, "#"))


def project_rows(actor: Actor) -> list[dict[str, Any]]:
    """Returns the projects with how many of their items are open."""
    return [
        {
            "chip": row["key"],
            "label": row["name"],
            "url": f"/work/{row['key']}",
            "figure": row["open"],
            "words": "open",
        }
        for row in queries.projects(actor)
        if not row["left"]
    ]


def project_panel(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the projects with how far their items are."""
    rows = []
    for row in queries.projects(actor):
        counts = row["counts"]
        finished = counts["done"] + counts["closed"]
        whole = finished + row["open"]
        rows.append(
            {**row, "finished": finished, "whole": whole, "pct": finished / (whole or 1) * 100}
        )
    return {"projects": rows}


def open_line(actor: Actor) -> str:
    """Returns how many items are open."""
    count = sum(row["open"] for row in queries.projects(actor))
    if not count:
        return ""
    return f"{said(count, 'item is', 'items are')} open."


def find(actor: Actor, text: str) -> list[PaletteRow]:
    """Returns items by key or a piece of their title, from two letters on."""
    if len(text) < LEAST_LETTERS:
        return []
    try:
        rows = queries.find_items(actor, text)
    except CrewletError:
        return []
    return [
        PaletteRow(f"{row['key']} {row['title']}", row["url"], "kanban", row["status_name"])
        for row in rows
    ]
