"""The frame's own rows."""

from __future__ import annotations

from crewlet.console.registries import NAV, PALETTE_SOURCES, NavRow, PaletteRow, PaletteSource
from crewlet.kernel.actors import Actor


def register() -> None:
    """Registers Home, Settings and the palette's scope of pages."""
    NAV.register("home", NavRow("Home", "home", "/", 10))
    NAV.register("settings", NavRow("Settings", "settings", "/settings", 90))
    PALETTE_SOURCES.register("go", PaletteSource("Go to", 10, pages, ">"))


def pages(actor: Actor, text: str) -> list[PaletteRow]:
    """Returns the sidebar's rows, and the kit, whose name contains the text."""
    rows = [PaletteRow(row.label, row.url, row.icon) for row in NAV.values()]
    rows.append(PaletteRow("New item", "/work/new", "square-pen", "C"))
    rows.append(PaletteRow("Kit of parts", "/kit", "sliders-horizontal"))
    return [row for row in rows if text.lower() in row.label.lower()]
