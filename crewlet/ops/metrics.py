"""Metrics in Prometheus' text form, read when they are scraped.

Every label has a closed set of values, written down where the series is registered: no handles,
no ids, no keys. What another process did is counted from its rows, so any web process may be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import structlog
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from crewlet.kernel.hub import WS_CLIENTS, WS_DROPPED
from crewlet.kernel.live import HINTS_LOST
from crewlet.kernel.registry import Registry
from crewlet.ops.checks import ALARMS, active_alarms

log = structlog.get_logger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# The values of a series' labels, in the order the labels were declared → the measurement.
Samples = Mapping[tuple[str, ...], float]


@dataclass(frozen=True)
class Series:
    """One metric: what it says, the closed label sets, and how it is read now."""

    words: str
    read: Callable[[], Samples]
    kind: Literal["gauge", "counter"] = "gauge"
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)


# Names without the `crewlet_` in front: "inbox_depth", "turns_total".
SERIES: Registry[Series] = Registry("metrics")


# What only the process that is asked can know: its sockets, and the hints it could not send.
OF_THIS_PROCESS = (WS_CLIENTS, WS_DROPPED, HINTS_LOST)


class OpenLabel(ValueError):
    """A series gave a label value that is not in its declared set."""


def exposition() -> bytes:
    """Returns all series as text. One that cannot be read is missing and named in the log."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Reader())
    for own in OF_THIS_PROCESS:
        registry.register(own)
    return generate_latest(registry)


class _Reader(Collector):
    def collect(self) -> Iterator[Metric]:
        unread = GaugeMetricFamily(
            "crewlet_series_unread", "Series that could not be read at this scrape."
        )
        failures = 0
        for name, series in SERIES.items():
            try:
                yield _family(name, series)
            except Exception:
                # One broken question must not blind the operator to the others.
                log.exception("metric could not be read", series=name)
                failures += 1
        yield _alarms()
        unread.add_metric([], failures)
        yield unread

    def describe(self) -> list[Metric]:
        return []


def _family(name: str, series: Series) -> Metric:
    family = (CounterMetricFamily if series.kind == "counter" else GaugeMetricFamily)(
        f"crewlet_{name}", series.words, labels=list(series.labels)
    )
    for values, measured in series.read().items():
        for (label, allowed), value in zip(series.labels.items(), values, strict=True):
            if value not in allowed:
                raise OpenLabel(f"{name}: {label}={value!r} is not one of {', '.join(allowed)}")
        family.add_metric(list(values), measured)
    return family


def _alarms() -> Metric:
    family = GaugeMetricFamily("crewlet_alarm_active", "1 while the alarm is on.", labels=["kind"])
    active = active_alarms()
    for kind in ALARMS:
        family.add_metric([kind], float(kind in active))
    return family
