"""Holds: independent reasons for which a seat's mail waits. Mail flows when none is left.

A hold is a row and a WHERE clause, never a loop that puts mail back. Lifting one reason never
lifts another. A hold with an `until` ends by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from agents import wake
from agents.models.seats import HoldReason, SeatHold
from crewlet.kernel.ids import new_id


@dataclass(frozen=True, slots=True)
class Hold:
    """One reason; `created` says whether this call put it, `by` who did in any case."""

    reason: HoldReason
    by: str
    until: datetime | None
    note: str
    stop_running: bool
    created: bool


# xmax is 0 only for a row that this statement inserted: of two who put the same hold, one did.
_PUT: Final = """
INSERT INTO agents_seathold AS h
    (id, seat_id, reason, by, at, until, detail, note, stop_running, version)
VALUES (%(id)s, %(seat)s, %(reason)s, %(by)s, %(now)s, %(until)s, %(detail)s, %(note)s,
        %(stop)s, 1)
ON CONFLICT (seat_id, reason) DO UPDATE
SET until = CASE WHEN %(refresh)s THEN EXCLUDED.until ELSE h.until END,
    detail = CASE WHEN %(refresh)s THEN EXCLUDED.detail ELSE h.detail END,
    stop_running = h.stop_running OR EXCLUDED.stop_running,
    version = h.version + 1
RETURNING by, until, note, stop_running, xmax = 0
"""


def put(
    seat_id: UUID,
    reason: HoldReason,
    *,
    by: str,
    now: datetime,
    until: datetime | None = None,
    detail: Mapping[str, Any] | None = None,
    note: str = "",
    stop_running: bool = False,
    refresh: bool = False,
) -> Hold:
    """Holds a seat's mail for a reason. The first who holds stands in the row.

    A second call adds `stop_running`, and with `refresh` also renews `until` and `detail`; it never
    changes who held.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _PUT,
            {
                "id": new_id(),
                "seat": seat_id,
                "reason": reason.value,
                "by": by,
                "now": now,
                "until": until,
                "detail": json.dumps(dict(detail or {}), default=str),
                "note": note,
                "stop": stop_running,
                "refresh": refresh,
            },
        )
        owner, ends, why, stops, created = cursor.fetchone()
    return Hold(reason, owner, ends, why, bool(stops), bool(created))


def lift(seat_id: UUID, reason: HoldReason) -> bool:
    """Lifts one reason and wakes the seat; False when it was not there."""
    deleted, _ = SeatHold.objects.filter(seat_id=seat_id, reason=reason).delete()
    if deleted:
        wake.ring(seat_id)
    return deleted > 0


def standing(seat_id: UUID, now: datetime) -> SeatHold | None:
    """Returns the first hold of a seat that stands, a person's before the engine's, or None."""
    holds = [
        hold
        for hold in SeatHold.objects.filter(seat_id=seat_id)
        if hold.until is None or hold.until > now
    ]
    return min(holds, key=_rank, default=None)


def why_waiting(seat_id: UUID, now: datetime) -> str:
    """Returns why mail of a seat would wait now, as the end of a sentence about it; else empty."""
    hold = standing(seat_id, now)
    if hold is None:
        return ""
    if hold.reason == HoldReason.SEAT_PAUSED:
        why = f"is paused by {hold.by}" + (f" ({hold.note})" if hold.note else "")
    else:
        why = f"is held ({HoldReason(hold.reason).label.lower()})"
    return why + (f" until {hold.until:%Y-%m-%d %H:%M} UTC" if hold.until else "")


def _rank(hold: SeatHold) -> int:
    return list(HoldReason.values).index(hold.reason)


def of_seat(seat_id: UUID, reason: HoldReason) -> SeatHold | None:
    """Returns a seat's hold of a reason, an ended one too, or None."""
    return SeatHold.objects.filter(seat_id=seat_id, reason=reason).first()
