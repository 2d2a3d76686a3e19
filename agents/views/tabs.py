"""The sections of Agents and of Live, and the tabs of a seat. Pure."""

from __future__ import annotations

from typing import Any

AGENTS = (("chart", "Chart", "/agents"), ("roster", "Roster", "/agents/roster"),
          ("teams", "Teams", "/agents/teams"))  # fmt: skip
LIVE = (("live", "Now", "/live"), ("turns", "Turns", "/live/turns"),
        ("runs", "Runs", "/live/runs"), ("a2a", "Asks", "/live/a2a"),
        ("events", "Events", "/live/events"))  # fmt: skip
SEAT = {"agent": ("overview", "work", "turns", "memory", "settings"),
        "human": ("overview", "work", "settings")}  # fmt: skip


def agents_tabs(here: str) -> list[dict[str, Any]]:
    """Returns the sections of Agents."""
    return _tabs(AGENTS, here)


def live_tabs(here: str) -> list[dict[str, Any]]:
    """Returns the sections of Live."""
    return _tabs(LIVE, here)


def seat_tab(kind: str, asked: str) -> str:
    """Returns the tab that an address asks for; the overview for one that the seat lacks."""
    return asked if asked in SEAT[kind] else "overview"


def seat_tabs(handle: str, kind: str, here: str) -> list[dict[str, Any]]:
    """Returns the tabs of a seat: a person has no turns."""
    path = f"/agents/seats/{handle}"
    return _tabs(
        [
            (key, key.capitalize(), path if key == "overview" else f"{path}?tab={key}")
            for key in SEAT[kind]
        ],
        here,
    )


def _tabs(entries: Any, here: str) -> list[dict[str, Any]]:
    return [
        {"label": label, "url": url, "here": key == here, "count": None}
        for key, label, url in entries
    ]
