"""May this seat's mail be worked now? Asked in one order, before anything is claimed.

| asked | refusal |
|---|---|
| is this node draining, or the engine? | `draining` |
| do we hold the seat's lease? | `no_lease` |
| was it renewed within a heartbeat? | `stale_lease` |
| is a company applied that this version can read? | `unconfigured` |
| does a turn of this seat stand open? | a running one is taken over at once; a parked one is next |
| does a hold stand (paused, budget, no model, configuration)? | the hold's reason |
| does a budget window refuse? | `budget_window`, and the hold is put |
| is the parked turn not due yet? | `parked` |

A refusal costs the mail nothing: it was not taken. Which letters need no turn (worked before, only
informational) is decided at the claim, on the locked rows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, connection
from prometheus_client import Counter

from agents.budgets import windows
from agents.budgets.windows import Refusal
from agents.dispatch import park
from agents.dispatch.turns import OpenTurn
from agents.seats import holds
from agents.seats.host import SeatHost
from agents.seats.lease import Lease
from crewlet.kernel import drain
from crewlet.kernel.errors import Unavailable
from orgs import epochs
from orgs.epochs import Snapshot

log = logging.getLogger(__name__)

REFUSALS = Counter("crewlet_dispatch_refusals_total", "Looks that started no turn.", ["reason"])


class Reason(StrEnum):
    """Why mail waits, in the order in which it is asked."""

    DRAINING = "draining"
    NO_LEASE = "no_lease"
    STALE_LEASE = "stale_lease"
    UNCONFIGURED = "unconfigured"
    SEAT_PAUSED = "seat_paused"
    BUDGET_WINDOW = "budget_window"
    NO_PROVIDER = "no_provider"
    CONFIG = "config"
    PARKED = "parked"
    NO_MAIL = "no_mail"


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing starts, and why."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Clear:
    """Something may start under this lease: the open turn, or new mail."""

    lease: Lease
    snapshot: Snapshot
    turn: OpenTurn | None


BudgetCheck = Callable[[UUID, Snapshot, datetime], Refusal | None]

_OPEN: Final = f"""
SELECT t.id, t.stage, t.park_reason, t.wake_at, t.epoch FROM agents_turn t
WHERE t.seat_id = %(seat)s AND t.stage <> 'done' AND NOT {park.ASIDE}
ORDER BY t.stage = 'parked', t.started_at LIMIT 1
"""  # noqa: S608 - a fragment of our own


def screen(host: SeatHost, seat_id: UUID, now: datetime) -> Clear | Refused:
    """Says whether a turn of this seat may start or go on now."""
    lease = host.lease_of(seat_id)
    early = _ours(host, lease)
    if early is not None or lease is None:
        return Refused(early or Reason.NO_LEASE)
    try:
        snapshot = epochs.active()
    except Unavailable:
        return Refused(Reason.UNCONFIGURED)
    turn = open_turn(seat_id, now)
    if turn is not None and turn.stage != "parked":
        return Clear(lease, snapshot, turn)
    reason = _waits(seat_id, snapshot, turn, now)
    return Refused(reason) if reason else Clear(lease, snapshot, turn)


def open_turn(seat_id: UUID, now: datetime) -> OpenTurn | None:
    """Returns the seat's turn that has not ended: a running one before a parked one.

    One that stands aside until a person speaks is none: the seat works its other mail.
    """
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, {"seat": seat_id, "now": now})
        row = cursor.fetchone()
    return OpenTurn(*row) if row else None


def _ours(host: SeatHost, lease: Lease | None) -> Reason | None:
    if host.draining or drain.is_draining():
        return Reason.DRAINING
    if lease is None:
        return Reason.NO_LEASE
    return None if host.fresh() else Reason.STALE_LEASE


def _waits(
    seat_id: UUID, snapshot: Snapshot, turn: OpenTurn | None, now: datetime
) -> Reason | None:
    if turn is not None and park.stop_of(turn.id, seat_id) is not None:
        return None  # its end is all that is left to do, and a pause may be what ended it
    hold = holds.standing(seat_id, now)
    if hold is not None:
        return Reason(hold.reason)
    refusal = budget_refusal(seat_id, snapshot, now)
    if refusal is not None:
        park.hold_for_budget(seat_id, refusal, now)
        return Reason.BUDGET_WINDOW
    if turn is not None and not park.is_due(turn, snapshot, now):
        return Reason.PARKED
    return None


def budget_refusal(seat_id: UUID, snapshot: Snapshot, now: datetime) -> Refusal | None:
    """Returns the window that has no room. One that cannot be read parks nothing: the meter inside
    the turn fails closed."""
    try:
        return windows.refusal(seat_id, snapshot, now)
    except DatabaseError as error:
        log.warning("budget_unreadable", extra={"seat": str(seat_id), "error": str(error)})
        return None


def count(reason: Reason, seat_id: UUID, **more: Any) -> None:
    """Counts a refusal and says it in the log."""
    REFUSALS.labels(reason.value).inc()
    log.debug("mail_waits", extra={"seat": str(seat_id), "reason": reason.value, **more})
