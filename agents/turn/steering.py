"""Notes from people to a running turn: left by a person, read at the next round, told what became.

A note is read by the executor and the reviewer alone, right before an answer and after the fence.
What the model was told rides in that answer's commit, with the note's fate: a note is `delivered`
if and only if an answer exists that was given with it in sight. Every later phase opens with what
was said before. A turn that ends with unread notes says `expired` of each, before its completion.

Who else may be here: people who leave notes while the turn runs. They lock the turn's row, so of a
note and an end that cross one is first: either the note finds the end, or the end finds the note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.db import connection

from agents.turn import words
from agents.turn.machine import PhaseName
from crewlet.kernel import clock
from crewlet.kernel.errors import Conflict, Gone, NotFound
from crewlet.kernel.ids import new_id

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

    from orgs.epochs import Snapshot

LONGEST: Final = 2000
MOST_UNREAD: Final = 5
READERS: Final = frozenset({PhaseName.EXECUTE, PhaseName.REVIEW})


@dataclass(frozen=True, slots=True)
class Note:
    """A note and who left it, by handle or login."""

    id: UUID
    by: str
    text: str


_UNREAD = """
SELECT id, by, note FROM agents_steernote WHERE turn_id = %s AND state = 'unread' ORDER BY at, id
"""


def unread(turn_id: UUID, phase: PhaseName) -> tuple[Note, ...]:
    """Returns the notes that the next answer of a phase is to be given with, oldest first."""
    if phase not in READERS:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_UNREAD, (turn_id,))
        return tuple(Note(*row) for row in cursor.fetchall())


def said(notes: Sequence[Note], snapshot: Snapshot) -> str:
    """Returns notes as a model reads them; empty without any."""
    if not notes:
        return ""
    told = [words.note(_name(note.by, snapshot), note.text) for note in notes]
    return "\n\n".join([*told, words.NOTE_RANK])


def _name(by: str, snapshot: Snapshot) -> str:
    seat = snapshot.chart.seats.get(by)
    return f"{seat.name} (@{by})" if seat else by


_DELIVER = """
UPDATE agents_steernote SET state = 'delivered', phase = %s, iteration = %s, round = %s
WHERE id = ANY(%s) AND state = 'unread'
"""


def deliver(
    cursor: CursorWrapper, notes: Sequence[Note], phase: str, iteration: int, number: int
) -> None:
    """Marks notes as read before an answer, in the answer's own commit."""
    cursor.execute(_DELIVER, (phase, iteration, number, [note.id for note in notes]))


_EXPIRE = """
UPDATE agents_steernote SET state = 'expired' WHERE turn_id = %s AND state = 'unread'
RETURNING id, by, note
"""


def expire(cursor: CursorWrapper, turn_id: UUID) -> list[Note]:
    """Marks what an ending turn never read, and returns it. The turn's row is locked already."""
    cursor.execute(_EXPIRE, (turn_id,))
    return [Note(*row) for row in cursor.fetchall()]


_TURN = "SELECT stage, outcome FROM agents_turn WHERE id = %s FOR NO KEY UPDATE"
_KNOWN = """
SELECT id, by, note, state FROM agents_steernote WHERE turn_id = %s AND request_id = %s
"""
_COUNT = "SELECT count(*) FROM agents_steernote WHERE turn_id = %s AND state = 'unread'"
_LEAVE = """
INSERT INTO agents_steernote (id, turn_id, request_id, note, by, at, state, phase)
VALUES (%s, %s, %s, %s, %s, %s, 'unread', '')
"""


def leave(turn_id: UUID, *, request_id: str, text: str, by: str) -> dict[str, Any]:
    """Leaves a note for a turn and returns {id, request_id, state}; the same request leaves one.

    Runs in the caller's transaction. Raises `Gone` when the turn has ended, `Conflict` when the
    request id is another note's, or when so many wait that a model could not weigh them.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TURN, (turn_id,))
        turn = cursor.fetchone()
        if turn is None:
            raise NotFound(f"There is no turn {turn_id}.", field="turn")
        cursor.execute(_KNOWN, (turn_id, request_id))
        known = cursor.fetchone()
        if known is not None:
            if known[1:3] != (by, text):
                raise Conflict(
                    f"The request id '{request_id}' is another note's. Use a new one for a new "
                    "note.",
                    field="request_id",
                )
            return {"id": str(known[0]), "request_id": request_id, "state": known[3]}
        if turn[0] == "done":
            raise Gone(
                f"That turn has ended ({turn[1]}), so nobody would read the note. Write where the "
                "work is instead.",
                field="turn",
            )
        cursor.execute(_COUNT, (turn_id,))
        if cursor.fetchone()[0] >= MOST_UNREAD:
            raise Conflict(
                f"{MOST_UNREAD} notes wait to be read already. Let the turn read them at its next "
                "round, or stop it.",
                field="note",
            )
        note_id = new_id()
        cursor.execute(_LEAVE, (note_id, turn_id, request_id, text, by, clock.now()))
    return {"id": str(note_id), "request_id": request_id, "state": "pending"}
