"""Token windows: a day, an ISO week and a month on the company's clock.

A window ends at a local midnight, so a day may have 23 or 25 hours. Nothing resets a window: it is
simply left, and the next one starts empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

WARN_FRACTION: Final = 0.8
"""Where a window first says that it runs low, while the turn that uses it up still runs."""
NEAR_FRACTION: Final = 0.9
COMPANY: Final = "company"


class WindowKind(StrEnum):
    """The three windows, in the order in which their rows are locked."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class BudgetState(StrEnum):
    """What a window means for the seat: it has room, it is nearly used up, or it has none."""

    OK = "ok"
    NEAR = "near"
    REFUSING = "refusing"


@dataclass(frozen=True, slots=True)
class Window:
    """One window: its first local day and the instant at which it is over."""

    kind: WindowKind
    starts_on: date
    ends_at: datetime


def midnight(day: date, tz: ZoneInfo) -> datetime:
    """Returns the instant at which a local day begins, in UTC.

    Where the clock skips midnight the day begins at the jump; where it strikes twice, at the first.
    """
    return datetime.combine(day, time.min, tzinfo=tz).astimezone(UTC)


def window_at(kind: WindowKind, now: datetime, tz: ZoneInfo) -> Window:
    """Returns the window of a kind that `now` (aware) falls into."""
    today = now.astimezone(tz).date()
    if kind is WindowKind.DAY:
        first, following = today, today + timedelta(days=1)
    elif kind is WindowKind.WEEK:
        first = today - timedelta(days=today.weekday())
        following = first + timedelta(days=7)
    else:
        first = today.replace(day=1)
        following = (first + timedelta(days=32)).replace(day=1)
    return Window(kind, first, midnight(following, tz))


def windows_at(now: datetime, tz: ZoneInfo) -> tuple[Window, ...]:
    """Returns the day, the week and the month that `now` falls into."""
    return tuple(window_at(kind, now, tz) for kind in WindowKind)


def seat_scope(seat_id: UUID) -> str:
    """Returns the scope under which a seat's tokens are counted."""
    return f"seat:{seat_id}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A window without room. `message` says it in words; `resets_at` is when to try again."""

    scope: str
    kind: WindowKind
    starts_on: date
    used: int
    limit: int
    resets_at: datetime
    who: str = ""

    @property
    def message(self) -> str:
        owner = "The company" if self.scope == COMPANY else (self.who or "The seat")
        return (
            f"{owner} has used {self.used:,} of {self.limit:,} tokens for this {self.kind}. "
            f"There is room again at {self.resets_at.isoformat(timespec='minutes')}, "
            "or as soon as somebody raises the budget."
        )

    def payload(self) -> dict[str, Any]:
        """Returns what events and parked turns keep of it."""
        return {
            "scope": self.scope,
            "period": self.kind.value,
            "window": self.starts_on.isoformat(),
            "resets_at": self.resets_at.isoformat(),
            "used": self.used,
            "limit": self.limit,
        }


Limits = Mapping[tuple[str, WindowKind], int]
"""(scope, kind) → tokens; a missing key has no ceiling."""


def limits_for(seat_id: UUID, snapshot: Snapshot) -> dict[tuple[str, WindowKind], int]:
    """Returns the ceilings of a seat and of the company, as the document sets them."""
    found = _limits(COMPANY, getattr(snapshot.document, "token_budget", None))
    handle = snapshot.handles.get(seat_id)
    seat = snapshot.chart.seats.get(handle) if handle else None
    if seat is not None:
        found.update(_limits(seat_scope(seat_id), getattr(seat.role, "token_budget", None)))
    return found


def _limits(scope: str, budget: object) -> dict[tuple[str, WindowKind], int]:
    if budget is None:
        return {}
    ceilings = {kind: getattr(budget, kind.value, None) for kind in WindowKind}
    return {(scope, kind): limit for kind, limit in ceilings.items() if limit is not None}


def state_of(used: int, limit: int | None) -> BudgetState:
    """Returns the one word for a window; without a ceiling it is always `ok`."""
    if limit is None:
        return BudgetState.OK
    if used >= limit:
        return BudgetState.REFUSING
    return BudgetState.NEAR if used >= limit * NEAR_FRACTION else BudgetState.OK


def runs_low(used: int, limit: int) -> bool:
    """Whether people are to know that the ceiling comes near, while there is room still."""
    return used >= limit * WARN_FRACTION


_USED = """
SELECT scope, kind, used FROM agents_budgetwindow
WHERE scope = ANY(%s) AND (kind, starts_on) IN ((%s, %s), (%s, %s), (%s, %s))
"""


def used_in(scopes: Iterable[str], windows: tuple[Window, ...]) -> dict[tuple[str, str], int]:
    """Returns the tokens used, by (scope, kind); windows that nobody opened are missing."""
    places = [part for window in windows for part in (window.kind.value, window.starts_on)]
    with connection.cursor() as cursor:
        cursor.execute(_USED, [list(scopes), *places])
        return {(scope, kind): used for scope, kind, used in cursor.fetchall()}


def refusal(seat_id: UUID, snapshot: Snapshot, now: datetime) -> Refusal | None:
    """Returns the window that refuses a seat's next turn, or None when every window has room.

    Of several the one that resets last, because only then may the seat work again. One query;
    none when neither the seat nor the company has a ceiling.
    """
    limits = limits_for(seat_id, snapshot)
    if not limits:
        return None
    windows = windows_at(now, snapshot.timezone)
    used = used_in({scope for scope, _ in limits}, windows)
    who = snapshot.handles.get(seat_id, "")
    return last_of(refused_by(used, limits, windows, who=who, over=False))


def refused_by(
    used: Mapping[tuple[str, str], int],
    limits: Limits,
    windows: tuple[Window, ...],
    *,
    who: str,
    over: bool,
) -> list[Refusal]:
    """Returns every window that refuses, the company's before the seat's.

    `over` judges what was just counted: reaching a ceiling exactly is allowed, passing it is not.
    Otherwise one more token must fit.
    """
    found = []
    for scope in sorted({scope for scope, _ in limits}, key=lambda name: name != COMPANY):
        for window in windows:
            limit = limits.get((scope, window.kind))
            amount = used.get((scope, window.kind.value), 0)
            if limit is None or (amount <= limit if over else amount < limit):
                continue
            found.append(
                Refusal(scope, window.kind, window.starts_on, amount, limit, window.ends_at, who)
            )
    return found


def last_of(refusals: Iterable[Refusal]) -> Refusal | None:
    """Returns the refusal that lasts longest."""
    return max(refusals, key=lambda item: item.resets_at, default=None)
