"""Spans over OpenTelemetry, for who collects traces: sent only where `OTEL_*` names a collector.

Without one nothing of OpenTelemetry is imported. What a span's trace is called is the trace id that
our own rows carry (32 hexadecimal digits), so a trace there and a trace here are one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.trace import Tracer

_wanted: ContextVar[int] = ContextVar("wanted_trace", default=0)


@dataclass(slots=True)
class _Kept:
    provider: TracerProvider | None = None


_kept = _Kept()


def configure() -> None:
    """Begins to send this process's spans, if the environment names where to."""
    if not settings.CREWLET.traces:
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    use(provider_with(BatchSpanProcessor(OTLPSpanExporter())))


def use(provider: TracerProvider | None) -> None:
    """Makes a provider that of this process; None ends it."""
    _kept.provider = provider


def provider_with(processor: SpanProcessor) -> TracerProvider:
    """Returns a provider that hands its spans to `processor`. A root span takes the trace id that
    `in_trace` asks for."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class OurIds(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            return _wanted.get() or super().generate_trace_id()

    # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say goes before our own word.
    resource = Resource.create({"service.name": "crewlet"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, id_generator=OurIds())
    provider.add_span_processor(processor)
    return provider


def tracer() -> Tracer | None:
    """Returns what makes spans, None where nobody collects them."""
    return _kept.provider.get_tracer("crewlet") if _kept.provider else None


@contextmanager
def in_trace(trace: str) -> Iterator[None]:
    """Gives root spans that are begun inside this trace id; an empty one asks for nothing."""
    token = _wanted.set(int(trace, 16) if trace else 0)
    try:
        yield
    finally:
        _wanted.reset(token)
