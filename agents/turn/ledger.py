"""The prior-work ledger: what earlier passes did, as the next model reads it.

Pure. Rendered into a user message, never into the system prompt, so the cached prefix stays whole.
Successful writes are marked as not to be repeated, reads may be run again, failures may be retried.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from agents.turn.machine import PhaseName
from agents.turn.record import CallRecord, Effect, IterationRow, PhaseRecord, TurnRecord
from agents.turn.storable import clean, cleaned

VALUE_CHARS = 200
CALL_CHARS = 800
READS_PER_ROUND = 12
FAILURE_CHARS = 200
ARTIFACT_CHARS = 4000


def elide(text: str, limit: int) -> str:
    """Cuts a text and says by how much, so no reader takes a part for the whole."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… (+{len(text) - limit} more characters)"


def tail(text: str, limit: int = ARTIFACT_CHARS) -> str:
    """Keeps the end of a produced text, where its conclusion stands."""
    if len(text) <= limit:
        return text
    return f"(the first {len(text) - limit} characters are left out)…{text[-limit:]}"


def arguments(args: dict[str, Any] | None) -> str:
    """Renders arguments value by value, so that a long one cannot push out a short one.

    When the whole call is still too long the longest keys are dropped whole, and counted.
    """
    parts = {
        key: elide(value if isinstance(value, str) else json.dumps(value, default=str), VALUE_CHARS)
        for key, value in cleaned(args or {}).items()
    }
    kept = dict(sorted(parts.items(), key=lambda item: len(item[0]) + len(item[1])))
    dropped = 0
    while len(kept) > 1 and sum(len(k) + len(v) + 4 for k, v in kept.items()) > CALL_CHARS:
        kept.popitem()
        dropped += 1
    shown = ", ".join(f"{key}={kept[key]}" for key in parts if key in kept)
    return f"{shown}, +{dropped} more" if dropped else shown


def call_line(call: CallRecord) -> str:
    """Renders one call with what became of it and what that means for the next pass."""
    head = f"- `{clean(call.name)}`({arguments(call.args)})"
    if not call.done:
        return f"{head}: outcome not observed; look before you act"
    if call.ok is None:
        return f"{head} was denied by a person and not run; do not call it again"
    if not call.ok:
        return f"{head} failed: {elide(call.result, FAILURE_CHARS)} (may be tried again)"
    if call.effect is Effect.READ:
        return f"{head} (read)"
    refs = f" → {', '.join(call.refs)}" if call.refs else ""
    return f"{head}{refs}: done, do not repeat it"


def tool_log(phase: PhaseRecord) -> str:
    """Renders the calls of a phase round by round; reads beyond a dozen a round are counted."""
    lines: list[str] = []
    for item in phase.rounds:
        lines.extend(_round_lines(item.calls))
    return "\n".join(lines)


def _round_lines(calls: Iterable[CallRecord]) -> list[str]:
    lines, reads, left_out = [], 0, 0
    for call in calls:
        if call.effect is Effect.CONTROL:
            continue
        if call.effect is Effect.READ and call.ok:
            reads += 1
            if reads > READS_PER_ROUND:
                left_out += 1
                continue
        lines.append(call_line(call))
    if left_out:
        lines.append(f"- and {left_out} more reads")
    return lines


def prior_work(record: TurnRecord, before: int) -> str:
    """Renders the iterations before number `before`; empty when there is none."""
    return "\n\n".join(
        _iteration(row, record.phase(PhaseName.EXECUTE, row.n))
        for row in record.iterations
        if row.n < before
    )


def _iteration(row: IterationRow, phase: PhaseRecord | None) -> str:
    parts: list[str] = [f"### Pass {row.n}: {row.outcome}"]
    if row.intent:
        parts.append(f"Intent: {row.intent}")
    log = tool_log(phase) if phase else ""
    parts.append(log or "No tool was called.")
    if row.completed_work:
        parts.append(f"Finished: {row.completed_work}")
    if row.artifact:
        parts.append(f"Produced:\n{tail(row.artifact)}")
    if row.notes:
        parts.append(f"The reviewer said: {row.notes}")
    if row.engine_correction:
        parts.append(f"The engine said: {row.engine_correction}")
    return "\n".join(parts)


def references(calls: Sequence[CallRecord]) -> list[str]:
    """Lists what calls can be cited by: their references, else their tool's name."""
    found: dict[str, None] = {}
    for call in calls:
        for ref in call.refs or (call.name,):
            found[ref] = None
    return list(found)
