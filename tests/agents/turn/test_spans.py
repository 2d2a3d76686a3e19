"""A turn in somebody's collector of traces."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_django.fixtures import Settings

from agents.models.turns import Phase
from crewlet.kernel import tracing
from crewlet.kernel.models import EngineEvent
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage
from tests.support.script import Step

pytestmark = pytest.mark.django_db


@pytest.fixture
def collected() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.use(tracing.provider_with(SimpleSpanProcessor(exporter)))
    yield exporter
    tracing.use(None)


def named(collected: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in collected.get_finished_spans()}


@pytest.mark.covers("TURN-87")
def test_a_turn_is_a_span_with_a_child_for_each_phase(
    stage: Stage, collected: InMemorySpanExporter
) -> None:
    """Under the trace id that its rows carry."""
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    spans = named(collected)
    assert set(spans) == {"agent.turn", "agent.phase execute", "agent.phase review"}
    whole, work = spans["agent.turn"], spans["agent.phase execute"]
    told = EngineEvent.objects.filter(turn_id=turn.id).exclude(trace_id="").first()
    assert told is not None
    assert {format(span.context.trace_id, "032x") for span in spans.values()} == {told.trace_id}
    assert whole.parent is None
    assert work.parent is not None
    assert work.parent.span_id == whole.context.span_id
    about = dict(work.attributes or {})
    assert (about["crewlet.rounds"], about["gen_ai.request.model"]) == (2, "scripted-1")
    assert about["gen_ai.usage.input_tokens"] == sum(
        one.tokens_in for one in Phase.objects.get(turn=turn, phase="execute").rounds.all()
    )
    assert dict(whole.attributes or {})["crewlet.end"] == "completed"
    assert whole.status.is_ok or whole.status.is_unset
    assert all("loaves" not in str(span.to_json()) for span in spans.values()), "no words leave"


@pytest.mark.covers("TURN-87")
def test_a_failed_turn_is_a_failed_span(stage: Stage, collected: InMemorySpanExporter) -> None:
    stage.executes(Step(say="I was", stop="length"))
    end, _ = stage.work()
    assert end.kind == "failed"
    assert not named(collected)["agent.turn"].status.is_ok
    assert named(collected)["agent.turn"].status.description == end.error_kind


def test_without_a_collector_nothing_is_sent(settings: Settings) -> None:
    assert not settings.CREWLET.traces
    tracing.configure()
    assert tracing.tracer() is None
