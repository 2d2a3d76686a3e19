"""Turns and events as references: `turn:<id>`, `event:<id>`."""

from __future__ import annotations

from uuid import UUID

from agents.models.turns import Turn
from crewlet.kernel.models import EngineEvent


def turn_label(ident: str) -> str:
    """Returns `Kofi Mensah on ENG-4`; the id for a turn that is not there."""
    if not turn_exists(ident):
        return ident
    name, key = Turn.objects.values_list("seat__name", "work_item_key").get(id=ident)
    return f"{name} on {key}" if key else f"A turn of {name}"


def turn_url(ident: str) -> str:
    """Returns where a turn opens; nowhere for what cannot be one."""
    return f"/live/turns/{ident}" if _uuid(ident) else ""


def turn_exists(ident: str) -> bool:
    """Returns whether there is a turn of this id."""
    wanted = _uuid(ident)
    return wanted is not None and Turn.objects.filter(id=wanted).exists()


def event_label(ident: str) -> str:
    """Returns what an event says; its id for one that is not kept any more."""
    if not event_exists(ident):
        return ident
    return EngineEvent.objects.values_list("summary", flat=True).get(id=ident) or ident


def event_url(ident: str) -> str:
    """Returns where an event opens; nowhere for one that is not kept any more."""
    return f"/live/events/{ident}" if event_exists(ident) else ""


def event_exists(ident: str) -> bool:
    """Returns whether an event of this id is kept."""
    wanted = _uuid(ident)
    return wanted is not None and EngineEvent.objects.filter(id=wanted).exists()


def _uuid(ident: str) -> UUID | None:
    try:
        return UUID(ident)
    except ValueError:
        return None
