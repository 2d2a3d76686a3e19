"""What the organization puts into the frame: the company's face, the Inbox, the decisions."""

from __future__ import annotations

from typing import Any

from crewlet.console.registries import (
    COMPANY,
    HOME_LINES,
    HOME_PANELS,
    NAV,
    SETTINGS_SECTIONS,
    Company,
    Figure,
    HomePanel,
    NavRow,
    SettingsSection,
)
from crewlet.console.words import said
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import CrewletError, Unavailable
from orgs import epochs
from orgs.inbox import badge, inbox_page

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
    SETTINGS_SECTIONS.register(
        "company", SettingsSection("Company", 10, "orgs/_settings_company.html", company_facts)
    )


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
    count = len(decisions(actor)["rows"])
    if not count:
        return ""
    return f"{said(count, 'decision waits', 'decisions wait')} for you."


def decisions(actor: Actor) -> dict[str, Any]:
    """Returns the waiting rows of the reader's inbox, oldest first."""
    try:
        found = inbox_page(actor)
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


def company_facts(actor: Actor) -> dict[str, Any]:
    """Returns what Settings says about the company."""
    snapshot = epochs.active()
    document = snapshot.document
    return {
        "snapshot": snapshot,
        "document": document,
        "seats": len(snapshot.chart.seats),
        "units": len(snapshot.chart.units),
        "providers": [
            {"key": key, "type": str(model.type), "model": model.model}
            for key, model in document.providers.llm.items()
        ],
    }
