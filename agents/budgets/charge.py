"""Every model call is charged when it returns, in the transaction that records its answer.

Lock order: the windows are the last rows a transaction locks, one by one: the seat's day, week and
month, then the company's. Two turns that end a round together therefore wait and never deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from agents.budgets.warning import warn
from agents.budgets.windows import (
    COMPANY,
    Limits,
    Refusal,
    last_of,
    refused_by,
    seat_scope,
    windows_at,
)
from agents.llm.base import Usage
from crewlet.kernel.ids import new_id


class Cursor(Protocol):
    """The part of a database cursor that is used here."""

    def execute(self, sql: str, params: Any = None) -> Any: ...

    def fetchall(self) -> list[tuple[Any, ...]]: ...


@dataclass(frozen=True, slots=True)
class Charge:
    """One model call as it is charged. `purpose` names an auxiliary call."""

    seat_id: UUID
    who: str
    turn_id: UUID | None
    phase: str
    usage: Usage
    model: str
    provider_entry: str
    stage: str = "turn"
    purpose: str = ""
    unobserved: bool = False


_CHARGE = """
WITH call AS (
    INSERT INTO agents_llmcall
        (id, ts, day, seat_id, turn_id, phase, stage, purpose, model, provider_entry,
         tokens_in, tokens_out, cache_read, cache_write, refused, estimated, unobserved)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, false, %s, %s)
)
INSERT INTO agents_budgetwindow (scope, kind, starts_on, ends_at, used, tz)
VALUES (%s, %s, %s, %s, %s, %s), (%s, %s, %s, %s, %s, %s), (%s, %s, %s, %s, %s, %s),
       (%s, %s, %s, %s, %s, %s), (%s, %s, %s, %s, %s, %s), (%s, %s, %s, %s, %s, %s)
ON CONFLICT (scope, kind, starts_on) DO UPDATE
    SET used = agents_budgetwindow.used + excluded.used,
        ends_at = excluded.ends_at, tz = excluded.tz
RETURNING scope, kind, used
"""

_REFUSED_CALL = "UPDATE agents_llmcall SET refused = true WHERE id = %s"

_STAMP = """
UPDATE agents_budgetwindow SET refused_at = coalesce(refused_at, %s)
WHERE scope = %s AND kind = %s AND starts_on = %s
"""


def charge(
    cursor: Cursor, item: Charge, *, limits: Limits, tz: ZoneInfo, now: datetime
) -> Refusal | None:
    """Counts a call in all six windows and returns the refusal it caused, or None.

    The call that brings a window past the line where it runs low is told as an event at once.
    A call over a ceiling is counted and refused: its answer stays on record and no further model
    call may follow. Call it last in the transaction.
    """
    windows = windows_at(now, tz)
    scopes = (seat_scope(item.seat_id), COMPANY)
    call_id, usage = new_id(), item.usage
    params: list[Any] = [
        call_id, now, windows[0].starts_on, item.seat_id, item.turn_id, item.phase, item.stage,
        item.purpose, item.model, item.provider_entry, usage.input, usage.output,
        usage.cache_read, usage.cache_write, usage.estimated, item.unobserved,
    ]  # fmt: skip
    for scope in scopes:
        for window in windows:
            params += [
                scope, window.kind.value, window.starts_on, window.ends_at, usage.total, tz.key,
            ]  # fmt: skip
    cursor.execute(_CHARGE, params)
    used = {(scope, kind): amount for scope, kind, amount in cursor.fetchall()}
    warn(
        used, limits, windows, spent=usage.total, who=item.who, seat_id=item.seat_id,
        turn_id=item.turn_id,
    )  # fmt: skip
    refused = refused_by(used, limits, windows, who=item.who, over=True)
    for one in refused:
        cursor.execute(_STAMP, (now, one.scope, one.kind.value, one.starts_on))
    if refused:
        cursor.execute(_REFUSED_CALL, (call_id,))
    return last_of(refused)
