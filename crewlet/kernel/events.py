"""Events come in two kinds: receivers act in the same transaction, publications tell after it.

`announce(fact)` calls the receivers of a fact in their declared order; any of them may refuse by
raising, which rolls the write back. `publish(...)` writes an event row and, after the commit,
hints the live ring; losing the hint loses nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db import connection

from crewlet.kernel import clock, live
from crewlet.kernel.ids import new_id


class EventType(StrEnum):
    """Every fact that is told. The category of each stands in `CATEGORIES`."""

    ORG_STARTED = "org_started"
    ORG_STOPPED = "org_stopped"
    CONFIG_REVISION_ACTIVATED = "config_revision_activated"
    ORG_DANGLING_REFERENCE = "org_dangling_reference"
    IAM_SESSION_STARTED = "iam_session_started"
    IAM_SESSION_ENDED = "iam_session_ended"
    IAM_GRANTS_CHANGED = "iam_grants_changed"
    SEAT_PAUSED = "seat_paused"
    SEAT_RESUMED = "seat_resumed"
    SEAT_CLAIMED = "seat_claimed"
    SEAT_BUDGET_PARKED = "seat_budget_parked"
    SEAT_BUDGET_RELEASED = "seat_budget_released"
    NOTIFICATION_SKIPPED = "notification_skipped"
    NOTIFICATIONS_COALESCED = "notifications_coalesced"
    INBOX_DEAD_LETTERED = "inbox_dead_lettered"
    DEAD_LETTER_REPLAYED = "dead_letter_replayed"
    DEAD_LETTER_DISCARDED = "dead_letter_discarded"
    TURN_TRIGGER_SKIPPED = "turn_trigger_skipped"
    PHASE_TOOL_ACTIVATED = "phase_tool_activated"
    MCP_SERVER_FAILED = "mcp_server_failed"
    AGENT_TURN_STARTED = "agent_turn_started"
    AGENT_PHASE_STARTED = "agent_phase_started"
    AGENT_PHASE_COMPLETED = "agent_phase_completed"
    AGENT_TURN_PARKED = "agent_turn_parked"
    AGENT_TURN_RESUMED = "agent_turn_resumed"
    AGENT_TURN_STEERED = "agent_turn_steered"
    AGENT_WAIT_ANSWERED = "agent_wait_answered"
    AGENT_TURN_STOPPED = "agent_turn_stopped"
    AGENT_TURN_COMPLETED = "agent_turn_completed"
    TURN_GUARD_BREACH = "turn_guard_breach"
    BUDGET_RUNS_LOW = "budget_runs_low"
    BUDGET_EXHAUSTED = "budget_exhausted"
    LLM_UNAVAILABLE = "llm_unavailable"
    PROVIDER_FALLBACK = "provider_fallback"
    A2A_CHANNEL_OPENED = "a2a_channel_opened"
    A2A_MESSAGE_SENT = "a2a_message_sent"
    A2A_CHANNEL_CLOSED = "a2a_channel_closed"
    DIARY_ENTRY_WRITTEN = "diary_entry_written"
    WORK_ITEM_CREATED = "work_item_created"
    WORK_ITEM_UPDATED = "work_item_updated"
    WORK_ITEM_CLOSED = "work_item_closed"
    WORK_ITEM_COMMENTED = "work_item_commented"
    WORK_ITEM_ASKED = "work_item_asked"
    WORK_ITEM_ANSWERED = "work_item_answered"
    WORK_ITEM_WAKES_STOPPED = "work_item_wakes_stopped"
    WORK_ITEM_REMOVED = "work_item_removed"
    WORK_ITEM_RESTORED = "work_item_restored"
    WORK_ITEM_PURGED = "work_item_purged"
    PROJECT_CREATED = "project_created"
    PROJECT_UPDATED = "project_updated"


def _category(kind: EventType) -> str:
    """Returns the closed category of a type; raises for a type that nobody placed."""
    prefixes = {
        "org_": "lifecycle",
        "config_": "system",
        "iam_": "system",
        "seat_": "lifecycle",
        "notification": "notification",
        "inbox_": "notification",
        "dead_letter_": "notification",
        "turn_": "turn",
        "agent_": "turn",
        "phase_": "turn",
        "mcp_": "system",
        "budget_": "turn",
        "llm_": "turn",
        "provider_": "turn",
        "a2a_": "a2a",
        "diary_": "learning",
        "work_item_a": "decision",
        "work_item_": "work",
        "project_": "work",
    }
    for prefix, category in prefixes.items():
        if kind.value.startswith(prefix):
            return category
    raise ValueError(
        f"Event type {kind.value} has no category; place it in crewlet/kernel/events.py."
    )


CATEGORIES = {kind: _category(kind) for kind in EventType}

F = TypeVar("F")
_Receiver = Callable[[Any], None]
_receivers: dict[type, list[tuple[int, str, _Receiver]]] = defaultdict(list)


def receiver(fact: type[F], *, order: int) -> Callable[[Callable[[F], None]], Callable[[F], None]]:
    """Registers a reaction to a fact inside the transaction in which it happens.

    Lower orders run first; ties run by name, so that the order never depends on imports.
    """

    def register(function: Callable[[F], None]) -> Callable[[F], None]:
        name = f"{function.__module__}.{function.__qualname__}"
        entries = _receivers[fact]
        if all(name != known for _, known, _ in entries):
            entries.append((order, name, function))
            entries.sort(key=lambda entry: entry[:2])
        return function

    return register


def announce(fact: object) -> None:
    """Runs the receivers of a fact; the first that raises refuses it and ends the transaction."""
    for _, _, function in _receivers[type(fact)]:
        function(fact)


_INSERT = """
INSERT INTO kernel_engineevent
    (id, ts, type, category, actor, seat_id, turn_id, work_key, trace_id, summary, failed,
     topics, payload)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


def publish(
    kind: EventType,
    *,
    summary: str,
    actor: str = "",
    seat_id: UUID | None = None,
    turn_id: UUID | None = None,
    work_key: str = "",
    trace_id: str = "",
    failed: bool = False,
    payload: dict[str, Any] | None = None,
    topics: Iterable[str] = (),
) -> UUID:
    """Writes an event row in the caller's transaction and tells the live ring after its commit.

    `topics` names what changed (`item:ENG-4`, `agents`); listeners of those topics fetch again.
    Returns the event's id.
    """
    event_id, now, names = new_id(), clock.now(), sorted(set(topics))
    summary = summary[:500]
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            (
                event_id, now, kind.value, CATEGORIES[kind], actor, seat_id, turn_id, work_key,
                trace_id, summary, failed, json.dumps(names),
                json.dumps(payload or {}, default=str),
            ),
        )  # fmt: skip
    live.push(
        "event",
        {
            "id": str(event_id),
            "ts": now.isoformat(),
            "type": kind.value,
            "category": CATEGORIES[kind],
            "actor": actor,
            "seat_id": str(seat_id) if seat_id else None,
            "turn_id": str(turn_id) if turn_id else None,
            "summary": summary,
            "failed": failed,
        },
        topics=names,
    )
    return event_id


KEPT: Final = timedelta(days=30)
_FORGET = """
DELETE FROM kernel_engineevent WHERE id IN (
    SELECT id FROM kernel_engineevent WHERE ts < %s ORDER BY ts LIMIT 5000)
"""


def forget_old(now: datetime) -> int:
    """Deletes events older than 30 days, 5,000 at most, and returns how many there were."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, (now - KEPT,))
        return int(cursor.rowcount)
