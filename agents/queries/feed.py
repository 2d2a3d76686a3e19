"""What happened, newest first: the event rows as a person reads them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from agents.queries import rows
from agents.queries.rows import Row
from crewlet.kernel.actors import Actor
from crewlet.kernel.cursors import read_cursor, write_cursor
from crewlet.kernel.errors import NotFound
from crewlet.kernel.models import EngineEvent
from crewlet.kernel.refs import url_of

MAX_PAGE = 400
_QUIET = (
    "agent_phase_started", "agent_phase_completed", "notification_skipped", "provider_fallback",
)  # fmt: skip
_COLUMNS = (
    "id", "ts", "type", "category", "actor", "seat_id", "turn_id", "work_key", "trace_id",
    "summary", "failed", "topics",
)  # fmt: skip


def feed(actor: Actor, *, cursor: str = "", limit: int = 30) -> Row:
    """Returns a page of what a person wants to know: `events` and `next`."""
    chosen = EngineEvent.objects.exclude(type__in=_QUIET)
    found, following = _page(chosen, cursor, limit)
    people = rows.authors(event["actor"] for event in found)
    for event in found:
        event["who"] = people.get(event["actor"])
    return {"events": found, "next": following}


def events(
    actor: Actor,
    *,
    category: str = "",
    kind: str = "",
    author: str = "",
    seat: UUID | None = None,
    turn: UUID | None = None,
    trace: str = "",
    failed: bool | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str = "",
    limit: int = 50,
) -> Row:
    """Returns a page of events for programs: `events`, `next_cursor`; payloads are not listed."""
    wanted = Q()
    for field, value in (
        ("category", category),
        ("type", kind),
        ("actor", author),
        ("seat_id", seat),
        ("turn_id", turn),
        ("trace_id", trace),
        ("ts__gte", since),
        ("ts__lt", until),
    ):
        if value:
            wanted &= Q(**{field: value})
    if failed is not None:
        wanted &= Q(failed=failed)
    found, following = _page(EngineEvent.objects.filter(wanted), cursor, limit)
    return {"events": found, "next_cursor": following or None}


def event(actor: Actor, event_id: UUID) -> Row:
    """Returns one event with its payload."""
    found = EngineEvent.objects.filter(id=event_id).values(*_COLUMNS, "payload").first()
    if found is None:
        raise NotFound(f"There is no event '{event_id}'.")
    return _event(found) | {"payload": found["payload"]}


def _page(chosen: QuerySet[EngineEvent], cursor: str, limit: int) -> tuple[list[Row], str]:
    limit = max(1, min(limit, MAX_PAGE))
    if cursor:
        at, ident = read_cursor(cursor)
        chosen = chosen.filter(Q(ts__lt=at) | Q(ts=at, id__lt=ident))
    raw = list(chosen.order_by("-ts", "-id").values(*_COLUMNS)[: limit + 1])
    page = [_event(found) for found in raw[:limit]]
    if len(raw) <= limit:
        return page, ""
    last = page[-1]
    return page, write_cursor(last["at"], last["id"])


def _event(raw: dict[str, Any]) -> Row:
    return {
        "id": str(raw["id"]),
        "at": raw["ts"],
        "type": raw["type"],
        "category": raw["category"],
        "actor": raw["actor"],
        "seat_id": raw["seat_id"] and str(raw["seat_id"]),
        "turn_id": raw["turn_id"] and str(raw["turn_id"]),
        "work_key": raw["work_key"],
        "trace_id": raw["trace_id"],
        "text": raw["summary"],
        "failed": raw["failed"],
        "url": _url(raw),
    }


def _url(raw: dict[str, Any]) -> str:
    for topic in raw["topics"]:
        if topic.startswith("item:"):
            return url_of(topic)
    return f"/live/turns/{raw['turn_id']}" if raw["turn_id"] else ""
