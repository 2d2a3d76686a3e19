"""Tokens used and what is left of the budgets, as the server judges it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agents.budgets.windows import (
    COMPANY,
    NEAR_FRACTION,
    Window,
    WindowKind,
    limits_for,
    seat_scope,
    state_of,
    used_in,
    windows_at,
)
from agents.models.budgets import BudgetWindow
from agents.queries.rows import Row
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from orgs import epochs

if TYPE_CHECKING:
    from uuid import UUID

    from orgs.epochs import Snapshot


@dataclass(frozen=True, slots=True)
class _Ledger:
    """What was read of the budgets at one instant."""

    snapshot: Snapshot
    windows: tuple[Window, ...]
    used: dict[tuple[str, str], int]
    refused: dict[tuple[str, str], datetime]

    def rows(self, scope: str, seat_id: UUID | None) -> list[Row]:
        """Returns a scope's windows; a refusal that still stands makes one `refusing`."""
        limits = limits_for(seat_id or next(iter(self.snapshot.seat_ids.values())), self.snapshot)
        found = []
        for window in self.windows:
            place = (scope, window.kind.value)
            limit, at = limits.get((scope, window.kind)), self.refused.get(place)
            spent = self.used.get(place, 0)
            state = "refusing" if at and limit is not None else state_of(spent, limit).value
            found.append(
                {
                    "kind": window.kind.value,
                    "used": spent,
                    "limit": limit,
                    "state": state,
                    "resets_at": window.ends_at,
                    "refused_at": at,
                }
            )
        return found


def _read(snapshot: Snapshot, scopes: list[str], now: datetime) -> _Ledger:
    windows = windows_at(now, snapshot.timezone)
    stamped = BudgetWindow.objects.filter(
        scope__in=scopes, refused_at__isnull=False, ends_at__gt=now
    )
    refused = {(row.scope, row.kind): row.refused_at for row in stamped if row.refused_at}
    return _Ledger(snapshot, windows, used_in(scopes, windows), refused)


def tokens_week(actor: Actor) -> Row | None:
    """Returns the company's week: tokens used, its ceiling (None without one) and the state."""
    if epochs.current() is None:
        return None
    windows = _read(epochs.active(), [COMPANY], clock.now()).rows(COMPANY, None)
    return next(window for window in windows if window["kind"] == WindowKind.WEEK.value)


def seat_windows(snapshot: Snapshot, seat_id: UUID, now: datetime) -> list[Row]:
    """Returns the day, week and month of a seat."""
    scope = seat_scope(seat_id)
    return _read(snapshot, [scope], now).rows(scope, seat_id)


def budgets(actor: Actor) -> Row:
    """Returns every scope with its windows, the company first."""
    snapshot = epochs.active()
    agents = [seat.handle for seat in snapshot.chart.seats.values() if seat.kind == "agent"]
    ids = {handle: snapshot.seat_ids[handle] for handle in agents}
    ledger = _read(snapshot, [COMPANY, *map(seat_scope, ids.values())], clock.now())
    company = {
        "scope": COMPANY,
        "name": snapshot.document.name,
        "windows": ledger.rows(COMPANY, None),
    }
    seats = [
        {
            "scope": seat_scope(ident),
            "name": handle,
            "windows": ledger.rows(seat_scope(ident), ident),
        }
        for handle, ident in ids.items()
    ]
    return {
        "durable": True,
        "near_fraction": NEAR_FRACTION,
        "tz": snapshot.timezone.key,
        "scopes": [company, *seats],
    }
