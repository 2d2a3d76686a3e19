"""What the organization puts into the frame: the company's face, the Inbox, the decisions."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from crewlet.console.readings import once
from crewlet.console.registries import (
    COMPANY,
    GROUPS,
    HOME_LINES,
    HOME_PANELS,
    NAV,
    OBJECT_PAGES,
    PREFERENCES,
    SETTINGS_SECTIONS,
    STARS,
    Company,
    Figure,
    HomePanel,
    NavRow,
    ObjectPage,
    SettingsSection,
    SidebarGroup,
)
from crewlet.console.words import said
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import CrewletError, Unavailable
from orgs import epochs
from orgs.inbox import badge, inbox_page
from orgs.queries.preferences import preferences_of, starred_rows, stars_of
from orgs.views.settings_audit import audited
from orgs.views.settings_config import config
from orgs.views.settings_general import general
from orgs.views.settings_people import people
from orgs.views.settings_preferences import preferences

SHOWN_DECISIONS = 3
REHEARSAL = "rehearsal"


def register_panels() -> None:
    """Registers every panel of the organization; `orgs.registrations` calls it."""
    COMPANY.register("orgs", company)
    NAV.register("inbox", NavRow("Inbox", "inbox", "/inbox", 20, inbox_figure))
    HOME_LINES.register("inbox", waiting_line)
    HOME_PANELS.register(
        "decisions", HomePanel("orgs/_home_decisions.html", decisions, 10, "inbox work")
    )
    PREFERENCES.register("orgs", preferences_of)
    STARS.register("orgs", stars_of)
    OBJECT_PAGES.register("settings-revision", ObjectPage("revision", "revision_id"))
    GROUPS.register("starred", SidebarGroup("Starred", 30, starred_rows))
    for key, section in _sections().items():
        SETTINGS_SECTIONS.register(key, section)


def _sections() -> dict[str, SettingsSection]:
    return {
        "general": SettingsSection(
            "General", 10, "orgs/_settings_general.html", general, icon="flag",
            grant=Grant.STATE_READ, topics="org",
        ),
        "people": SettingsSection(
            "People and access", 20, "orgs/_settings_people.html", people, icon="users",
            grant=Grant.PEOPLE_MANAGE,
        ),
        "config": SettingsSection(
            "Configuration", 70, "orgs/_settings_config.html", config, group="Engine",
            icon="history", grant=Grant.CONFIG_READ, topics="org",
        ),
        "audit": SettingsSection(
            "Audit", 80, "orgs/_settings_audit.html", audited, group="Engine", icon="shield",
            grant=Grant.AUDIT_READ,
        ),
        "preferences": SettingsSection(
            "Preferences", 90, "orgs/_settings_preferences.html", preferences, group="You",
            icon="user-round",
        ),
    }  # fmt: skip


def company() -> Company | None:
    """Returns the name and clock of the active company, and whether a script plays its agents."""
    try:
        snapshot = epochs.active()
    except Unavailable:
        return None
    models = snapshot.document.providers.llm.values()
    return Company(
        name=str(snapshot.document.name),
        zone=snapshot.timezone,
        rehearsal=any(str(model.type) == REHEARSAL for model in models),
    )


def inbox_figure(actor: Actor) -> Figure | None:
    """Returns the count that waits unread; nothing when nothing does or nobody can say."""
    try:
        count = badge(actor)
    except CrewletError:
        return None
    if not count:
        return None
    shown = "50+" if count > 50 else str(count)  # noqa: PLR2004  # a page of the inbox
    return shown, f"{shown} waiting", True


def waiting_line(actor: Actor) -> str:
    """Returns how many decisions wait on the reader."""
    count = len(_waiting(actor)["rows"])
    if not count:
        return ""
    return f"{said(count, 'decision waits', 'decisions wait')} for you."


def decisions(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the waiting rows of the reader's inbox, oldest first."""
    return _waiting(actor)


def _waiting(actor: Actor) -> dict[str, Any]:
    try:
        found = once("inbox", lambda: inbox_page(actor))
    except CrewletError as error:
        return {"rows": [], "shown": [], "snooze": [], "hint": error.message}
    rows = found["decisions"]
    return {
        "rows": rows,
        "shown": rows[:SHOWN_DECISIONS],
        "more": len(rows) - SHOWN_DECISIONS,
        "snooze": found["snooze"],
        "hint": found["hint"],
    }
