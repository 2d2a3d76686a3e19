"""Every seat as it is now, in a fixed number of statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.db import connection

from agents.live import fold
from agents.models.seats import Node, SeatHold
from agents.queries import rows
from agents.queries.rows import Row
from crewlet.kernel import clock, drain
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import CrewletError, NotFound
from crewlet.kernel.registry import Registry
from crewlet.ops import alarms
from crewlet.ops.checks import Severity
from orgs import epochs

WAITS: Registry[Callable[[], Mapping[UUID, Row]]] = Registry("what waits on people")
"""What of each seat waits on a person: seat id → {who, title, key, since, count}."""

OPEN_WORK: Registry[Callable[[], Mapping[str, int]]] = Registry("open work of seats")
"""How many open items each seat is assigned: handle → count."""

_LAST = """
SELECT s.id, t.id, t.ended_at, t.outcome, t.work_item_key, t.error_kind,
    coalesce(t.constituents -> -1 -> 'payload' -> 'item' ->> 'title', t.trigger ->> 'summary', '')
FROM orgs_seat s
CROSS JOIN LATERAL (
    SELECT * FROM agents_turn WHERE seat_id = s.id AND stage = 'done'
    ORDER BY started_at DESC LIMIT 1
) t
WHERE s.removed_at IS NULL
"""

_PLACED = """
SELECT l.seat_id, n.id IS NOT NULL AND n.ended_at IS NULL AND n.expires_at > clock_timestamp()
FROM agents_seatlease l LEFT JOIN agents_node n ON n.id = l.owner_id
"""

_SEATS = """
SELECT s.id, s.handle, s.name, s.kind, coalesce(u.name, ''), coalesce(u.key, '')
FROM orgs_seat s LEFT JOIN orgs_unit u ON u.id = s.unit_id
WHERE s.removed_at IS NULL ORDER BY s.position, s.handle
"""


def seat_rows(actor: Actor) -> list[Row]:
    """Returns a row for every seat; all keys are always there, absent is null."""
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(_SEATS)
        seats = cursor.fetchall()
        cursor.execute(_LAST)
        last = {row[0]: _last(row) for row in cursor.fetchall()}
        cursor.execute(_PLACED)
        placed = dict(cursor.fetchall())
    open_turns = {
        row["seat"]["handle"]: row
        for row in rows.select(
            "t.stage <> 'done'", (), "ORDER BY t.stage = 'parked' DESC, t.started_at"
        )
    }
    names = {handle: name for _, handle, name, *_ in seats}
    holds: dict[UUID, dict[str, Row]] = {}
    for hold in SeatHold.objects.all():
        holds.setdefault(hold.seat_id, {})[hold.reason] = {
            "by": hold.by,
            "name": names.get(hold.by, hold.by),
            "at": hold.at,
            "reason": hold.note,
            "stop_running": hold.stop_running,
        }
    waits: dict[UUID, Row] = {}
    for source in WAITS.values():
        for seat_id, wait in source().items():
            waits[seat_id] = _both(waits.get(seat_id), wait)
    found = []
    for seat_id, handle, name, kind, unit, unit_key in seats:
        facts = fold.Facts(
            kind=kind,
            turn=open_turns.get(handle),
            last=last.get(seat_id),
            waits=waits.get(seat_id),
            holds=holds.get(seat_id, {}),
            placed=placed.get(seat_id) if placed else None,
        )
        found.append(_row(facts, handle, name, unit, unit_key) | fold.face(facts, now))
    return found


def _both(one: Row | None, other: Row) -> Row:
    """Returns what waits of two sources: the older one is named, both are counted."""
    if one is None:
        return other
    older = min(one, other, key=lambda wait: wait["since"])
    return {**older, "count": one["count"] + other["count"]}


def _last(row: tuple[Any, ...]) -> Row:
    _, turn_id, ended_at, outcome, key, error_kind, title = row
    return {
        "turn_id": str(turn_id),
        "ended_at": ended_at,
        "outcome": outcome,
        "work_item": key or None,
        "error_kind": error_kind or None,
        "title": title,
    }


def _row(facts: fold.Facts, handle: str, name: str, unit: str, unit_key: str) -> Row:
    word, reason = fold.activity(facts)
    turn, last = facts.turn, facts.last
    paused = facts.holds.get("seat_paused")
    return {
        "handle": handle,
        "name": name,
        "role": unit or ("Founder" if facts.kind == "human" else "Company"),
        "unit": unit_key or None,
        "kind": facts.kind,
        "url": f"/agents/seats/{handle}",
        "activity": word,
        "stopped_reason": reason,
        "turn": turn
        and {
            "turn_id": turn["id"],
            "work_item": turn["work_item"],
            "work_item_basis": turn["work_item_basis"],
            "title": turn["title"],
            "started_at": turn["started_at"],
            "stage": turn["stage"],
            "node": turn["node"],
        },
        "last_turn": last
        and {k: last[k] for k in ("turn_id", "ended_at", "outcome", "work_item", "title")},
        "last_error": last["error_kind"] if last else None,
        "paused": paused,
        "current_phase": turn["phase"] or None if turn else None,
        "round": turn["round"] if turn else None,
        "max_rounds": turn["max_rounds"] if turn else None,
        "iteration": turn["iteration"] if turn else None,
    }


def seat_row(actor: Actor, handle: str) -> Row:
    """Returns one seat's row; raises `NotFound` for an address that nobody has."""
    for row in seat_rows(actor):
        if row["handle"] == handle:
            return row
    raise NotFound(f"Nobody here has the handle '{handle}'.", field="handle")


def health_card(actor: Actor) -> Row:
    """Returns the one line that says how the engine does."""
    if drain.is_draining():
        return _card("need", "Stopping", "Running turns finish; new work waits.")
    epoch = epochs.current()
    if epoch is None:
        return _card("need", "No company yet", "Create one or import a company file.")
    nodes = Node.objects.filter(ended_at=None, expires_at__gt=clock.now())
    live = nodes.count()
    if not live:
        return _card("stop", "No worker", "Mail waits until a worker starts.", f"config {epoch}")
    versions = sorted(set(nodes.values_list("version", flat=True)))
    if len(versions) > 1:
        return _card(
            "need", "Workers differ", f"Versions {' and '.join(versions)} run side by side."
        )
    return _serving(f"{live} worker{'s' if live != 1 else ''}, config {epoch}")


def _serving(detail: str) -> Row:
    """Returns the card of an engine that works; it is healthy once somebody looked for alarms and
    saw none.
    """
    found = alarms.standing()
    if not found.known:
        return _card("ok", "Serving", detail, "Alarms not evaluated yet")
    if not found.alarms:
        return _card("ok", "Healthy", detail)
    oldest, count = found.alarms[0], len(found.alarms)
    since = oldest.since.astimezone(epochs.active().timezone)
    lead = "1 alarm:" if count == 1 else f"{count} alarms, the oldest"
    note = f"{lead} {oldest.title.lower()} since {since:%H:%M}"
    state = "stop" if found.worst is Severity.CRITICAL else "need"
    return _card(state, "Serving", detail, note)


def _card(state: str, title: str, detail: str, note: str = "") -> Row:
    return {"state": state, "title": title, "detail": detail, "note": note}


def agents_part(actor: Actor) -> Row:
    """Returns the seats as a socket's first frame carries them."""
    try:
        return {"rows": seat_rows(actor)}
    except CrewletError as error:
        return {"rows": [], "error": error.message}
