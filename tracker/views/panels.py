"""What the tracker puts into the frame."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from crewlet.console.registries import (
    GROUPS,
    HOME_LINES,
    HOME_PANELS,
    NAV,
    OBJECT_PAGES,
    PALETTE_ACTS,
    PALETTE_SOURCES,
    HomePanel,
    NavRow,
    ObjectPage,
    PaletteAct,
    PaletteSource,
    SidebarGroup,
)
from crewlet.console.words import said
from crewlet.kernel.actors import Actor
from tracker.queries import projects as project_queries
from tracker.views.palette import acts, find
from tracker.views.peeks import register_peeks


def register_panels() -> None:
    """Registers every panel of the tracker; `tracker.registrations` calls it."""
    NAV.register("me", NavRow("My work", "list-checks", "/me", 25))
    NAV.register("work", NavRow("Work", "kanban", "/work", 30))
    GROUPS.register("projects", SidebarGroup("Projects", 10, project_rows))
    HOME_LINES.register("work", open_line)
    HOME_PANELS.register(
        "projects", HomePanel("tracker/_home_projects.html", project_panel, 30, "work", "side")
    )
    OBJECT_PAGES.register("item", ObjectPage("item", "key", str.upper))
    for name in ("project", "project-files", "project-overview", "project-history"):
        OBJECT_PAGES.register(name, ObjectPage("project", "project", str.upper))
    register_peeks()
    PALETTE_SOURCES.register("items", PaletteSource("Items", 30, find, "#"))
    PALETTE_ACTS.register("work", PaletteAct("Work", 20, acts))


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
        for row in project_queries.projects(actor)
        if not row["left"]
    ]


def project_panel(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the projects with how far their items are."""
    rows = []
    for row in project_queries.projects(actor):
        counts = row["counts"]
        finished = counts["done"] + counts["closed"]
        whole = finished + row["open"]
        rows.append(
            {**row, "finished": finished, "whole": whole, "pct": finished / (whole or 1) * 100}
        )
    return {"projects": rows}


def open_line(actor: Actor) -> str:
    """Returns how many items are open."""
    count = sum(row["open"] for row in project_queries.projects(actor))
    if not count:
        return ""
    return f"{said(count, 'item is', 'items are')} open."
