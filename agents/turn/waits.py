"""The rows of calls that hang on a person: opened with the park, answered once, taken once.

| who | moves | in which transaction |
|---|---|---|
| the turn, when it suspends | nothing → open | the park's |
| a person | open → answered | the action's own; the row count decides between two |
| the turn, when it goes on | answered, or open too long → taken | before anything is done |
| the turn, when it ends | open, answered → closed | the settlement's |

Holds: one turn has at most one row that is open or answered. What was approved begins only after
`taken` is committed, so a worker that finds `answered` knows that nothing has begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db import connection

from agents.turn.record import Wait
from agents.turn.rows import as_json
from agents.turn.storable import clean
from crewlet.kernel import clock
from crewlet.kernel.errors import Conflict, ErrorCode, Gone

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

ANSWER: Final = "answer"
APPROVAL: Final = "approval"
PATIENCE: Final = timedelta(days=90)
"""After which a turn goes on without the person."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a call waits for: an answer of `asked`, or leave to run with exactly these arguments."""

    wait: Wait
    call_row: UUID
    tool: str
    question: str
    asked: UUID | None
    options: Sequence[str] = ()
    args_text: str = ""


_OPEN = """
INSERT INTO agents_suspension
    (id, turn_id, call_id, kind, tool, question, options, args_text, asked_id, state, opened_at,
     until, decision, words, edited_text, by)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 'open', %s, %s, '', '', '', '')
"""


def open_wait(cursor: CursorWrapper, turn_id: UUID, opening: Opening) -> None:
    """Writes what a turn waits for, in the transaction that parks it."""
    wait = opening.wait
    cursor.execute(
        _OPEN,
        (
            wait.id, turn_id, opening.call_row, wait.kind, clean(opening.tool)[:128],
            clean(opening.question), as_json(list(opening.options)), clean(opening.args_text),
            opening.asked, clock.now(), wait.until,
        ),
    )  # fmt: skip


_ANSWER = """
UPDATE agents_suspension SET state = 'answered', decision = %s, words = %s, edited_text = %s,
    by = %s, decided_at = %s
WHERE id = %s AND state = 'open'
RETURNING turn_id
"""
_WAKE = """
UPDATE agents_turn SET wake_at = %s WHERE id = %s AND stage = 'parked' AND park_reason = 'person'
"""
_STATE = "SELECT state, by FROM agents_suspension WHERE id = %s"


def answer(wait_id: UUID, *, decision: str, words: str, edited_text: str, by: str) -> None:
    """Stores what a person said and makes the turn due; the caller rings its seat.

    Raises `Conflict` when somebody spoke before, `Gone` when the turn has ended or gone on.
    """
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(_ANSWER, (decision, clean(words), clean(edited_text), by, now, wait_id))
        row = cursor.fetchone()
        if row is not None:
            cursor.execute(_WAKE, (now, row[0]))
            return
        cursor.execute(_STATE, (wait_id,))
        state, first = cursor.fetchone()
    if first:
        raise Conflict(f"{first} has answered this already.", code=ErrorCode.ALREADY_ANSWERED)
    raise Gone(
        "Nobody waits for this any more: the turn "
        + ("went on without an answer." if state == "taken" else "has ended.")
    )


_TAKE = """
UPDATE agents_suspension SET state = 'taken' WHERE id = %s AND state IN ('open', 'answered')
RETURNING state, decision, words, edited_text, by
"""


def take(cursor: CursorWrapper, wait: Wait) -> None:
    """Takes what was said, in the turn's own fenced commit; what came meanwhile counts."""
    cursor.execute(_TAKE, (wait.id,))
    row = cursor.fetchone()
    if row is not None:
        wait.state, wait.decision, wait.words, wait.edited_text, wait.by = row


_CLOSE = """
UPDATE agents_suspension SET state = 'closed'
WHERE turn_id = %s AND state IN ('open', 'answered')
"""


def close(cursor: CursorWrapper, turn_id: UUID) -> None:
    """Closes what an ended turn still waited for: it leaves every inbox."""
    cursor.execute(_CLOSE, (turn_id,))


def deadline(now: datetime) -> datetime:
    """Returns until when a turn that begins to wait now waits at most."""
    return now + PATIENCE
