"""What other apps put into the frame: rows, panels, palette sources, sections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

from django.http import QueryDict

from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
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
    context: Callable[[Actor, QueryDict], Mapping[str, Any]]
    order: int
    topics: str
    column: Literal["tiles", "main", "side"] = "main"


@dataclass(frozen=True, slots=True)
class PaletteRow:
    """One answer of the palette: a place, or an act.

    An `act` names a `data-do` of the page, a `verb` an action that is sent with its `fields` while
    the palette stays open. `press` takes the row whatever is marked. A row with a `reason` is
    drawn, but does nothing.
    """

    label: str
    url: str
    icon: str
    note: str = ""
    act: str = ""
    reason: str = ""
    keys: str = ""
    verb: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    press: str = ""


@dataclass(frozen=True, slots=True)
class PaletteAnswer:
    """What a source found, in which mode it really looked, and what is to be said of it."""

    rows: list[PaletteRow]
    mode: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class PaletteSource:
    """Where the palette finds things. `prefix` is the key that narrows to this scope."""

    title: str
    order: int
    find: Callable[[Actor, str], list[PaletteRow] | PaletteAnswer]
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class PaletteAct:
    """What can be done from the palette, in the scope `>`: rows that act or lead to a form.

    `rows` is told what was typed, and the reference of the object that the reader looks at.
    """

    title: str
    order: int
    rows: Callable[[Actor, str, str], list[PaletteRow]]


@dataclass(frozen=True, slots=True)
class Peek:
    """A kind of object that is read in the rail beside a page.

    `context` raises `NotFound` for what is not there; `url` is the object's own page.
    """

    template: str
    context: Callable[[Actor, str], Mapping[str, Any]]
    url: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """A page about one object, by the name of its address: the reader can star what it shows.

    `part` is what the address calls the object's id, `spelled` how the id is written.
    """

    kind: str
    part: str
    spelled: Callable[[Any], str] = str


SettingsGroup = Literal["Company", "Connect", "Engine", "You"]
SETTINGS_GROUPS: tuple[SettingsGroup, ...] = get_args(SettingsGroup)


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """A section of Settings, a page of its own at `/settings/<key>`.

    Without `grant` the reader sees one sentence instead, and `context` is never asked. A section
    with `topics` is drawn again when one of them changes.
    """

    title: str
    order: int
    template: str
    context: Callable[[Actor, QueryDict], Mapping[str, Any]]
    group: SettingsGroup = "Company"
    icon: str = "settings"
    grant: Grant | None = None
    topics: str = ""


@dataclass(frozen=True, slots=True)
class Company:
    """What the frame says about the company; `rehearsal` puts its banner over every page."""

    name: str
    zone: ZoneInfo
    rehearsal: bool = False


HomeLine = Callable[[Actor], str]
Stars = Callable[[Actor], Collection[str]]
Preferences = Callable[[Actor], Mapping[str, Any]]
Health = Callable[[Actor], Mapping[str, Any]]

NAV: Registry[NavRow] = Registry("navigation rows")
GROUPS: Registry[SidebarGroup] = Registry("sidebar groups")
HOME_LINES: Registry[HomeLine] = Registry("sentences of Home")
HOME_PANELS: Registry[HomePanel] = Registry("home panels")
PALETTE_SOURCES: Registry[PaletteSource] = Registry("palette sources")
PALETTE_ACTS: Registry[PaletteAct] = Registry("palette acts")
PEEKS: Registry[Peek] = Registry("peeks")
OBJECT_PAGES: Registry[ObjectPage] = Registry("pages of one object")
STARS: Registry[Stars] = Registry("stars of a reader")
PREFERENCES: Registry[Preferences] = Registry("preferences of a reader")
SETTINGS_SECTIONS: Registry[SettingsSection] = Registry("settings sections")
COMPANY: Registry[Callable[[], Company | None]] = Registry("the company's face")
HEALTH: Registry[Health] = Registry("the health card")
