"""Conversation sessions: what a seat's earlier turns of the same talk were about and came to.

An entry is written in the commit that settles its turn and keyed on the unit of work, so a re-run
leaves one. What the reviewer noted stays inside its turn. Text that reached nobody is `unsent`,
never `reply`: the next turn must not take it for something that was said.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol, TypedDict
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import DatabaseError, connection

from crewlet.kernel.ids import new_id
from orgs import epochs
from orgs.document.engine import ConversationSession

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

log = logging.getLogger(__name__)

BLOCK_BYTES: Final = 24_000
TITLE: Final = "## Earlier in this conversation"
SHORT_CHARS: Final = 300
_UNIQUE_PREFIX: Final = "event:"
"""Such a conversation is one event: no later turn can belong to it."""


class Entry(TypedDict, total=False):
    """What one unit of work leaves behind. Of `reply` and `unsent` it has one at most."""

    trigger: str
    calls: list[str]
    reply: str
    unsent: str
    completed_work: str
    blocked_on: str
    decision: str


class Cursor(Protocol):
    """The part of a database cursor that is used here."""

    def execute(self, sql: str, params: Any = None) -> Any: ...


def settings_of(snapshot: Snapshot) -> ConversationSession:
    """Returns what the company says about sessions, with the defaults where it says nothing."""
    engine = snapshot.document.turn_engine
    return (engine and engine.conversation_session) or ConversationSession()


def keeps(snapshot: Snapshot, conversation: str) -> bool:
    """Returns whether turns of a conversation are remembered."""
    lasting = bool(conversation) and not conversation.startswith(_UNIQUE_PREFIX)
    return lasting and settings_of(snapshot).enabled


_INSERT = """
INSERT INTO agents_conversationentry (id, seat_id, conversation, work_key, turn_id, entry, at)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (seat_id, conversation, work_key) DO UPDATE
    SET turn_id = excluded.turn_id, entry = excluded.entry, at = excluded.at
"""


def record(
    cursor: Cursor, *, seat_id: UUID, conversation: str, work_key: str, turn_id: UUID,
    entry: Entry, now: datetime,
) -> None:  # fmt: skip
    """Keeps an entry in the caller's transaction; of a re-run the newer one counts."""
    body = json.dumps({key: value for key, value in entry.items() if value})
    cursor.execute(_INSERT, (new_id(), seat_id, conversation, work_key, turn_id, body, now))


_NEWEST = """
SELECT at, entry FROM agents_conversationentry
WHERE seat_id = %s AND conversation = %s AND work_key <> %s AND at > %s
ORDER BY at DESC, id DESC LIMIT %s
"""


def earlier(seat_id: UUID, conversation: str, work_key: str, now: datetime) -> str:
    """Returns the block that a conversation's next turn opens with; empty when there is none.

    The switch is the one of the company of now. A read that fails costs the block, not the turn.
    """
    try:
        company = epochs.active()
        if not keeps(company, conversation):
            return ""
        kept = settings_of(company)
        since = now - timedelta(days=kept.retention_days)
        with connection.cursor() as cursor:
            cursor.execute(_NEWEST, (seat_id, conversation, work_key, since, kept.max_entries))
            rows = cursor.fetchall()
    except DatabaseError:
        log.exception("conversation_unreadable", extra={"conversation": conversation})
        return ""
    read = [(at, json.loads(e) if isinstance(e, str) else e) for at, e in reversed(rows)]
    return block(read, company.timezone)


def block(entries: Sequence[tuple[datetime, Mapping[str, Any]]], zone: ZoneInfo) -> str:
    """Renders entries, oldest first, into at most 24,000 bytes.

    The newest stands whole, whatever its size. Others are condensed where they do not fit, and then
    left out whole and counted, the oldest first.
    """
    if not entries:
        return ""
    *older, newest = entries
    parts = [_entry(*newest, zone, short=False)]
    room = BLOCK_BYTES - len(TITLE) - _size(parts[0]) - 80
    left_out = 0
    for index, (at, entry) in enumerate(reversed(older)):
        text = _entry(at, entry, zone, short=False)
        if _size(text) > room:
            text = _entry(at, entry, zone, short=True)
        if _size(text) > room:
            left_out = len(older) - index
            break
        room -= _size(text)
        parts.append(text)
    if left_out:
        times = "1 earlier exchange is" if left_out == 1 else f"{left_out} earlier exchanges are"
        parts.append(f"_({times} left out.)_")
    return "\n\n".join([TITLE, *reversed(parts)])


def _size(text: str) -> int:
    return len(text.encode()) + 2


def _entry(at: datetime, entry: Mapping[str, Any], zone: ZoneInfo, *, short: bool) -> str:
    def said(key: str) -> str:
        text = str(entry.get(key, "")).strip()
        if not short or len(text) <= SHORT_CHARS:
            return text
        return f"{text[:SHORT_CHARS]}… (+{len(text) - SHORT_CHARS} more characters)"

    calls = [str(line) for line in entry.get("calls", [])]
    labelled = (
        ("Asked", said("trigger")),
        ("Done", f"{len(calls)} calls" if short and calls else "\n" + "\n".join(calls)),
        ("You answered", said("reply")),
        ("You wrote, and it reached nobody", said("unsent")),
        ("Finished", said("completed_work")),
        ("Waiting for", said("blocked_on")),
        ("It ended as", said("decision")),
    )
    lines = [f"**{label}:** {text}" for label, text in labelled if text.strip()]
    return "\n".join([f"### {at.astimezone(zone):%d %b %H:%M}", *lines])


_SWEEP = """
DELETE FROM agents_conversationentry WHERE id IN (
    SELECT id FROM (
        SELECT id, at, row_number() OVER (
            PARTITION BY seat_id, conversation ORDER BY at DESC, id DESC) AS place
        FROM agents_conversationentry) ranked
    WHERE at < %s OR place > %s LIMIT 5000)
"""


def sweep(now: datetime) -> int:
    """Deletes entries that are too old or too many for their conversation; returns how many."""
    if epochs.current() is None:
        return 0
    kept = settings_of(epochs.active())
    with connection.cursor() as cursor:
        cursor.execute(_SWEEP, (now - timedelta(days=kept.retention_days), kept.max_entries))
        return int(cursor.rowcount)
