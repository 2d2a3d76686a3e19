"""What other apps put into the frame: rows, panels, palette sources, sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from zoneinfo import ZoneInfo

from crewlet.kernel.actors import Actor
from crewlet.kernel.registry import Registry

Figure = tuple[str, str, bool]
"""What stands at the end of a row: the figure, its name in words, whether it is filled."""


@dataclass(frozen=True, slots=True)
class NavRow:
    """One row of the sidebar. `figure` answers None while nothing is known: absent, never 0."""

    label: str
    icon: str
    url: str
    order: int
    figure: Callable[[Actor], Figure | None] | None = None
    topics: str = ""


@dataclass(frozen=True, slots=True)
class SidebarGroup:
    """A named group under the rows; each of its rows is {chip, label, url, figure, words}."""

    title: str
    order: int
    rows: Callable[[Actor], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class HomePanel:
    """A panel of Home: a template over what `context` answers, fetched again on its topics."""

    template: str
    context: Callable[[Actor], Mapping[str, Any]]
    order: int
    topics: str
    column: Literal["main", "side"] = "main"


@dataclass(frozen=True, slots=True)
class PaletteRow:
    """One answer of the palette."""

    label: str
    url: str
    icon: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PaletteSource:
    """Where the palette finds things. `prefix` is the key that narrows to this scope."""

    title: str
    order: int
    find: Callable[[Actor, str], list[PaletteRow]]
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """A section of Settings."""

    title: str
    order: int
    template: str
    context: Callable[[Actor], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Company:
    """What the frame says about the company; `rehearsal` puts its banner over every page."""

    name: str
    zone: ZoneInfo
    rehearsal: bool = False


HomeLine = Callable[[Actor], str]
Health = Callable[[Actor], Mapping[str, Any]]

NAV: Registry[NavRow] = Registry("navigation rows")
GROUPS: Registry[SidebarGroup] = Registry("sidebar groups")
HOME_LINES: Registry[HomeLine] = Registry("sentences of Home")
HOME_PANELS: Registry[HomePanel] = Registry("home panels")
PALETTE_SOURCES: Registry[PaletteSource] = Registry("palette sources")
SETTINGS_SECTIONS: Registry[SettingsSection] = Registry("settings sections")
COMPANY: Registry[Callable[[], Company | None]] = Registry("the company's face")
HEALTH: Registry[Health] = Registry("the health card")
