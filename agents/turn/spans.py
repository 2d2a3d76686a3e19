"""A turn as OpenTelemetry sees it: a span `agent.turn` for each run of it, with a child per phase.

The spans are made from the record when the run has ended, so nothing of the turn waits for them and
what stands in them is what stands in the rows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from agents.turn.record import PhaseRecord
from crewlet.kernel import clock, tracing

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    from agents.turn.running import Running

log = logging.getLogger(__name__)


@contextmanager
def of_run(running: Running) -> Iterator[None]:
    """Tells of what runs inside it once it has ended, also by an exception. Where nobody collects
    spans it does nothing; a failure to tell harms no turn."""
    began = clock.now()
    try:
        yield
    finally:
        tracer = tracing.tracer()
        if tracer is not None:
            try:
                _tell(running, tracer, began, clock.now())
            except Exception:
                log.exception("turn_spans_lost", extra={"turn": str(running.record.head.id)})


def _tell(running: Running, tracer: Tracer, began: datetime, ended: datetime) -> None:
    from opentelemetry.context import Context
    from opentelemetry.trace import set_span_in_context

    head, finished = running.record.head, running.finished
    named = {
        "crewlet.turn": str(head.id),
        "crewlet.seat": running.handle,
        "crewlet.work_item": head.work_item_key,
        "crewlet.end": finished.kind if finished else "interrupted",
    }
    with tracing.in_trace(head.trace):
        turn = tracer.start_span(
            "agent.turn", Context(), attributes=named, start_time=_nanoseconds(began)
        )
    if finished is None or finished.error_kind:
        _failed(turn, finished.error_kind if finished else "interrupted")
    inside = set_span_in_context(turn)
    for phase in running.record.phases:
        until = phase.ended_at or ended
        if until < began:
            continue  # of an earlier run, which told of it
        child = tracer.start_span(
            f"agent.phase {phase.phase.value}",
            inside,
            attributes=_about(phase),
            start_time=_nanoseconds(max(phase.started_at, began)),
        )
        if phase.error_kind:
            _failed(child, phase.error_kind)
        child.end(_nanoseconds(until))
    turn.end(_nanoseconds(ended))


def _about(phase: PhaseRecord) -> dict[str, str | int]:
    usages = [item.answer.usage for item in phase.rounds]
    return {
        "crewlet.phase": phase.phase.value,
        "crewlet.iteration": phase.iteration,
        "crewlet.rounds": len(phase.rounds),
        "crewlet.provider": phase.provider_key,
        "gen_ai.request.model": phase.model,
        "gen_ai.usage.input_tokens": sum(usage.input for usage in usages),
        "gen_ai.usage.output_tokens": sum(usage.output for usage in usages),
    }


def _failed(span: Span, why: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.ERROR, why))


def _nanoseconds(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000) * 1000
