"""Asks between agent seats: one ask, one answer, then the channel is closed.

The answer is carried by the engine when the target's turn is settled, so an ask cannot end in
silence: a failed turn answers with the reason, and a channel that nobody answers is swept.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from agents.mail.post import Mail, WorkRef, post
from agents.mail.triggers import TriggerKind, register
from agents.turn import telling
from agents.turn.limits import limits_of
from agents.turn.record import TurnHead
from agents.turn.rows import as_json
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Invalid
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.ids import new_id
from orgs import epochs
from orgs.epochs import Snapshot

ASK: Final = "a2a_ask"
ANSWER: Final = "a2a_answer"
SOURCE: Final = "a2a"
IDLE: Final = timedelta(hours=1)
KEPT: Final = timedelta(days=7)
LINE: Final = 120

_OPEN = """
INSERT INTO agents_a2achannel
    (id, requester_id, target_id, state, work_item, request_turn, opened_at)
VALUES (%s, %s, %s, 'open', %s, %s, %s)
"""

_MESSAGE = """
INSERT INTO agents_a2amessage (id, channel_id, kind, author_id, body, at)
VALUES (%s, %s, %s, %s, %s, %s)
"""


def register_kinds() -> None:
    """Registers the letters that this module and a turn that ended badly send."""
    for name, title, owed in (
        (ASK, "A colleague asks", ("engine", "")),
        (ANSWER, "A colleague answers", ("none", "")),
        (telling.KIND, "A turn failed", ("none", "")),
        (telling.BLOCKED, "A seat is blocked again", ("none", "")),
    ):
        register(
            TriggerKind(
                name,
                title,
                owes=lambda _payload, owed=owed: owed,  # type: ignore[misc]
                render=lambda payload: str(payload.get("text", "")),
            )
        )


def open_channel(
    actor: Actor, target_id: UUID, target_handle: str, brief: str, company: Snapshot | None = None
) -> UUID:
    """Asks a colleague in the caller's transaction and wakes them; returns the channel.

    The ask is one level deeper than the asker's own turn, and carries the item that turn is
    charged to. Raises Invalid for an empty brief, for an ask to oneself, and for one so deep in a
    chain of asks that its turn would be refused; `company` is the running one, if it was read.
    """
    if actor.seat_id is None or actor.handle is None:
        raise Invalid("Only a seat can ask a colleague; people write on an item.", field="target")
    if actor.seat_id == target_id:
        raise Invalid("That is your own seat. Ask somebody else, or decide.", field="target")
    if not brief.strip():
        raise Invalid("The brief is empty. Say what you need to know and why.", field="brief")
    channel, now, turn = new_id(), clock.now(), actor.turn
    depth = (turn.depth if turn else 0) + 1
    if depth >= limits_of((company or epochs.active()).document).depth:
        raise Invalid(
            f"You were yourself asked at the end of a chain of {depth} asks, so you cannot pass "
            "the question on. Answer with what you know, or say in the answer who should be asked.",
            field="target",
        )
    item = _asked_by(turn.turn_id) if turn else None
    stored = as_json(item.as_json()) if item else None
    _run(_OPEN, (channel, actor.seat_id, target_id, stored, turn and turn.turn_id, now))
    _run(_MESSAGE, (new_id(), channel, "ask", actor.seat_id, brief, now))
    _wake_target(
        channel, actor, actor.handle, target_id, target_handle, brief=brief, depth=depth,
        item=item, now=now,
    )  # fmt: skip
    for kind, summary in (
        (EventType.A2A_CHANNEL_OPENED, f"{actor.name} asked @{target_handle}: {_line(brief)}"),
        (EventType.A2A_MESSAGE_SENT, f"{actor.name} wrote to @{target_handle}"),
    ):
        publish(
            kind,
            summary=summary,
            actor=actor.handle,
            seat_id=actor.seat_id,
            turn_id=turn.turn_id if turn else None,
            trace_id=turn.trace if turn else "",
            payload={"channel": str(channel), "target": target_handle},
            topics=("agents",),
        )
    return channel


def _wake_target(
    channel: UUID, actor: Actor, asker: str, target_id: UUID, target_handle: str, *, brief: str,
    depth: int, item: WorkRef | None, now: datetime,
) -> None:  # fmt: skip
    turn = actor.turn
    post(
        target_id,
        Mail(
            event_id=channel,
            kind=ASK,
            source=SOURCE,
            batch_key=f"event:{channel}",
            conversation="a2a:" + ":".join(sorted((asker, target_handle))),
            ts=now,
            payload={
                "summary": f"{actor.name} asks: {_line(brief)}",
                "sender": {"handle": asker, "name": actor.name, "kind": "agent"},
                "text": _letter(actor.name, asker, "a colleague asks you", brief),
                "channel": str(channel),
            },
            reply_kind="engine",
            depth=depth,
            chain=(*(turn.chain if turn else ()), asker),
            work_item=item,
            parent_turn=turn.turn_id if turn else None,
            agent_caused=True,
            trace=turn.trace if turn else "",
        ),
    )


def _asked_by(turn_id: UUID) -> WorkRef | None:
    """The item that the asker's turn is charged to: it rides the ask."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT work_item FROM agents_turn WHERE id = %s", (turn_id,))
        row = cursor.fetchone()
    item = json.loads(row[0]) if row and isinstance(row[0], str) else (row and row[0])
    if not item:
        return None
    return WorkRef(item["backend"], item["id"], item["key"], item["project"], basis="asked_by")


