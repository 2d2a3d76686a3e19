"""The read side of budgets: what was used, of what, until when. Pages divide nothing themselves."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import DatabaseError, connection

from agents.budgets.windows import (
    COMPANY,
    NEAR_FRACTION,
    BudgetState,
    Window,
    limits_for,
    seat_scope,
    state_of,
    used_in,
    windows_at,
)

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WindowUse:
    """One window of one scope. `share` is used / limit, None without a ceiling."""

    kind: str
    used: int
    limit: int | None
    state: BudgetState
    share: float | None
    starts_on: date
    resets_at: datetime
    refused_at: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns the window as every door shows it."""
        return {
            "kind": self.kind,
            "used": self.used,
            "limit": self.limit,
            "state": self.state.value,
            "share": self.share,
            "starts_on": self.starts_on.isoformat(),
            "resets_at": self.resets_at.isoformat(),
            "refused_at": self.refused_at.isoformat() if self.refused_at else None,
        }


@dataclass(frozen=True, slots=True)
class ScopeUse:
    """The windows of the company or of one seat; `name` is what it is called."""

    scope: str
    handle: str
    name: str
    windows: tuple[WindowUse, ...]

    @property
    def state(self) -> BudgetState:
        """The worst word of its windows."""
        order = (BudgetState.OK, BudgetState.NEAR, BudgetState.REFUSING)
        return max((w.state for w in self.windows), key=order.index, default=BudgetState.OK)

    def as_json(self) -> dict[str, Any]:
        """Returns the scope as every door shows it."""
        return {
            "scope": self.scope,
            "handle": self.handle,
            "name": self.name,
            "state": self.state.value,
            "windows": [window.as_json() for window in self.windows],
        }


def budgets(snapshot: Snapshot, now: datetime) -> list[ScopeUse]:
    """Returns the company, then every agent seat in the chart's order. Two queries."""
    windows = windows_at(now, snapshot.timezone)
    seats = [seat for seat in snapshot.chart.walk() if seat.is_agent]
    scopes = {COMPANY: ("", snapshot.document.name)}
    ceilings: dict[tuple[str, Any], int] = {}
    for seat in seats:
        seat_id = snapshot.seat_ids[seat.handle]
        scopes[seat_scope(seat_id)] = (seat.handle, seat.name)
        ceilings.update(limits_for(seat_id, snapshot))
    if not seats:
        ceilings.update(limits_for(UUID(int=0), snapshot))
    used = used_in(scopes, windows)
    stamps = _stamps(list(scopes), windows)
    return [
        ScopeUse(scope, handle, name, _uses(scope, windows, used, ceilings, stamps))
        for scope, (handle, name) in scopes.items()
    ]


def budget_of(seat_id: UUID, snapshot: Snapshot, now: datetime) -> list[ScopeUse]:
    """Returns one seat's windows and the company's, which both rule it."""
    windows = windows_at(now, snapshot.timezone)
    handle = snapshot.handles.get(seat_id, "")
    seat = snapshot.chart.seats.get(handle)
    scopes = {
        seat_scope(seat_id): (handle, seat.name if seat else handle),
        COMPANY: ("", snapshot.document.name),
    }
    limits = limits_for(seat_id, snapshot)
    used = used_in(scopes, windows)
    stamps = _stamps(list(scopes), windows)
    return [
        ScopeUse(scope, owner, name, _uses(scope, windows, used, limits, stamps))
        for scope, (owner, name) in scopes.items()
    ]


def readable(snapshot: Snapshot, now: datetime) -> list[ScopeUse] | None:
    """Returns what `budgets` does; None while the counters cannot be read: no figure is shown."""
    try:
        return budgets(snapshot, now)
    except DatabaseError:
        log.exception("the budget counters cannot be read")
        return None


def payload(snapshot: Snapshot, now: datetime) -> dict[str, Any]:
    """Returns every window as JSON. `durable` is false, without a scope, while none can be read."""
    scopes = readable(snapshot, now)
    return {
        "durable": scopes is not None,
        "near_fraction": NEAR_FRACTION,
        "tz": snapshot.timezone.key,
        "scopes": [scope.as_json() for scope in scopes or []],
    }


def _uses(
    scope: str,
    windows: tuple[Window, ...],
    used: dict[tuple[str, str], int],
    limits: dict[tuple[str, Any], int],
    stamps: dict[tuple[str, str], datetime],
) -> tuple[WindowUse, ...]:
    found = []
    for window in windows:
        amount = used.get((scope, window.kind.value), 0)
        limit = limits.get((scope, window.kind))
        found.append(
            WindowUse(
                kind=window.kind.value,
                used=amount,
                limit=limit,
                state=state_of(amount, limit),
                share=round(amount / limit, 4) if limit else None,
                starts_on=window.starts_on,
                resets_at=window.ends_at,
                refused_at=stamps.get((scope, window.kind.value)),
            )
        )
    return tuple(found)


_STAMPS = """
SELECT scope, kind, refused_at FROM agents_budgetwindow
WHERE scope = ANY(%s) AND refused_at IS NOT NULL AND ends_at = ANY(%s)
"""


def _stamps(scopes: list[str], windows: tuple[Window, ...]) -> dict[tuple[str, str], datetime]:
    with connection.cursor() as cursor:
        cursor.execute(_STAMPS, (scopes, [window.ends_at for window in windows]))
        return {(scope, kind): at for scope, kind, at in cursor.fetchall()}
