"""The journal's statements, spoken through psycopg: the object mapper triples what a step costs.

Every function takes the cursor of a transaction that is already fenced and writes one kind of row.
Only `agents.turn.journal` calls them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from agents.turn.machine import End
from agents.turn.record import CallRecord, IterationRow, PhaseRecord, RoundRecord
from agents.turn.storable import clean, cleaned
from crewlet.kernel.ids import new_id


class Cursor(Protocol):
    """The part of a database cursor that the journal needs."""

    rowcount: int

    def execute(self, sql: str, params: Any = None) -> Any: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


def as_json(value: Any) -> str | None:
    """Renders a column of JSON; what Postgres cannot hold is cleaned out of its strings."""
    if value is None:
        return None
    try:
        body = json.dumps(value, default=str, allow_nan=False)
    except ValueError:
        return None
    if "\\u0000" in body or "\\ud" in body:
        body = json.dumps(cleaned(value), default=str)
    return body


_TURN = """
INSERT INTO agents_turn
    (id, seat_id, work_key, reply_kind, reply_surface, trigger, constituents, batch_key,
     conversation, work_item, work_item_key, epoch, depth, chain, parent_turn, agent_caused, node,
     lease_epoch, attempt, node_lost, stage, phase, iteration, correction, park_reason, park_detail,
     wake_at, submitted, decision, outcome, error_kind, error, stopped_by, result, tokens_in,
     tokens_out, calls, started_at, ended_at, worked_ms)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 0, 'context',
        'execute', 1, '', '', '{}', NULL, '', '', '', '', '', '', '', 0, 0, 0, %s, NULL, 0)
"""

_SEGMENT = """
INSERT INTO agents_segment
    (id, turn_id, kind, launch_id, node, started_at, ms, tokens_in, tokens_out)
VALUES (%s, %s, %s, %s, %s, %s, 0, 0, 0)
ON CONFLICT (turn_id, kind, launch_id) DO NOTHING
"""


def insert_turn(
    cursor: Cursor, turn_id: UUID, seat_id: UUID, values: Sequence[Any], now: datetime
) -> None:
    cursor.execute(_TURN, (turn_id, seat_id, *values, now))


def insert_segment(
    cursor: Cursor, turn_id: UUID, *, kind: str, launch_id: str, node: str, now: datetime
) -> None:
    cursor.execute(_SEGMENT, (new_id(), turn_id, kind, launch_id, node, now))


_PHASE = """
INSERT INTO agents_phase
    (id, turn_id, phase, iteration, status, provider_key, model, system, system_outline, "user",
     user_outline, tools, max_rounds, declined, rescued, error_kind, error, submission, started_at,
     ended_at, host_round, round_ceiling)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (turn_id, phase, iteration, host_round) DO NOTHING
"""

_PHASE_STATE = """
UPDATE agents_phase SET status = %s, provider_key = %s, model = %s, declined = %s, rescued = %s,
    error_kind = %s, error = %s, submission = %s, ended_at = %s
WHERE id = %s
"""


_PHASE_TOOLS = "UPDATE agents_phase SET tools = %s WHERE id = %s"


def write_phase(cursor: Cursor, turn_id: UUID, phase: PhaseRecord) -> None:
    """Stores a phase, prompts and all; later writes only move its state."""
    if phase.stored:
        state = (
            phase.status, phase.provider_key, phase.model, phase.declined, phase.rescued,
            phase.error_kind, clean(phase.error), as_json(phase.submission), phase.ended_at,
        )  # fmt: skip
        cursor.execute(_PHASE_STATE, (*state, phase.id))
        if phase.widened:
            cursor.execute(_PHASE_TOOLS, (as_json(phase.tools), phase.id))
            phase.widened = False
        return
    cursor.execute(
        _PHASE,
        (
            phase.id, turn_id, phase.phase.value, phase.iteration, phase.status,
            phase.provider_key, phase.model, clean(phase.system), as_json(phase.system_outline),
            clean(phase.user), as_json(phase.user_outline), as_json(phase.tools),
            phase.max_rounds, phase.declined, phase.rescued, phase.error_kind,
            clean(phase.error), as_json(phase.submission), phase.started_at, phase.ended_at,
            phase.host_round, phase.round_ceiling,
        ),
    )  # fmt: skip
    phase.stored = True


_ROUND = """
WITH counted AS (
    UPDATE agents_turn
    SET stage = 'phase', phase = %s, iteration = %s, correction = %s, calls = calls + 1,
        tokens_in = tokens_in + %s, tokens_out = tokens_out + %s
    WHERE id = %s
)
INSERT INTO agents_round
    (id, phase_id, n, started_at, ms, stop_reason, model, provider_key, tokens_in, tokens_out,
     cache_read, cache_write, reasoning, content, declined, heard, note, answer,
     full_context)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the turn stands once an answer is folded: what pages show until the next one."""

    phase: str
    iteration: int
    correction: str = ""


def write_round(
    cursor: Cursor, turn_id: UUID, phase: PhaseRecord, item: RoundRecord, place: Place
) -> None:
    """Stores an answer byte for byte with the rows of its calls, and counts it on the turn."""
    answer, usage = item.answer, item.answer.usage
    cursor.execute(
        _ROUND,
        (
            place.phase, place.iteration, clean(place.correction), usage.input, usage.output,
            turn_id,
            item.id, phase.id, item.n, item.started_at, item.ms, answer.stop.value,
            answer.model, answer.provider_key, usage.input, usage.output, usage.cache_read,
            usage.cache_write, clean(answer.reasoning), clean(answer.text), bool(item.note),
            item.heard, item.note, json.dumps(answer.to_json()), item.full,
        ),
    )  # fmt: skip
    write_calls(cursor, item.id, item.calls)


_CALL_COLUMNS = """
INSERT INTO agents_toolcall
    (id, round_id, ord, call_id, name, args, args_text, origin, server, read_only, surface, op_id,
     status, ok, result, refs, started_at, ms)
