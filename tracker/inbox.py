"""Asks in a person's inbox: they wait there until somebody answers them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from crewlet.kernel.actors import Actor
from orgs.inbox import InboxRow
from orgs.models.seats import SeatKind
from tracker.models.comments import Comment
from tracker.queries.asks import asks, cards, open_asks_to


def waiting_asks(actor: Actor) -> list[InboxRow]:
    """Returns the asks that wait on a person, oldest first."""
    return [
        InboxRow(
            kind="ask",
            ref=f"ask:{card['id']}",
            title=card["question"] or f"{card['who']['name']} asks on {card['item']['key']}",
            summary=f"{card['item']['key']} {card['item']['title']}",
            who=card["who"],
            at=card["at"],
            reason="You are asked",
            url=card["item"]["url"],
            card="tracker/_ask.html",
            context={"ask": card},
        )
        for card in cards(open_asks_to(actor), actor)
    ]


def count_asks(actor: Actor) -> int:
    """Returns how many asks wait on a person."""
    return open_asks_to(actor).count()


def waits_by_seat() -> dict[UUID, dict[str, Any]]:
    """Returns what waits on people, by seat: an agent's oldest open ask to a person (`who` is the
    person), and on a human seat the oldest ask to it (`who` is the asker); `count` has all.
    """
    found = (
        asks()
        .filter(answered_at=None, asked__kind=SeatKind.HUMAN, asked__removed_at=None)
        .order_by("created_at", "id")
    )
    waits: dict[UUID, dict[str, Any]] = {}
    for ask in found:
        if ask.author_seat is not None and ask.author_seat.kind == SeatKind.AGENT:
            _count(waits, ask.author_seat.pk, ask.asked.name if ask.asked else "", ask)
        if ask.asked_id is not None:
            _count(waits, ask.asked_id, ask.author_name, ask)
    return waits


def _count(waits: dict[UUID, dict[str, Any]], seat_id: UUID, who: str, ask: Comment) -> None:
    entry = waits.setdefault(
        seat_id,
        {
            "who": who,
            "title": (ask.decision or {}).get("question") or ask.item.title,
            "key": ask.item.key,
            "since": ask.created_at,
            "count": 0,
        },
    )
    entry["count"] += 1
