"""The mailbox as people see it: what waits, what died, and what becomes of the dead."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from agents import wake
from agents.mail.triggers import title_of
from agents.models.mail import DeadLetter, Delivery
from crewlet.kernel.errors import Conflict, NotFound


def of_seat(seat_id: UUID, *, limit: int = 200) -> list[dict[str, Any]]:
    """Returns the letters of a seat in the order in which they came."""
    rows = Delivery.objects.filter(seat_id=seat_id).order_by("event_ts", "seq")[:limit]
    return [
        {
            "event_id": str(row.event_id),
            "at": row.event_ts,
            "kind": row.kind,
            "title": title_of(row.kind),
            "summary": row.payload.get("summary", ""),
            "conversation": row.conversation,
            "attempts": row.attempts,
            "not_before": row.not_before,
            "last_error": row.last_error,
            "turn": str(row.turn_id) if row.turn_id else None,
        }
        for row in rows
    ]


def dead(*, handled: bool = False, limit: int = 200) -> list[dict[str, Any]]:
    """Returns the dead letters, newest first; with `handled` also those somebody dealt with."""
    rows = DeadLetter.objects.select_related("seat").order_by("-at")
    if not handled:
        rows = rows.filter(handled_at=None)
    return [
        {
            "id": str(row.id),
            "seat": row.seat.handle,
            "at": row.at,
            "kind": row.mail.get("kind", ""),
            "summary": row.mail.get("payload", {}).get("summary", ""),
            "attempts": row.attempts,
            "error": row.error,
            "handled": row.handled_how,
            "by": row.handled_by,
        }
        for row in rows[:limit]
    ]


def unread(seat_id: UUID, conversation: str) -> bool:
    """Whether a letter of a conversation waits for a seat and no turn has taken it yet."""
    return Delivery.objects.filter(seat_id=seat_id, conversation=conversation, turn=None).exists()


_HANDLE: Final = """
UPDATE agents_deadletter SET handled_at = %s, handled_by = %s, handled_how = %s
WHERE id = %s AND handled_at IS NULL
RETURNING seat_id, event_id, mail
"""
_PUT_BACK: Final = """
INSERT INTO agents_delivery
    (seat_id, event_id, kind, source, lane, batch_key, conversation, event_ts, payload, reply_kind,
     reply_surface, work_item, trace, parent_turn, depth, chain, agent_caused, attempts, last_error,
     created_at)
SELECT %(seat)s, %(event)s, m.kind, m.source, m.lane, m.batch_key, m.conversation, m.event_ts,
       m.payload, m.reply_kind, m.reply_surface, nullif(m.work_item, 'null'), m.trace,
       m.parent_turn, m.depth, m.chain, m.agent_caused, 0, '', clock_timestamp()
FROM jsonb_to_record(%(mail)s::jsonb) AS m(
    kind text, source text, lane text, batch_key text, conversation text, event_ts timestamptz,
    payload jsonb, reply_kind text, reply_surface text, work_item jsonb, trace text,
    parent_turn uuid, depth int, chain jsonb, agent_caused boolean)
ON CONFLICT (seat_id, event_id) DO NOTHING
"""


def replay(letter_id: UUID, *, by: str, now: datetime) -> UUID:
    """Puts a dead letter back into the mailbox, its attempts at zero, and returns its seat.

    Raises `NotFound` for an unknown letter, `Conflict` for one that was dealt with.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        seat_id, event_id, mail = _handle(letter_id, by=by, how="replayed", now=now)
        stored = mail if isinstance(mail, str) else json.dumps(mail)
        cursor.execute(_PUT_BACK, {"seat": seat_id, "event": event_id, "mail": stored})
        wake.ring(seat_id)
    return seat_id


def discard(letter_id: UUID, *, by: str, now: datetime) -> UUID:
    """Sets a dead letter aside for good and returns its seat; errors as `replay`."""
    with transaction.atomic():
        return _handle(letter_id, by=by, how="discarded", now=now)[0]


def _handle(letter_id: UUID, *, by: str, how: str, now: datetime) -> tuple[UUID, UUID, Any]:
    # The row count decides between two who act on one letter.
    with connection.cursor() as cursor:
        cursor.execute(_HANDLE, (now, by, how, letter_id))
        row = cursor.fetchone()
    if row is not None:
        return row[0], row[1], row[2]
    known = DeadLetter.objects.filter(id=letter_id).first()
    if known is None:
        raise NotFound(f"There is no dead letter {letter_id}; `manage.py mail dead` lists them.")
    raise Conflict(f"{known.handled_by} has already {known.handled_how} this letter.")