VALUES """


def write_calls(cursor: Cursor, round_id: UUID, calls: Sequence[CallRecord]) -> None:
    """Stores the calls of an answer, before any of them has had an effect."""
    if not calls:
        return
    row = f"({', '.join(['%s'] * 18)})"
    params: list[Any] = []
    for call in calls:
        params += [
            call.id, round_id, call.ord, clean(call.call_id)[:128], clean(call.name)[:128],
            as_json(call.args), clean(call.args_text), call.origin, call.server, call.read_only,
            call.surface, call.op_id, call.status, call.ok, clean(call.result), _refs(call),
            call.started_at, call.ms,
        ]  # fmt: skip
    cursor.execute(_CALL_COLUMNS + ", ".join([row] * len(calls)), params)


_RESULT = """
UPDATE agents_toolcall
SET status = 'done', ok = %s, result = %s, refs = %s, started_at = %s, ms = %s
WHERE id = %s
"""


def write_results(cursor: Cursor, calls: Iterable[CallRecord]) -> None:
    for call in calls:
        cursor.execute(
            _RESULT,
            (call.ok, clean(call.result), _refs(call), call.started_at, call.ms, call.id),
        )


def _refs(call: CallRecord) -> list[str]:
    return [clean(ref)[:120] for ref in call.refs]


_ITERATION = """
INSERT INTO agents_iterationrecord
    (id, turn_id, n, intent, outcome, calls, artifact, artifact_hash, decision, notes,
     completed_work, engine_correction, at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (turn_id, n) DO NOTHING
"""


def write_iteration(
    cursor: Cursor, turn_id: UUID, row: IterationRow, calls: list[dict[str, Any]], now: datetime
) -> None:
    cursor.execute(
        _ITERATION,
        (
            new_id(), turn_id, row.n, clean(row.intent), row.outcome, as_json(calls),
            clean(row.artifact), row.artifact_hash, row.decision, clean(row.notes),
            clean(row.completed_work), clean(row.engine_correction), now,
        ),
    )  # fmt: skip


_PARK = """
UPDATE agents_turn SET stage = 'parked', park_reason = %s, park_detail = %s, wake_at = %s,
    worked_ms = worked_ms + %s
WHERE id = %s
"""

_SETTLE = """
UPDATE agents_turn SET stage = 'done', phase = '', park_reason = '', wake_at = NULL, outcome = %s,
    decision = %s, submitted = %s, error_kind = %s, error = %s, stopped_by = %s, result = %s,
    ended_at = %s, worked_ms = worked_ms + %s, work_item = %s, work_item_key = %s
WHERE id = %s
RETURNING tokens_in, tokens_out, calls, worked_ms
"""

_CLOSE_SEGMENT = """
UPDATE agents_segment s SET ms = s.ms + %s,
    tokens_in = t.tokens_in - coalesce(o.tokens_in, 0),
    tokens_out = t.tokens_out - coalesce(o.tokens_out, 0)
FROM agents_turn t, (
    SELECT sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out FROM agents_segment
    WHERE turn_id = %s AND id <> (
        SELECT id FROM agents_segment WHERE turn_id = %s ORDER BY started_at DESC, id DESC LIMIT 1)
) o
WHERE t.id = %s AND s.id = (
    SELECT id FROM agents_segment WHERE turn_id = %s ORDER BY started_at DESC, id DESC LIMIT 1)
"""


def close_segment(cursor: Cursor, turn_id: UUID, ms: int) -> None:
    """Gives the running segment its length and the tokens that no earlier one has."""
    cursor.execute(_CLOSE_SEGMENT, (ms, turn_id, turn_id, turn_id, turn_id))


def park_turn(
    cursor: Cursor,
    turn_id: UUID,
    *,
    reason: str,
    detail: dict[str, Any],
    until: datetime,
    ms: int,
) -> None:
    cursor.execute(_PARK, (reason, as_json(detail), until, ms, turn_id))


def settle_turn(
    cursor: Cursor, turn_id: UUID, end: End, *, submitted: str, stopped_by: str, result: str,
    now: datetime, ms: int, work_item: dict[str, Any] | None,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Writes the outcome; returns tokens in and out, model calls, and milliseconds worked."""
    key = str(work_item.get("key", "")) if work_item else ""
    cursor.execute(
        _SETTLE,
        (
            end.outcome.value, end.decision, submitted, end.error_kind, clean(end.error),
            stopped_by, clean(result), now, ms, as_json(work_item), key, turn_id,
        ),
    )  # fmt: skip
    tokens_in, tokens_out, calls, worked = cursor.fetchone()
    return tokens_in, tokens_out, calls, worked
