"""The only way in. A letter to an agent seat is a row of the caller's own transaction."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from agents import wake
from agents.mail.letters import Letter, Mail, WorkRef
from crewlet.kernel import live
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.failpoints import failpoint
from crewlet.kernel.ids import new_id
from orgs import notices

__all__ = ["Letter", "Mail", "WorkRef", "post"]

log = logging.getLogger(__name__)

_PERSON_REASON: Final = "colleague"
_SEAT: Final = "SELECT handle, kind, removed_at IS NOT NULL FROM orgs_seat WHERE id = %s"

# A letter whose event was finished with, or lies among the dead letters, is not let in again. The
# check and the insert are one statement; what commits between its snapshot and ours is caught by
# the claim, which asks the completions once more under the seat's lease.
_INSERT: Final = """
INSERT INTO agents_delivery
    (seat_id, event_id, kind, source, lane, batch_key, conversation, event_ts, payload, reply_kind,
     reply_surface, work_item, trace, parent_turn, depth, chain, agent_caused, attempts, last_error,
     created_at)
SELECT %(seat)s, %(event)s, %(kind)s, %(source)s, %(lane)s, %(batch)s, %(conversation)s, %(ts)s,
       %(payload)s, %(reply_kind)s, %(reply_surface)s, %(work_item)s, %(trace)s, %(parent)s,
       %(depth)s, %(chain)s, %(agent_caused)s, 0, '', clock_timestamp()
WHERE NOT EXISTS (
        SELECT 1 FROM agents_completion WHERE seat_id = %(seat)s AND event_id = %(event)s)
  AND NOT EXISTS (
        SELECT 1 FROM agents_deadletter
        WHERE seat_id = %(seat)s AND event_id = %(event)s AND handled_at IS NULL)
ON CONFLICT (seat_id, event_id) DO NOTHING
RETURNING seq
"""


def post(seat_id: UUID, mail: Mail) -> bool:
    """Puts a letter into a seat's mailbox in the caller's transaction and rings after its commit.

    Returns False, and writes no mail, when the seat has this event already (waiting, finished
    with, or dead), when a person holds the seat (they get a notice instead), or when the seat is
    gone (an event says that the letter was skipped). Raises RuntimeError outside a transaction:
    the letter and what caused it are one commit.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("post() belongs into the transaction that causes the letter.")
    with connection.cursor() as cursor:
        cursor.execute(_SEAT, (seat_id,))
        seat = cursor.fetchone()
    if seat is None or seat[2]:
        _skip(seat_id, mail, "no_seat", "The seat was removed; nobody reads this letter.")
        return False
    handle, kind, _ = seat
    if kind != "agent":
        _tell_person(seat_id, mail)
        return False
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, _row(seat_id, mail))
        arrived = cursor.fetchone() is not None
    if arrived:
        live.changed("agents", f"seat:{handle}")
        transaction.on_commit(_posted, robust=True)
        wake.ring(seat_id)
    return arrived


def _posted() -> None:
    failpoint("mail.posted")


def _row(seat_id: UUID, mail: Mail) -> dict[str, Any]:
    return {
        "seat": seat_id,
        "event": mail.event_id,
        "kind": mail.kind,
        "source": mail.source,
        "lane": mail.lane,
        "batch": mail.batch_key,
        "conversation": mail.conversation,
        "ts": mail.ts,
        "payload": json.dumps(dict(mail.payload), default=str),
        "reply_kind": mail.reply_kind,
        "reply_surface": mail.reply_surface,
        "work_item": json.dumps(mail.work_item.as_json()) if mail.work_item else None,
        "trace": mail.trace or new_id().hex,
        "parent": mail.parent_turn,
        "depth": mail.depth,
        "chain": json.dumps(list(mail.chain)),
        "agent_caused": mail.agent_caused,
    }


def _skip(seat_id: UUID, mail: Mail, reason: str, why: str) -> None:
    log.info("notification_skipped", extra={"seat": str(seat_id), "reason": reason})
    publish(
        EventType.NOTIFICATION_SKIPPED,
        summary=why,
        seat_id=seat_id,
        payload={"event_id": str(mail.event_id), "kind": mail.kind, "reason": reason},
    )


def _tell_person(seat_id: UUID, mail: Mail) -> None:
    sender = mail.payload.get("sender")
    reason = str(mail.payload.get("reason", ""))
    notices.notify(
        seat_id,
        mail.kind,
        reason=reason if reason in notices.REASONS else _PERSON_REASON,
        title=str(mail.payload.get("summary", mail.kind))[:300],
        body=str(mail.payload.get("text", "")),
        ref=f"item:{mail.work_item.key}" if mail.work_item else "",
        event_id=mail.event_id,
        actor=str(sender.get("handle", "")) if isinstance(sender, Mapping) else "",
    )
