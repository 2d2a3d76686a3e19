"""What happened, as Home tells it: no plumbing, and turns without work folded. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agents.views.folds import folded
from crewlet.kernel.events import EventType

Event = Mapping[str, Any]

NOTHING_TO_DO = "had nothing to do"
# Who serves a seat is the health card's matter; what runs stands above, and its end is told once.
HUSHED = {
    EventType.SEAT_CLAIMED,
    EventType.ORG_STARTED,
    EventType.ORG_STOPPED,
    EventType.NOTIFICATIONS_COALESCED,
    EventType.AGENT_TURN_STARTED,
    EventType.AGENT_TURN_STOPPED,
}


def news(events: Iterable[Event], limit: int) -> list[dict[str, Any]]:
    """Returns at most `limit` lines, newest first, as `agents.views.folds.folded` shapes them."""
    told = [
        {**event, "text": event["text"].replace("**", "")}
        for event in events
        if event["type"] not in HUSHED
    ]
    return folded(told, nothing_to_do)[:limit]


def nothing_to_do(event: Event) -> bool:
    """Says whether an event tells of a turn that ended without work."""
    return event["type"] == EventType.AGENT_TURN_COMPLETED and NOTHING_TO_DO in event["text"]
