"""The read side of budgets: what was used, of what, until when. Pages divide nothing themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection

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


def payload(snapshot: Snapshot, now: datetime) -> dict[str, Any]:
    """Returns the whole page of budgets as JSON."""
    return {
        "durable": True,
        "near_fraction": NEAR_FRACTION,
        "tz": snapshot.timezone.key,
        "scopes": [scope.as_json() for scope in budgets(snapshot, now)],
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


_BY_DAY = """
SELECT day, sum(tokens_in)::bigint, sum(tokens_out)::bigint, count(*)
FROM agents_llmcall WHERE day >= %s AND (%s::uuid IS NULL OR seat_id = %s)
GROUP BY day ORDER BY day
"""


@dataclass(frozen=True, slots=True)
class DaySpend:
    """The tokens of one company day."""

    day: date
    tokens_in: int
    tokens_out: int
    calls: int


def spent_by_day(since: date, seat_id: UUID | None = None) -> list[DaySpend]:
    """Returns what was spent on each company day from `since` on; empty days are missing."""
    with connection.cursor() as cursor:
        cursor.execute(_BY_DAY, (since, seat_id, seat_id))
        return [DaySpend(*row) for row in cursor.fetchall()]


_BREAKDOWN = """
SELECT seat_id, phase, model, provider_entry, sum(tokens_in)::bigint, sum(tokens_out)::bigint,
    sum(cache_read)::bigint, count(*), count(*) FILTER (WHERE refused)
FROM agents_llmcall WHERE day >= %s AND day < %s
GROUP BY seat_id, phase, model, provider_entry
ORDER BY sum(tokens_in + tokens_out) DESC
"""


def breakdown(since: date, until: date) -> list[dict[str, Any]]:
    """Returns the spend of company days `since` ≤ day < `until` by seat, phase and model.

    `cache_read` is None where no call of the group reported any.
    """
    names = (
        "seat_id", "phase", "model", "provider_entry", "tokens_in", "tokens_out", "cache_read",
        "calls", "refused",
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_BREAKDOWN, (since, until))
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
