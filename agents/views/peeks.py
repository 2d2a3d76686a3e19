"""A seat, a turn and an event as the rail beside a page shows them."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from agents.live import pages as queries
from agents.queries import feed
from agents.views.faces import turn_face
from agents.views.seat import nearest_ceiling
from crewlet.console.registries import PEEKS, Peek
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import NotFound


def register_peeks() -> None:
    """Registers the kinds of object that the runtime lets be read beside a page."""
    PEEKS.register("seat", Peek("agents/_peek_seat.html", seat, "/agents/seats/{}".format))
    PEEKS.register("turn", Peek("agents/_peek_turn.html", turn, "/live/turns/{}".format))
    PEEKS.register("event", Peek("agents/_peek_event.html", event, "/live/events/{}".format))


def seat(actor: Actor, ident: str) -> dict[str, Any]:
    """Returns a seat in short; raises `NotFound` for an address that nobody has."""
    detail = queries.seat_detail(actor, ident)
    return {**detail, "nearest": nearest_ceiling(detail["budget"])}


def turn(actor: Actor, ident: str) -> dict[str, Any]:
    """Returns a turn in short; raises `NotFound` for one that does not exist."""
    detail = queries.turn_detail(actor, ident)
    return {"turn": turn_face(detail), "result": detail["result"]}


def event(actor: Actor, ident: str) -> dict[str, Any]:
    """Returns an event with its payload as text; raises `NotFound` for one that does not exist."""
    try:
        wanted = UUID(ident)
    except ValueError as error:
        raise NotFound(f"There is no event '{ident}'.") from error
    found = feed.event(actor, wanted)
    payload = found["payload"]
    text = json.dumps(payload, indent=2, ensure_ascii=False) if payload else ""
    return {"event": {**found, "payload_text": text}}
