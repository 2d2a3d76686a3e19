"""A trace: what one cause set off, through every letter, turn and event."""

from __future__ import annotations

from agents.queries import feed, rows
from agents.queries.rows import Row
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import NotFound
from crewlet.kernel.models import EngineEvent


def trace(actor: Actor, trace_id: str) -> Row:
    """Returns a trace's turns and events, oldest first, and its span.

    Of a long trace the newest events are shown, as many as a page holds; `complete` says whether
    that is all of it and `total` how many there are. Raises `NotFound` for one that left no event.
    """
    page = feed.events(actor, trace=trace_id, limit=feed.MAX_PAGE) if trace_id else None
    if page is None or not page["events"]:
        raise NotFound(f"There is no trace '{trace_id}'. Its events may have been swept.")
    told = page["events"][::-1]
    every = EngineEvent.objects.filter(trace_id=trace_id)
    turn_ids = list(
        every.exclude(turn_id=None).order_by("turn_id").values_list("turn_id", flat=True).distinct()
    )
    began = every.order_by("ts").values_list("ts", flat=True)[0]
    return {
        "id": trace_id,
        "turns": rows.select("t.id = ANY(%s)", (turn_ids,), "ORDER BY t.started_at"),
        "events": told,
        "began": began,
        "ended": told[-1]["at"],
        "secs": rows.seconds(began, told[-1]["at"]),
        "total": every.count(),
        "complete": page["next_cursor"] is None,
    }
