"""A seat's diary as people read it: no tool of an agent takes another seat's handle."""

from __future__ import annotations

from django.db.models import Q

from agents.models.memory import DiaryEntry
from agents.queries.rows import Row
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.cursors import read_cursor, write_cursor
from crewlet.kernel.errors import Forbidden, NotFound
from crewlet.kernel.nearest import nearest
from orgs import epochs

MAX_PAGE = 100


def notes(actor: Actor, handle: str, *, cursor: str = "", limit: int = 50) -> Row:
    """Returns a page of a seat's living notes, newest first: `notes`, `next_cursor`, `total`.

    Asks for `state:read` and refuses an agent another seat's diary. Raises `NotFound` with the
    nearest handles for an unknown address.
    """
    require(actor, Grant.STATE_READ)
    snapshot = epochs.active()
    seat_id = snapshot.seat_ids.get(handle)
    if seat_id is None:
        near = nearest(handle, snapshot.chart.seats)
        raise NotFound(
            f"Nobody here has the handle '{handle}'." + (f" Did you mean {near}?" if near else ""),
            field="handle",
        )
    if actor.is_agent and actor.seat_id != seat_id:
        raise Forbidden("A diary is private: an agent reads its own alone.")
    living = DiaryEntry.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=clock.now()), seat_id=seat_id
    )
    total, chosen = living.count(), living
    if cursor:
        at, ident = read_cursor(cursor)
        chosen = living.filter(Q(at__lt=at) | Q(at=at, id__lt=ident))
    limit = max(1, min(limit, MAX_PAGE))
    found = list(chosen.order_by("-at", "-id")[: limit + 1])
    page = found[:limit]
    more = len(found) > limit
    return {
        "notes": [_note(note) for note in page],
        "next_cursor": write_cursor(page[-1].at, page[-1].id) if more else None,
        "total": total,
    }


def _note(note: DiaryEntry) -> Row:
    return {
        "id": str(note.id),
        "kind": note.kind,
        "content": note.content,
        "at": note.at,
        "expires_at": note.expires_at,
        "turn_id": note.turn_id and str(note.turn_id),
    }
