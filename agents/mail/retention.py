"""How long the mailbox remembers what it is done with."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import connection

KEPT: Final = timedelta(days=30)
"""Far longer than anybody delivers an event again, or asks what became of a dead letter."""
_BATCH: Final = 5000

_COMPLETIONS: Final = """
DELETE FROM agents_completion WHERE id IN (
    SELECT id FROM agents_completion WHERE at < %s ORDER BY at LIMIT %s)
"""
_DEAD_LETTERS: Final = """
DELETE FROM agents_deadletter WHERE id IN (
    SELECT id FROM agents_deadletter WHERE handled_at < %s LIMIT %s)
"""


def forget_old(now: datetime) -> int:
    """Deletes completions and handled dead letters older than 30 days; returns how many.

    A dead letter that nobody has dealt with stays. Each statement is a transaction of its own and
    takes a bounded number of rows, so that nobody waits for it; the next tick goes on.
    """
    forgotten = 0
    with connection.cursor() as cursor:
        for statement in (_COMPLETIONS, _DEAD_LETTERS):
            cursor.execute(statement, (now - KEPT, _BATCH))
            forgotten += cursor.rowcount
    return forgotten
