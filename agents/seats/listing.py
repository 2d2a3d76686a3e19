"""Seats as an operator sees them: who holds each, what holds its mail, how much waits."""

from __future__ import annotations

from typing import Any, Final

from django.db import connection

_SEATS: Final = """
SELECT s.id, s.handle, n.node_id, l.epoch,
       n.id IS NOT NULL AND (n.ended_at IS NOT NULL OR n.expires_at < clock_timestamp()),
       (SELECT string_agg(h.reason, ', ' ORDER BY h.reason) FROM agents_seathold AS h
        WHERE h.seat_id = s.id AND (h.until IS NULL OR h.until > clock_timestamp())),
       (SELECT count(*) FROM agents_delivery AS d WHERE d.seat_id = s.id AND d.turn_id IS NULL),
       (SELECT extract(epoch FROM clock_timestamp() - min(d.created_at))
        FROM agents_delivery AS d WHERE d.seat_id = s.id AND d.turn_id IS NULL),
       (SELECT t.stage FROM agents_turn AS t WHERE t.seat_id = s.id AND t.stage <> 'done'
        ORDER BY t.stage = 'parked' LIMIT 1)
FROM orgs_seat AS s
LEFT JOIN agents_seatlease AS l ON l.seat_id = s.id
LEFT JOIN agents_node AS n ON n.id = l.owner_id
WHERE s.kind = 'agent' AND s.removed_at IS NULL
ORDER BY s.handle
"""


def seats() -> list[dict[str, Any]]:
    """Returns every agent seat; `node` is None while nobody holds it, `lapsed` if its holder died.

    `oldest` is the age of the oldest waiting letter in seconds, None without mail.
    """
    columns = ("id", "seat", "node", "epoch", "lapsed", "held_by", "waiting", "oldest", "turn")
    with connection.cursor() as cursor:
        cursor.execute(_SEATS)
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    for row in rows:
        row["oldest"] = None if row["oldest"] is None else round(float(row["oldest"]), 1)
    return rows
