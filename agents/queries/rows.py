"""The rows of turns as lists show them: one statement whatever the number of turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from django.db import connection

from crewlet.kernel import clock
from crewlet.kernel.refs import url_of

Row: TypeAlias = dict[str, Any]

_TURNS = """
SELECT t.id, s.handle, s.name, s.kind, coalesce(u.name, '') AS unit, t.work_item_key,
    t.trigger ->> 'summary' AS summary,
    t.constituents -> -1 -> 'payload' -> 'item' ->> 'title' AS item_title,
    t.stage, t.phase, t.iteration, t.park_reason, t.wake_at, t.outcome, t.decision, t.submitted,
    t.error_kind, t.error, t.started_at, t.ended_at, t.worked_ms, t.tokens_in, t.tokens_out,
    t.calls, t.node, t.attempt, t.work_key, t.work_item ->> 'basis' AS basis,
    t.conversation, p.max_rounds, r.n AS round,
    coalesce(every.rounds, 0) AS rounds, c.name AS call_name, c.status AS call_status,
    coalesce(r.at, p.started_at, t.started_at) AS updated_at
FROM agents_turn t
JOIN orgs_seat s ON s.id = t.seat_id
LEFT JOIN orgs_unit u ON u.id = s.unit_id
LEFT JOIN LATERAL (
    SELECT id, max_rounds, started_at FROM agents_phase
    WHERE turn_id = t.id AND phase = t.phase AND iteration = t.iteration
) p ON true
LEFT JOIN LATERAL (
    SELECT n, started_at AS at, id FROM agents_round
    WHERE phase_id = p.id ORDER BY n DESC LIMIT 1
) r ON true
LEFT JOIN LATERAL (
    SELECT name, status FROM agents_toolcall WHERE round_id = r.id ORDER BY ord DESC LIMIT 1
) c ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS rounds FROM agents_round ar
    JOIN agents_phase ap ON ap.id = ar.phase_id WHERE ap.turn_id = t.id
) every ON true
"""

_COUNT = "SELECT count(*) FROM agents_turn t JOIN orgs_seat s ON s.id = t.seat_id"


def select(where: str, params: Sequence[Any], tail: str) -> list[Row]:
    """Returns turn rows; `where` and `tail` are the caller's own SQL, values come as `params`."""
    with connection.cursor() as cursor:
        cursor.execute(f"{_TURNS} WHERE {where} {tail}", params)
        names = [column[0] for column in cursor.description]
        raw = [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
    return [turn_row(row) for row in raw]


def count(where: str, params: Sequence[Any]) -> int:
    """Returns how many turns `select` would find without a limit."""
    with connection.cursor() as cursor:
        cursor.execute(f"{_COUNT} WHERE {where}", params)
        return int(cursor.fetchone()[0])


def turn_row(raw: Row) -> Row:
    """Returns a turn as a list shows it."""
    key = raw["work_item_key"]
    title = raw["item_title"] or raw["summary"] or ""
    ended = raw["ended_at"]
    return {
        "id": str(raw["id"]),
        "seat": party(raw["handle"], raw["name"], raw["kind"]),
        "role": raw["unit"],
        "title": title,
        "summary": raw["summary"] or "",
        "item": item(key, title) if key else None,
        "work_item": key or None,
        "work_item_basis": raw["basis"] if key else None,
        "work_key": raw["work_key"],
        "conversation": raw["conversation"],
        "attempt": raw["attempt"],
        "stage": raw["stage"],
        "phase": raw["phase"],
        "iteration": raw["iteration"],
        "round": None if raw["round"] is None else raw["round"] + 1,
        "rounds": raw["rounds"],
        "max_rounds": raw["max_rounds"],
        "park_reason": raw["park_reason"],
        "wake_at": raw["wake_at"],
        "outcome": raw["outcome"] or None,
        "decision": raw["decision"],
        "submitted": raw["submitted"],
        "error_kind": raw["error_kind"],
        "error": raw["error"],
        "started_at": raw["started_at"],
        "ended_at": ended,
        "secs": seconds(raw["started_at"], ended or clock.now()),
        "tokens_in": raw["tokens_in"],
        "tokens_out": raw["tokens_out"],
        "calls": raw["calls"],
        "node": raw["node"].partition(":")[0],
        "last_call": raw["call_name"] or "",
        "updated_at": ended or raw["updated_at"],
    }


def party(handle: str, name: str, kind: str) -> Row:
    """Returns who somebody is, with where their page opens."""
    return {"handle": handle, "name": name, "kind": kind, "url": f"/agents/seats/{handle}"}


def item(key: str, title: str) -> Row:
    """Returns an item by key; where it opens is asked of whoever owns items."""
    return {"key": key, "title": title, "url": url_of(f"item:{key}")}


def seconds(start: datetime, end: datetime) -> int:
    """Returns whole seconds between two instants, never below zero."""
    return max(0, int((end - start).total_seconds()))


def authors(names: Iterable[str]) -> dict[str, Row]:
    """Returns the parties behind authors' names: seats by handle, others as they are called."""
    wanted = set(names) - {""}
    found: dict[str, Row] = {}
    if wanted:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT handle, name, kind FROM orgs_seat WHERE handle = ANY(%s)"
                " AND removed_at IS NULL",
                (sorted(wanted),),
            )
            found = {handle: party(handle, name, kind) for handle, name, kind in cursor.fetchall()}
    for name in wanted - set(found):
        kind = "engine" if name.startswith("engine") else "person"
        found[name] = {"handle": name, "name": name, "kind": kind, "url": ""}
    return found
