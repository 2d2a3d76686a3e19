"""What every page stands in: company, navigation, health, who is signed in. All of it lazy.

An error page that draws no frame asks the database nothing, so it can say that it is away.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpRequest

from crewlet.console.peek import rail_of
from crewlet.console.regions import attempt
from crewlet.console.registries import (
    COMPANY,
    GROUPS,
    HEALTH,
    NAV,
    PREFERENCES,
    Company,
    Figure,
    NavRow,
)
from crewlet.console.stars import face as star_face
from crewlet.console.stars import ref_of
from crewlet.kernel.actors import Actor

UNKNOWN_HEALTH: dict[str, Any] = {
    "state": "unknown",
    "title": "No health yet",
    "detail": "Waiting for the first report",
    "note": "",
}
NO_COMPANY = Company(name="Crewlet", zone=ZoneInfo("UTC"))
_GLYPHS = {"ok": "ok", "need": "needs", "stop": "stopped"}


class Frame:
    """The frame of one request; each part is read when a template first asks for it."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.actor: Actor | None = getattr(request, "actor", None)

    @cached_property
    def company(self) -> Company:
        """The company, or a nameless one while none is configured."""
        for face in COMPANY.values():
            found = face()
            if found is not None:
                return found
        return NO_COMPANY

    @cached_property
    def preferences(self) -> dict[str, Any]:
        """How the reader likes to read; nothing is known of a stranger."""
        chosen: dict[str, Any] = {}
        if self.actor is not None:
            for read in PREFERENCES.values():
                chosen |= read(self.actor)
        return chosen

    @cached_property
    def zone(self) -> ZoneInfo:
        """The clock of the reader: their own, else the company's."""
        name = self.preferences.get("timezone")
        return ZoneInfo(name) if name else self.company.zone

    @cached_property
    def nav(self) -> list[dict[str, Any]]:
        """The rows of the sidebar in their order, with figures and the current one marked."""
        path = self.request.path
        rows = sorted(NAV.items(), key=lambda entry: entry[1].order)
        here = max((row.url for _, row in rows if _within(path, row.url)), key=len, default="")
        return [
            {
                "key": key,
                "label": row.label,
                "icon": row.icon,
                "url": row.url,
                "here": row.url == here,
                "figure": self._figure(row, key),
            }
            for key, row in rows
        ]

    def _figure(self, row: NavRow, key: str) -> Figure | None:
        """Returns a row's figure; one that cannot be read is absent, like one that is not known."""
        actor, figure = self.actor, row.figure
        if actor is None or figure is None:
            return None
        return attempt(lambda: figure(actor), f"nav:{key}").value

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        """The named groups under the rows; an empty one is not drawn, a failed one says so."""
        actor = self.actor
        if actor is None:
            return []
        filled = []
        for key, group in sorted(GROUPS.items(), key=lambda entry: entry[1].order):
            found = attempt(partial(group.rows, actor), f"sidebar:{key}")
            if found.value or found.code:
                error = {"code": found.code, "message": found.message} if found.code else None
                filled.append(
                    {"key": key, "title": group.title, "rows": found.value or [], "error": error}
                )
        return filled

    @cached_property
    def health(self) -> Mapping[str, Any]:
        """The health card; waiting is not healthy."""
        card = dict(UNKNOWN_HEALTH)
        if self.actor is not None:
            for read in HEALTH.values():
                card |= read(self.actor)
        card["activity"] = _GLYPHS.get(str(card["state"]), "idle")
        return card

    @cached_property
    def peek(self) -> dict[str, Any] | None:
        """The rail that the address asks for."""
        return rail_of(self.request)

    @cached_property
    def ref(self) -> str:
        """The reference of the object that this page is about; empty for every other page."""
        return ref_of(self.request)

    @cached_property
    def star(self) -> dict[str, Any] | None:
        """The star of the page's object."""
        return star_face(self.actor, self.ref) if self.ref and self.actor else None

    @cached_property
    def still(self) -> bool:
        """Whether clocks stand still, for screenshots."""
        return "still" in self.request.GET

    @cached_property
    def topics(self) -> str:
        """What every page listens to, whatever it shows."""
        login = self.actor.login if self.actor else ""
        return f"agents inbox inbox:{login} work health org"


def frame_of(request: HttpRequest) -> Frame:
    """Returns the one frame of a request: whatever draws a part of it reads the same."""
    found: Frame | None = getattr(request, "frame", None)
    if found is None:
        found = request.frame = Frame(request)  # type: ignore[attr-defined]
    return found


def frame(request: HttpRequest) -> dict[str, Any]:
    """Puts `frame` into every template's context."""
    return {"frame": frame_of(request)}


def _within(path: str, url: str) -> bool:
    if url == "/":
        return path in ("/", "/home")
    return path == url or path.startswith(f"{url}/")
