"""Asks between agent seats, newest first: who asked whom, what came of it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from agents.models.colleagues import A2AChannel, A2AMessage
from agents.queries.rows import Row, item, party, seconds
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.cursors import read_cursor, write_cursor

STATES = ("open", "answered", "expired")
MAX_PAGE = 100


def asks(
    actor: Actor, *, state: str = "", seat: str = "", cursor: str = "", limit: int = 50
) -> Row:
    """Returns a page of asks: `asks`, `next_cursor` (null at the end) and `total`.

    `seat` is the handle of either side. `secs` is how long the ask waited: up to its end, else up
    to now.
    """
    chosen = A2AChannel.objects.all()
    if state:
        chosen = chosen.filter(state=state)
    if seat:
        chosen = chosen.filter(Q(requester__handle=seat) | Q(target__handle=seat))
    total = chosen.count()
    if cursor:
        at, ident = read_cursor(cursor)
        chosen = chosen.filter(Q(opened_at__lt=at) | Q(opened_at=at, id__lt=ident))
    limit = max(1, min(limit, MAX_PAGE))
    found = list(_told(chosen)[: limit + 1])
    page = found[:limit]
    more = len(found) > limit
    now = clock.now()
    return {
        "asks": [_row(each, now) for each in page],
        "next_cursor": write_cursor(page[-1].opened_at, page[-1].id) if more else None,
        "total": total,
    }


def _told(chosen: QuerySet[A2AChannel]) -> QuerySet[A2AChannel]:
    said = A2AMessage.objects.filter(channel=OuterRef("id"))
    return (
        chosen.select_related("requester", "target")
        .annotate(
            brief=Subquery(said.filter(kind="ask").values("body")[:1]),
            answer=Subquery(said.filter(kind="answer").values("body")[:1]),
        )
        .order_by("-opened_at", "-id")
    )


def _row(channel: A2AChannel, now: datetime) -> Row:
    asker, target = channel.requester, channel.target
    key = (channel.work_item or {}).get("key", "")
    return {
        "id": str(channel.id),
        "state": channel.state,
        "from": party(asker.handle, asker.name, asker.kind),
        "to": party(target.handle, target.name, target.kind),
        "brief": channel.brief or "",  # type: ignore[attr-defined]
        "answer": channel.answer,  # type: ignore[attr-defined]
        "item": item(key, "") if key else None,
        "asking_turn": _name(channel.request_turn),
        "answering_turn": _name(channel.target_turn),
        "opened_at": channel.opened_at,
        "closed_at": channel.closed_at,
        "secs": seconds(channel.opened_at, channel.closed_at or now),
    }


def _name(turn: UUID | None) -> str | None:
    return str(turn) if turn else None
