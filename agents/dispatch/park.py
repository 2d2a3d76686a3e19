"""When what waits on the engine goes on: parked turns, and holds that the budget put.

A parked turn stays the seat's turn and keeps its mail. While it is parked nothing else of the seat
starts: the cause that stopped it (no tokens, no model) would stop the next one as well, and two
open turns would work one seat's mail out of order. It goes on

* at its wake time,
* at once when its cause ended early: a ceiling was raised, the company's clock was changed (the
  windows are asked again), or a new revision came in (which may name another model),
* at once when somebody asked it to stop, so that it can end.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db import transaction

from agents.budgets import windows
from agents.budgets.windows import Refusal
from agents.dispatch.turns import Stop
from agents.models.seats import HoldReason, SeatHold
from agents.models.turns import StopRequest
from agents.seats import holds
from crewlet.kernel.events import EventType, publish

if TYPE_CHECKING:
    from agents.dispatch.screening import OpenTurn
    from orgs.epochs import Snapshot

BUDGET: Final = "budget"
_BY: Final = "engine:budgets"


def is_due(turn: OpenTurn, snapshot: Snapshot, now: datetime) -> bool:
    """Returns whether a parked turn may go on; its seat's budget has room already."""
    if turn.wake_at is None or turn.wake_at <= now:
        return True
    return turn.park_reason == BUDGET or turn.epoch != snapshot.epoch


def stop_of(turn_id: UUID, seat_id: UUID) -> Stop | None:
    """Returns who asked this turn to stop, by name or by pausing its seat, or None."""
    asked = StopRequest.objects.filter(turn_id=turn_id).first()
    if asked is not None:
        return Stop(asked.by, asked.reason)
    paused = SeatHold.objects.filter(
        seat_id=seat_id, reason=HoldReason.SEAT_PAUSED, stop_running=True
    ).first()
    return Stop(paused.by, paused.note) if paused else None


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
