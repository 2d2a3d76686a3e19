"""Reads a turn's rows back into a record: six queries, whatever its length."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from agents.llm.base import Answer
from agents.turn.machine import PhaseName
from agents.turn.record import (
    CallRecord,
    IterationRow,
    PhaseRecord,
    RoundRecord,
    TurnHead,
    TurnRecord,
    Wait,
)
from crewlet.kernel.errors import NotFound

_HEAD = """
SELECT id, seat_id, work_key, reply_kind, reply_surface, trigger, constituents, batch_key,
    conversation, work_item, epoch, depth, chain, parent_turn, agent_caused, started_at, attempt,
    calls, park_detail
FROM agents_turn WHERE id = %s
"""

_PHASES = """
SELECT id, phase, iteration, status, provider_key, model, system, system_outline, "user",
    user_outline, tools, max_rounds, declined, rescued, error_kind, error, submission, started_at,
    ended_at, host_round, round_ceiling
FROM agents_phase WHERE turn_id = %s ORDER BY iteration, started_at, id
"""

_ROUNDS = """
SELECT r.id, r.phase_id, r.n, r.started_at, r.ms, r.heard, r.note, r.answer, r.full_context
FROM agents_round r JOIN agents_phase p ON p.id = r.phase_id
WHERE p.turn_id = %s ORDER BY r.phase_id, r.n
"""

_CALLS = """
SELECT c.id, c.round_id, c.ord, c.name, c.args_text, c.origin, c.server, c.read_only, c.surface,
    c.op_id, c.status, c.ok, c.result, c.refs, c.started_at, c.ms
FROM agents_toolcall c JOIN agents_round r ON r.id = c.round_id
JOIN agents_phase p ON p.id = r.phase_id
WHERE p.turn_id = %s ORDER BY c.round_id, c.ord
"""

_WAITS = """
SELECT call_id, id, kind, state, until, decision, words, edited_text, by
FROM agents_suspension WHERE turn_id = %s
"""

_ITERATIONS = """
SELECT n, outcome, artifact, artifact_hash, intent, decision, notes, completed_work,
    engine_correction
FROM agents_iterationrecord WHERE turn_id = %s ORDER BY n
"""


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _rows(sql: str, turn_id: UUID) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, (turn_id,))
        return list(cursor.fetchall())


def read(turn_id: UUID) -> tuple[TurnRecord, dict[str, Any]]:
    """Returns a turn's record and what its last park left behind.

    The second holds `clean` when the turn was parked in good order; without it a worker was lost,
    and a call without a result may have happened. A turn without an answer costs one query.
    Raises NotFound.
    """
    found = _rows(_HEAD, turn_id)
    if not found:
        raise NotFound(f"There is no turn {turn_id}.")
    *opening, calls, detail = found[0]
    record = TurnRecord(_head(opening))
    if calls:
        _fill(record)
    return record, dict(_json(detail))


_STANDING = """
SELECT t.seat_id, s.handle, t.stage, t.outcome
FROM agents_turn t JOIN orgs_seat s ON s.id = t.seat_id WHERE t.id = %s
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """Whose turn it is and where it stands."""

    id: UUID
    seat_id: UUID
    handle: str
    stage: str
    outcome: str


def standing(turn_id: UUID) -> Standing:
    """Returns whose turn it is and where it stands. Raises NotFound."""
    found = _rows(_STANDING, turn_id)
    if not found:
        raise NotFound(f"There is no turn {turn_id}.", field="turn")
    return Standing(turn_id, *found[0])


_OPEN_OF = """
SELECT id FROM agents_turn WHERE seat_id = %s AND stage <> 'done'
ORDER BY stage = 'parked', started_at DESC LIMIT 1
"""


def open_of(seat_id: UUID) -> Standing | None:
    """Returns the turn of a seat that has not ended, a running one before a parked one."""
    found = _rows(_OPEN_OF, seat_id)
    return standing(found[0][0]) if found else None


def head(turn_id: UUID) -> TurnHead:
    """Returns what a turn was claimed with. Raises NotFound."""
    found = _rows(_HEAD, turn_id)
    if not found:
        raise NotFound(f"There is no turn {turn_id}.")
    return _head(list(found[0][:-2]))


def _head(row: list[Any]) -> TurnHead:
    (
        ident, seat_id, work_key, reply_kind, reply_surface, trigger, constituents, batch_key,
        conversation, work_item, epoch, depth, chain, parent_turn, agent_caused, started_at,
        attempt,
    ) = row  # fmt: skip
    return TurnHead(
        id=ident,
        seat_id=seat_id,
        work_key=work_key,
        reply_kind=reply_kind,
        reply_surface=reply_surface,
        trigger=_json(trigger),
        constituents=_json(constituents),
        batch_key=batch_key,
        conversation=conversation,
        work_item=_json(work_item),
        epoch=epoch,
        depth=depth,
        chain=tuple(_json(chain)),
        parent_turn=parent_turn,
        agent_caused=agent_caused,
        started_at=started_at,
        attempt=attempt,
    )


def _fill(record: TurnRecord) -> None:
    turn_id = record.head.id
    phases = {row[0]: _phase(row) for row in _rows(_PHASES, turn_id)}
    rounds: dict[UUID, RoundRecord] = {}
    for ident, phase_id, n, started_at, ms, heard, note, answer, full in _rows(_ROUNDS, turn_id):
        item = RoundRecord(
            ident, n, Answer.from_json(answer), started_at, ms, note=note, heard=heard, full=full
        )
        rounds[ident] = item
        phases[phase_id].rounds.append(item)
    for row in _rows(_CALLS, turn_id):
        rounds[row[1]].calls.append(_call(row, rounds[row[1]].answer))
    record.phases = list(phases.values())
    record.waits = {row[0]: Wait(*row[1:]) for row in _rows(_WAITS, turn_id)}
    record.iterations = [IterationRow(*row) for row in _rows(_ITERATIONS, turn_id)]


def _phase(row: tuple[Any, ...]) -> PhaseRecord:
    (
        ident, phase, iteration, status, provider_key, model, system, system_outline, user,
        user_outline, tools, max_rounds, declined, rescued, error_kind, error, submission,
        started_at, ended_at, host_round, round_ceiling,
    ) = row  # fmt: skip
    return PhaseRecord(
        id=ident,
        phase=PhaseName(phase),
        iteration=iteration,
        system=system,
        user=user,
        system_outline=_json(system_outline),
        user_outline=_json(user_outline),
        tools=_json(tools),
        max_rounds=max_rounds,
        started_at=started_at,
        provider_key=provider_key,
        model=model,
        status=status,
        rescued=rescued,
        declined=declined,
        submission=_json(submission),
        error_kind=error_kind,
        error=error,
        ended_at=ended_at,
        host_round=host_round,
        round_ceiling=round_ceiling,
        stored=True,
    )


def _call(row: tuple[Any, ...], answer: Answer) -> CallRecord:
    """The id and the arguments come from the answer itself, where every digit is as it was sent."""
    (
        ident, _, order, name, args_text, origin, server, read_only, surface, op_id, status, ok,
        result, refs, started_at, ms,
    ) = row  # fmt: skip
    part = answer.calls[order]
    return CallRecord(
        id=ident,
        ord=order,
        call_id=part.id,
        name=name,
        args=part.arguments,
        args_text=args_text,
        origin=origin,
        server=server,
        read_only=read_only,
        surface=surface,
        op_id=op_id,
        status=status,
        ok=ok,
        result=result,
        refs=tuple(refs),
        started_at=started_at,
        ms=ms,
    )
