"""When what waits on the engine goes on: parked turns, and holds that the budget put.

A parked turn stays the seat's turn and keeps its mail. While it is parked nothing else of the seat
starts: the cause that stopped it (no tokens, no model) would stop the next one as well, and two
open turns would work one seat's mail out of order. It goes on

* at its wake time,
* at once when its cause ended early: a ceiling was raised, the company's clock was changed (the
  windows are asked again), or a new revision came in (which may name another model),
* at once when somebody asked it to stop, so that it can end.

A turn that waits for a person is different: nothing of the company keeps the seat from its other
mail, so it stands aside (`ASIDE`) until the person has spoken, and is then due like the others.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db import connection, transaction

from agents.budgets import windows
from agents.budgets.windows import Refusal
from agents.dispatch.turns import OpenTurn, Stop
from agents.models.seats import HoldReason, SeatHold
from agents.seats import holds
from crewlet.kernel.events import EventType, publish

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

BUDGET: Final = "budget"
PERSON: Final = "person"

ASIDE: Final = """
    (t.stage = 'parked' AND t.park_reason = 'person' AND t.wake_at > %(now)s
     AND NOT EXISTS (SELECT 1 FROM agents_stoprequest r WHERE r.turn_id = t.id)
     AND NOT EXISTS (SELECT 1 FROM agents_seathold h WHERE h.seat_id = t.seat_id
                     AND h.reason = 'seat_paused' AND h.stop_running))
"""
"""SQL over a turn `t`: it waits for a person who has not spoken, and nobody wants it to end."""
_BY: Final = "engine:budgets"


def is_due(turn: OpenTurn, snapshot: Snapshot, now: datetime) -> bool:
    """Returns whether a parked turn may go on; its seat's budget has room already."""
    if turn.wake_at is None or turn.wake_at <= now:
        return True
    if turn.park_reason == PERSON:
        return False
    return turn.park_reason == BUDGET or turn.epoch != snapshot.epoch


_STOP: Final = """
SELECT asked.by, asked.why FROM (
    SELECT by, reason AS why, 0 AS rank FROM agents_stoprequest WHERE turn_id = %(turn)s
    UNION ALL
    SELECT by, note, 1 FROM agents_seathold
    WHERE seat_id = %(seat)s AND reason = %(paused)s AND stop_running
) AS asked
ORDER BY asked.rank LIMIT 1
"""


def stop_of(turn_id: UUID, seat_id: UUID) -> Stop | None:
    """Returns who asked this turn to stop, by name or by pausing its seat, or None.

    One statement: a turn asks before every model call and every write.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _STOP, {"turn": turn_id, "seat": seat_id, "paused": HoldReason.SEAT_PAUSED.value}
        )
        row = cursor.fetchone()
    return Stop(*row) if row else None


def hold_for_budget(seat_id: UUID, refusal: Refusal, now: datetime) -> None:
    """Holds a seat's mail until the last refusing window is over, and says so once."""
    with transaction.atomic():
        hold = holds.put(
            seat_id,
            HoldReason.BUDGET_WINDOW,
            by=_BY,
            now=now,
            until=refusal.resets_at,
            detail={**refusal.payload(), "refused_at": now.isoformat()},
            note=refusal.message,
            refresh=True,
        )
        if hold.created:
            publish(
                EventType.SEAT_BUDGET_PARKED,
                summary=refusal.message,
                actor=_BY,
                seat_id=seat_id,
                payload=refusal.payload(),
                topics=("agents",),
            )


def release_budget_holds(seats: list[UUID], snapshot: Snapshot, now: datetime) -> list[UUID]:
    """Lifts the budget holds of seats whose windows have room again, and returns those seats."""
    freed = []
    for hold in SeatHold.objects.filter(reason=HoldReason.BUDGET_WINDOW, seat_id__in=seats):
        if windows.refusal(hold.seat_id, snapshot, now) is not None:
            continue
        with transaction.atomic():
            if not holds.lift(hold.seat_id, HoldReason.BUDGET_WINDOW):
                continue
            publish(
                EventType.SEAT_BUDGET_RELEASED,
                summary="There is room in the budget again.",
                actor=_BY,
                seat_id=hold.seat_id,
                topics=("agents",),
            )
        freed.append(hold.seat_id)
    return freed
