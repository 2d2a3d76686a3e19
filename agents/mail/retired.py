"""The mailbox of an agent's seat that left outlives it by a day, for a seat that comes back.

After that its mail is set aside: no turn will ever work it, and whoever wonders what became of a
letter finds it among the dead letters, dealt with. Memory stays with the seat's row for ever.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from django.db import connection

log = logging.getLogger(__name__)

HOW: Final = "retired"
_WHY: Final = "The seat left the company, or a person took it, and did not come back within a day."
_BATCH: Final = 500

# The seat's row is held as well: a seat that comes back at this moment has its mail, or comes
# afterwards. Mail in the hands of a turn waits until the turn is done with it.
_RETIRE: Final = """
WITH due AS (
    SELECT d.seq FROM agents_delivery AS d JOIN orgs_seat AS s ON s.id = d.seat_id
    WHERE s.mailbox_retire_at <= %(now)s AND d.turn_id IS NULL
      AND (s.removed_at IS NOT NULL OR s.kind <> 'agent')
    ORDER BY d.seq LIMIT %(batch)s
    FOR UPDATE OF d SKIP LOCKED FOR SHARE OF s SKIP LOCKED
), gone AS (
    DELETE FROM agents_delivery WHERE seq IN (SELECT seq FROM due) RETURNING *
)
INSERT INTO agents_deadletter
    (id, seat_id, event_id, mail, attempts, error, at, handled_at, handled_by, handled_how)
SELECT gen_random_uuid(), seat_id, event_id,
       to_jsonb(gone) - '{seq,seat_id,turn_id,attempts,not_before,last_error,created_at}'::text[],
       attempts, %(why)s, %(now)s, %(now)s, 'engine', %(how)s
FROM gone
"""


def retire(now: datetime) -> int:
    """Sets the mail of seats aside whose day is over, some hundreds at a time; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(_RETIRE, {"now": now, "batch": _BATCH, "why": _WHY, "how": HOW})
        count = int(cursor.rowcount)
    if count:
        log.info("mailbox_retired", extra={"letters": count})
    return count