_ANSWER = """
UPDATE agents_a2achannel SET state = 'answered', target_turn = %s, closed_at = %s
WHERE id = %s AND state = 'open' RETURNING requester_id, request_turn, opened_at, work_item
"""


def answer(head: TurnHead, handle: str, name: str, text: str) -> frozenset[UUID]:
    """Posts a turn's answer to every ask it was woken by, and closes those channels.

    Runs in the settling transaction. Returns the seats that were told; for a channel that
    was swept meanwhile it stays closed, and an event keeps the words that came too late.
    """
    told = set[UUID]()
    for constituent in head.constituents:
        channel = constituent.get("payload", {}).get("channel")
        if constituent.get("kind") == ASK and channel:
            told |= _answer_one(UUID(channel), head, handle, name, text)
    return frozenset(told)


def _answer_one(channel: UUID, head: TurnHead, handle: str, name: str, text: str) -> set[UUID]:
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(_ANSWER, (head.id, now, channel))
        row = cursor.fetchone()
    body = text.strip() or "I have nothing to add."
    if row is None:
        _refuse_late(channel, head, handle, name, body)
        return set()
    _run(_MESSAGE, (new_id(), channel, "answer", head.seat_id, body, now))
    _wake_asker(
        row[0], channel, handle, name, body=body, summary=f"{name} answers: {_line(body)}",
        depth=max(0, head.depth - 1), parent=head.id, now=now, trace=head.trace,
    )  # fmt: skip
    for kind, summary in (
        (EventType.A2A_MESSAGE_SENT, f"{name} answered: {_line(body)}"),
        (EventType.A2A_CHANNEL_CLOSED, f"{name} answered a colleague"),
    ):
        publish(
            kind,
            summary=summary,
            actor=handle,
            seat_id=head.seat_id,
            turn_id=head.id,
            trace_id=head.trace,
            payload={
                "channel": str(channel),
                "duration_ms": _ms(row[2], now),
                "requester": str(row[0]),
                "target": str(head.seat_id),
            },
            topics=("agents",),
        )
    return {row[0]}


def _wake_asker(
    requester: UUID, channel: UUID, handle: str, name: str, *, body: str, summary: str,
    depth: int, parent: UUID | None, now: datetime, trace: str = "",
) -> None:  # fmt: skip
    event_id = new_id()
    post(
        requester,
        Mail(
            event_id=event_id,
            kind=ANSWER,
            source=SOURCE,
            batch_key=f"event:{event_id}",
            conversation=f"a2a:{channel}",
            ts=now,
            payload={
                "summary": summary,
                "sender": {"handle": handle, "name": name, "kind": "agent"},
                "text": _letter(name, handle, "the answer to your ask", body),
                "channel": str(channel),
            },
            reply_kind="none",
            depth=depth,
            parent_turn=parent,
            agent_caused=True,
            trace=trace,
        ),
    )


