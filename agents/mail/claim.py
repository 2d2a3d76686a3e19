"""How mail leaves the mailbox: taken by a turn, settled with it, given back, or dead.

Every function here runs inside the caller's transaction, on its cursor, after the caller has
fenced the seat's lease; lock order: seat lease, turn, letters by seq.

| what happened | what becomes of the letters |
|---|---|
| the turn ended | `settle`: a completion each, the rows go |
| it failed before its first round | `release`: back, one attempt more, behind a pause; dead at 25 |
| its nodes died under it five times | `bury`: dead at once |
| nothing ran (hold, drain, wrong node) | nothing: letters are taken only by a turn that starts |
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.db.backends.utils import CursorWrapper

from agents.mail.letters import Letter
from crewlet.kernel import clock
from crewlet.kernel.events import EventType, publish

ATTEMPTS: Final = 25
"""Failures before the first round after which a letter is dead: about ten minutes."""
BACKOFF_CAP: Final = 30
"""Seconds; the pauses are 1, 2, 4, 8, 16, 30, 30 …"""
MAX_BATCH: Final = 20
NO_TURN: Final = UUID(int=0)
"""The turn that a completion names when a letter needed none."""

_TAKE: Final = (Path(__file__).parent / "claim.sql").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Released:
    """What became of the letters of a turn that never began: rows back, event ids dead."""

    retried: tuple[int, ...]
    dead: tuple[UUID, ...]


def take(
    cursor: CursorWrapper, seat_id: UUID, *, window: float = 0.0, limit: int = MAX_BATCH
) -> list[Letter]:
    """Returns the letters of the seat's oldest due conversation, locked, oldest first."""
    cursor.execute(_TAKE, {"seat": seat_id, "window": window, "limit": limit})
    return [_letter(row) for row in cursor.fetchall()]


def assign(cursor: CursorWrapper, turn_id: UUID, seqs: Sequence[int]) -> None:
    """Marks letters as claimed by a turn that was opened in this transaction."""
    cursor.execute(
        "UPDATE agents_delivery SET turn_id = %s WHERE seq = ANY(%s)", (turn_id, list(seqs))
    )


def drop_worked(cursor: CursorWrapper, seat_id: UUID, letters: Sequence[Letter]) -> list[Letter]:
    """Deletes the letters whose events were finished with and returns the others.

    The look at the completions under the seat's lease: what `post` could not see yet when two
    transactions crossed is caught here.
    """
    cursor.execute(
        "SELECT event_id FROM agents_completion WHERE seat_id = %s AND event_id = ANY(%s)",
        (seat_id, [letter.event_id for letter in letters]),
    )
    worked = {row[0] for row in cursor.fetchall()}
    skip(cursor, seat_id, [x for x in letters if x.event_id in worked], "already_worked")
    return [letter for letter in letters if letter.event_id not in worked]


def skip(cursor: CursorWrapper, seat_id: UUID, letters: Sequence[Letter], reason: str) -> None:
    """Deletes letters that need no turn and says so, one event each."""
    if not letters:
        return
    cursor.execute(
        "DELETE FROM agents_delivery WHERE seq = ANY(%s)", ([letter.seq for letter in letters],)
    )
    for letter in letters:
        publish(
            EventType.TURN_TRIGGER_SKIPPED,
            summary=f"No turn for this letter ({reason.replace('_', ' ')}): {letter.summary}",
            seat_id=seat_id,
            trace_id=letter.trace,
            payload={"event_id": str(letter.event_id), "kind": letter.kind, "reason": reason},
        )


def complete(
    cursor: CursorWrapper, seat_id: UUID, letters: Sequence[Letter], *, epoch: int, reason: str
) -> None:
    """Skips letters of an informational kind and records their events as finished with."""
    for letter in letters:
        cursor.execute(
            _COMPLETE_ONE, (seat_id, letter.event_id, "", NO_TURN, epoch, "skipped", clock.now())
        )
    skip(cursor, seat_id, letters, reason)


_COMPLETE_ONE: Final = """
INSERT INTO agents_completion (seat_id, event_id, work_key, turn_id, lease_epoch, outcome, at)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (seat_id, event_id) DO NOTHING
"""

_SETTLE: Final = """
WITH done AS (
    DELETE FROM agents_delivery WHERE turn_id = %(turn)s RETURNING event_id
),
finished AS (
    SELECT event_id FROM done UNION SELECT unnest(%(shown)s::uuid[])
),
seen AS (
    DELETE FROM agents_delivery AS d USING agents_turn AS t
    WHERE t.id = %(turn)s AND d.seat_id = t.seat_id AND d.turn_id IS NULL
      AND d.event_id = ANY(%(shown)s::uuid[])
)
INSERT INTO agents_completion (seat_id, event_id, work_key, turn_id, lease_epoch, outcome, at)
SELECT t.seat_id, finished.event_id, t.work_key, t.id, t.lease_epoch, %(outcome)s, %(at)s
FROM finished, agents_turn AS t
WHERE t.id = %(turn)s
ON CONFLICT (seat_id, event_id) DO NOTHING
"""


