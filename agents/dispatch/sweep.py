"""What a lost wake left behind, found by the holder every few seconds, with or without a broker."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import connection
from prometheus_client import Counter

from agents.dispatch import park
from agents.dispatch.gate import Gate
from agents.mail import claim
from crewlet.kernel import clock
from crewlet.kernel.errors import Unavailable
from orgs import epochs

RESCUED = Counter("crewlet_wakes_rescued_total", "Seats that the sweep found with due mail.")

# Parked turns are looked at every time: screening asks whether their cause has ended. Those that
# wait for a person may stand for weeks, and are due when the person has spoken.
_OPEN: Final = f"""
SELECT DISTINCT t.seat_id FROM agents_turn t
WHERE t.seat_id = ANY(%(seats)s) AND t.stage <> 'done' AND NOT {park.ASIDE}
"""  # noqa: S608 - a fragment of our own

_HELD: Final = """
SELECT DISTINCT seat_id FROM agents_seathold
WHERE seat_id = ANY(%s) AND (until IS NULL OR until > %s)
"""


def run_once(gate: Gate, seats: list[UUID]) -> float | None:
    """Pokes every held seat with work to do; returns the seconds until more mail falls due.

    A seat with mail and a standing hold is left alone: a hold is a condition, not a loop.
    """
    if not seats:
        return None
    now = clock.now()
    try:
        snapshot = epochs.active()
        park.release_budget_holds(seats, snapshot, now)
    except Unavailable:
        return None
    with connection.cursor() as cursor:
        window = snapshot.document.notification_coalesce_window_seconds
        waiting = claim.due(cursor, seats, window=window)
        cursor.execute(_OPEN, {"seats": seats, "now": now})
        opened = {row[0] for row in cursor.fetchall()}
        cursor.execute(_HELD, (seats, now))
        held = {row[0] for row in cursor.fetchall()}
    # An open turn is poked in spite of a hold: one whose worker died goes on, and one that was
    # asked to stop has its end still to come.
    for seat in sorted(opened | (waiting.seats - held)):
        if not gate.busy(seat):
            RESCUED.inc()
            gate.poke(seat)
    return waiting.next_in
