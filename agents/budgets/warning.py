"""Says once a window that it runs low, with the call that brought it there."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from agents.budgets.windows import COMPANY, Limits, Window, runs_low
from crewlet.kernel.events import EventType, publish


def warn(
    used: Mapping[tuple[str, str], int],
    limits: Limits,
    windows: tuple[Window, ...],
    *,
    spent: int,
    who: str,
    seat_id: UUID,
    turn_id: UUID | None,
) -> None:
    """Tells of every window that `spent` brought past the line, in the transaction of the call.

    A window over its ceiling is told as exhausted instead. `used` is what stands after the call.
    """
    for window in windows:
        for scope in sorted({scope for scope, _ in limits}):
            limit = limits.get((scope, window.kind))
            now = used.get((scope, window.kind.value), 0)
            if limit is None or not runs_low(now, limit) or runs_low(now - spent, limit):
                continue
            if now > limit:
                continue
            owner = "The company" if scope == COMPANY else who
            publish(
                EventType.BUDGET_RUNS_LOW,
                summary=f"{owner} has used {now * 100 // limit} % of the {limit:,} tokens for "
                f"this {window.kind}. At the ceiling work waits until "
                f"{window.ends_at.isoformat(timespec='minutes')}, or until it is raised.",
                seat_id=seat_id,
                turn_id=turn_id,
                topics=(f"seat:{who}",),
                payload={
                    "scope": scope,
                    "period": window.kind.value,
                    "window": window.starts_on.isoformat(),
                    "resets_at": window.ends_at.isoformat(),
                    "used": now,
                    "limit": limit,
                },
            )
