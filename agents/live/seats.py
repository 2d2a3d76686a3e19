"""One seat: what it is for, what waits for it, what it did."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from agents.budgets.spend import budget_of
from agents.models.mail import Delivery
from agents.queries import rows
from agents.queries.rows import Row
from agents.queries.turns import seat_stats
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import NotFound
from crewlet.kernel.nearest import nearest
from orgs import epochs
from orgs.epochs import Snapshot

_WAITING_SHOWN = 10


def seat_about(actor: Actor, handle: str) -> Row:
    """Returns a seat's charter, waiting mail, budgets and the figures of seven days.

    Raises `NotFound` with the nearest handles for an address that nobody has.
    """
    snapshot = epochs.active()
    seat = snapshot.chart.seats.get(handle)
    if seat is None:
        near = nearest(handle, snapshot.chart.seats)
        raise NotFound(
            f"Nobody here has the handle '{handle}'." + (f" Did you mean {near}?" if near else ""),
            field="handle",
        )
    seat_id = snapshot.seat_ids[handle]
    chart = snapshot.chart
    unit = chart.units[seat.unit] if seat.unit else None
    waiting, now = Delivery.objects.filter(seat_id=seat_id), clock.now()
    return {
        "about": {
            "goal": seat.goal,
            "backstory": seat.backstory,
            "responsibilities": list(seat.responsibilities),
            "guidelines": list(seat.behavioral_guidelines),
            "unit": {"key": unit.key, "name": unit.name} if unit else None,
            "managers": [_party(snapshot, name) for name in chart.managers(handle)],
            "reports": [_party(snapshot, name) for name in chart.reports(handle)],
            "project": seat.project or (unit.project if unit else "") or "",
        },
        "waiting": waiting.count(),
        "waiting_rows": [
            {
                "at": mail.event_ts,
                "title": mail.payload.get("summary", ""),
                "kind": mail.kind,
                "reason": _why_waiting(mail, now),
            }
            for mail in waiting.order_by("event_ts")[:_WAITING_SHOWN]
        ],
        "budget": _budget(snapshot, seat_id) if seat.is_agent else [],
        "stats": seat_stats(handle),
    }


def _why_waiting(mail: Delivery, now: datetime) -> str:
    """Returns why a letter has not been worked yet; nothing for one that is simply next."""
    if mail.turn_id is not None:
        return "in the open turn"
    if mail.not_before is not None and mail.not_before > now:
        return f"not before {mail.not_before:%a %H:%M} UTC"
    if mail.last_error:
        return f"tried {mail.attempts} times: {mail.last_error[:200]}"
    return ""


def _budget(snapshot: Snapshot, seat_id: UUID) -> list[Row]:
    own = budget_of(seat_id, snapshot, clock.now())[0]
    return [
        {
            "kind": window.kind,
            "used": window.used,
            "limit": window.limit,
            "state": window.state.value,
            "resets_at": window.resets_at,
        }
        for window in own.windows
    ]


def _party(snapshot: Snapshot, handle: str) -> Row:
    seat = snapshot.chart.seats[handle]
    return rows.party(handle, seat.name, seat.kind)