def settle(
    cursor: CursorWrapper, turn_id: UUID, outcome: str, *, shown: Sequence[UUID] = ()
) -> int:
    """Finishes a turn's mail: one completion per event, the rows deleted. Returns how many.

    `shown` names further events that the turn showed to the model (older messages of a thread), so
    that they are not answered a second time.
    """
    cursor.execute(
        _SETTLE,
        {"turn": turn_id, "outcome": outcome, "shown": list(shown), "at": clock.now()},
    )
    return int(cursor.rowcount)


_RELEASE: Final = """
UPDATE agents_delivery
SET turn_id = NULL,
    attempts = attempts + 1,
    last_error = %(error)s,
    not_before = clock_timestamp()
        + make_interval(secs => least(%(cap)s, power(2, least(attempts, 10))))
WHERE turn_id = %(turn)s
RETURNING seq, seat_id, attempts
"""


def release(cursor: CursorWrapper, turn_id: UUID, error: str) -> Released:
    """Gives back the mail of a turn that failed before its first round, or buries it at 25."""
    cursor.execute(_RELEASE, {"turn": turn_id, "error": error[:2000], "cap": BACKOFF_CAP})
    rows = cursor.fetchall()
    spent = [seq for seq, _, attempts in rows if attempts >= ATTEMPTS]
    dead = _bury(cursor, spent, error)
    return Released(tuple(seq for seq, _, _ in rows if seq not in spent), dead)


def bury(cursor: CursorWrapper, turn_id: UUID, error: str) -> tuple[UUID, ...]:
    """Moves all mail of a turn to the dead letters and returns the event ids."""
    cursor.execute("SELECT seq FROM agents_delivery WHERE turn_id = %s", (turn_id,))
    return _bury(cursor, [row[0] for row in cursor.fetchall()], error)


_BURY: Final = """
WITH dead AS (
    DELETE FROM agents_delivery WHERE seq = ANY(%(seqs)s) RETURNING *
)
INSERT INTO agents_deadletter
    (id, seat_id, event_id, mail, attempts, error, at, handled_by, handled_how)
SELECT gen_random_uuid(), seat_id, event_id,
       to_jsonb(dead) - '{seq,seat_id,turn_id,attempts,not_before,last_error,created_at}'::text[],
       attempts, %(error)s, %(at)s, '', ''
FROM dead
RETURNING seat_id, event_id, mail->'payload'->>'summary', attempts, mail->>'trace'
"""


def _bury(cursor: CursorWrapper, seqs: Sequence[int], error: str) -> tuple[UUID, ...]:
    if not seqs:
        return ()
    cursor.execute(_BURY, {"seqs": list(seqs), "error": error[:2000], "at": clock.now()})
    rows = cursor.fetchall()
    for seat_id, event_id, summary, attempts, trace in rows:
        publish(
            EventType.INBOX_DEAD_LETTERED,
            summary=f"Gave up on a letter after {attempts} attempts: {summary or 'no summary'}",
            seat_id=seat_id,
            trace_id=trace or "",
            failed=True,
            payload={"event_id": str(event_id), "attempts": attempts, "error": error[:500]},
        )
    return tuple(row[1] for row in rows)


_DUE: Final = """
SELECT seat_id, min(greatest(coalesce(not_before, '-infinity'),
                             created_at + make_interval(secs => %(window)s))) <= clock_timestamp(),
       extract(epoch FROM min(greatest(coalesce(not_before, '-infinity'),
                             created_at + make_interval(secs => %(window)s))) - clock_timestamp())
FROM agents_delivery
WHERE seat_id = ANY(%(seats)s) AND turn_id IS NULL
GROUP BY seat_id
"""


@dataclass(frozen=True, slots=True)
class Due:
    """Seats with mail that may be worked now, and the seconds until the next letter may."""

    seats: frozenset[UUID]
    next_in: float | None


def due(cursor: CursorWrapper, seats: Sequence[UUID], *, window: float = 0.0) -> Due:
    """Returns which of these seats have mail that is due."""
    cursor.execute(_DUE, {"seats": list(seats), "window": window})
    rows = cursor.fetchall()
    later = [float(seconds) for _, now, seconds in rows if not now]
    return Due(frozenset(seat for seat, now, _ in rows if now), min(later, default=None))


def _letter(row: Sequence[Any]) -> Letter:
    (
        seq, event_id, kind, source, batch_key, conversation, ts, payload, reply_kind,
        reply_surface, depth, chain, work_item, parent_turn, agent_caused, attempts, trace,
    ) = row  # fmt: skip
    return Letter(
        seq=seq,
        event_id=event_id,
        kind=kind,
        source=source,
        batch_key=batch_key,
        conversation=conversation,
        ts=ts,
        payload=_json(payload) or {},
        reply_kind=reply_kind,
        reply_surface=reply_surface,
        depth=depth,
        chain=tuple(_json(chain) or ()),
        work_item=_json(work_item),
        parent_turn=parent_turn,
        agent_caused=agent_caused,
        attempts=attempts,
        trace=trace,
    )


def _json(value: Any) -> Any:
    # Django leaves jsonb to its own fields: a raw cursor hands it out as text.
    return json.loads(value) if isinstance(value, str) else value
