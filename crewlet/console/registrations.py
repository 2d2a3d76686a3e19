"""The frame's own rows."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from crewlet.console.registries import (
    NAV,
    PALETTE_ACTS,
    PALETTE_SOURCES,
    SETTINGS_SECTIONS,
    NavRow,
    PaletteAct,
    PaletteRow,
    PaletteSource,
    SettingsSection,
)
from crewlet.kernel.actors import Actor


def register() -> None:
    """Registers Home, Settings, the palette's scope of pages and the reader's own section."""
    NAV.register("home", NavRow("Home", "home", "/", 10))
    NAV.register("settings", NavRow("Settings", "settings", "/settings", 90))
    PALETTE_SOURCES.register("go", PaletteSource("Go to", 10, pages, ">"))
    PALETTE_ACTS.register("frame", PaletteAct("Do", 10, acts))
    SETTINGS_SECTIONS.register(
        "you",
        SettingsSection(
            "You and this browser", 10, "console/_settings_you.html", you, "You", "user-round"
        ),
    )


def you(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns what the reader may do; who they are stands in the frame."""
    return {"grants": sorted(grant.value for grant in actor.grants)}


def pages(actor: Actor, text: str) -> list[PaletteRow]:
    """Returns the sidebar's rows, and the kit, whose name contains the text."""
    rows = [PaletteRow(row.label, row.url, row.icon) for row in NAV.values()]
    rows.append(PaletteRow("Kit of parts", "/kit", "sliders-horizontal"))
    return [row for row in rows if text.lower() in row.label.lower()]


def acts(actor: Actor, text: str, ref: str) -> list[PaletteRow]:
    """Returns what the frame itself can do."""
    rows = [
        PaletteRow("New item", "/work/new", "square-pen", keys="C"),
        PaletteRow("Copy the link to this page", "", "link", act="copy-link"),
        PaletteRow("Show all keys", "", "keyboard", act="keys", keys="?"),
        PaletteRow("Light theme", "", "sun", act="theme-light"),
        PaletteRow("Dark theme", "", "moon", act="theme-dark"),
    ]
    return [row for row in rows if text.lower() in row.label.lower()]
