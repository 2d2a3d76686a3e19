"""An ended turn's mail is put back: the same letters, so the same unit of work.

The letters keep their event ids, so the new turn has the old one's work key: a write that the old
one had landed is answered from its operation row and does not land again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from agents.mail.letters import ReplyKind
from agents.mail.post import Mail, WorkRef, post


@dataclass(frozen=True, slots=True)
class Worked:
    """What a turn answered, and what it owed."""

    turn_id: UUID
    seat_id: UUID
    constituents: list[dict[str, Any]]
    batch_key: str
    conversation: str
    reply_kind: ReplyKind
    reply_surface: str
    work_item: dict[str, Any] | None
    depth: int
    chain: tuple[str, ...]
    parent_turn: UUID | None
    agent_caused: bool
    trace: str


_FORGET: Final = "DELETE FROM agents_completion WHERE seat_id = %s AND event_id = ANY(%s)"


def put_back(worked: Worked) -> int:
    """Posts the letters of an ended turn once more in the caller's transaction; returns how many.

    Letters that wait already are not doubled.
    """
    events = [UUID(item["event_id"]) for item in worked.constituents]
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, (worked.seat_id, events))
    return sum(post(worked.seat_id, _letter(worked, item)) for item in worked.constituents)


def _letter(worked: Worked, item: dict[str, Any]) -> Mail:
    charged = worked.work_item
    return Mail(
        event_id=UUID(item["event_id"]),
        kind=item["kind"],
        source=item["source"],
        batch_key=worked.batch_key,
        conversation=worked.conversation,
        ts=datetime.fromisoformat(item["ts"]),
        payload=item["payload"],
        reply_kind=worked.reply_kind,
        reply_surface=worked.reply_surface,
        work_item=WorkRef(
            charged["backend"], charged["id"], charged["key"], charged["project"], charged["basis"]
        )
        if charged and charged.get("id")
        else None,
        depth=worked.depth,
        chain=worked.chain,
        parent_turn=worked.parent_turn,
        agent_caused=worked.agent_caused,
        trace=worked.trace,
    )