def _refuse_late(channel: UUID, head: TurnHead, handle: str, name: str, body: str) -> None:
    """Says that an answer met a closed channel, and keeps its words: the asker went on without."""
    publish(
        EventType.A2A_MESSAGE_SENT,
        summary=f"{name}'s answer was not delivered: channel {channel} is closed, an ask has one "
        "answer. Ask anew if it is still wanted.",
        actor=handle,
        seat_id=head.seat_id,
        turn_id=head.id,
        trace_id=head.trace,
        failed=True,
        payload={"channel": str(channel), "target": str(head.seat_id), "answer": body},
        topics=("agents",),
    )


_STALE = """
SELECT c.id, c.requester_id, c.opened_at, s.handle, s.name, c.target_id
FROM agents_a2achannel c
JOIN orgs_seat s ON s.id = c.target_id
LEFT JOIN LATERAL (
    SELECT min(t.started_at) AS began,
           bool_or(t.stage <> 'done') AS runs
    FROM agents_turn t
    WHERE t.seat_id = c.target_id AND t.constituents @> jsonb_build_array(
        jsonb_build_object('event_id', c.id::text))
) t ON true
LEFT JOIN agents_delivery d ON d.seat_id = c.target_id AND d.event_id = c.id
WHERE c.state = 'open' AND (
    t.began < %(limit)s OR (t.began IS NULL AND d.seq IS NULL AND c.opened_at < %(limit)s)
)
ORDER BY c.id LIMIT 100 FOR UPDATE OF c SKIP LOCKED
"""

_EXPIRE = "UPDATE agents_a2achannel SET state = 'expired', closed_at = %s WHERE id = %s"
_FORGET = "DELETE FROM agents_a2achannel WHERE closed_at < %s"
_FORGET_MESSAGES = """
DELETE FROM agents_a2amessage m USING agents_a2achannel c
WHERE c.id = m.channel_id AND c.closed_at < %s
"""


def sweep_channels(now: datetime) -> int:
    """Closes asks without an answer an hour after the target began, and tells the asker.

    An ask that still waits in the target's mailbox is not overdue. Closed channels are deleted
    after seven days. One transaction; returns how many it closed.
    """
    with transaction.atomic():
        return _sweep(now)


def _sweep(now: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_STALE, {"limit": now - IDLE})
        stale = cursor.fetchall()
        for channel, *_ in stale:
            cursor.execute(_EXPIRE, (now, channel))
        cursor.execute(_FORGET_MESSAGES, (now - KEPT,))
        cursor.execute(_FORGET, (now - KEPT,))
    for channel, requester, opened_at, handle, name, target in stale:
        body = (
            f"{name} has not answered within an hour, and the ask is closed. Go on without it, "
            "ask anew with a narrower question, or ask somebody else."
        )
        _wake_asker(
            requester, channel, handle, name, body=body, summary=f"No answer from {name}",
            depth=0, parent=None, now=now,
        )  # fmt: skip
        publish(
            EventType.A2A_CHANNEL_CLOSED,
            summary=f"{name} did not answer a colleague in time",
            actor="engine:sweep",
            seat_id=requester,
            failed=True,
            payload={
                "channel": str(channel),
                "duration_ms": _ms(opened_at, now),
                "requester": str(requester),
                "target": str(target),
            },
            topics=("agents",),
        )
    return len(stale)


def sweep(now: datetime) -> None:
    """Sweeps, as a duty of the company."""
    sweep_channels(now)


def _run(sql: str, params: tuple[Any, ...]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)


def _ms(since: datetime, now: datetime) -> int:
    return round((now - since).total_seconds() * 1000)


def _line(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line if len(line) <= LINE else f"{line[: LINE - 1]}…"


def _letter(name: str, handle: str, reason: str, body: str) -> str:
    quoted = "\n".join(f"> {line}" for line in body.strip().splitlines())
    return f"From: {name} (@{handle}, agent)\nReason: {reason}\n\n{quoted}"
