"""Alarms over time: what is active since when, one log line as it rises and one as it clears."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db import transaction

from crewlet.kernel import clock, live
from crewlet.ops.checks import Finding, Severity, active_alarms
from crewlet.ops.models import AlarmLook, AlarmState

log = structlog.get_logger(__name__)

LATE: Final = timedelta(seconds=60)
"""A look that is older says nothing of now; the duty worker looks every ten seconds."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of the alarms: the active ones, the oldest first, and when that was seen."""

    alarms: tuple[AlarmState, ...]
    looked_at: datetime | None

    @property
    def known(self) -> bool:
        """Whether somebody looked lately."""
        return self.looked_at is not None and clock.now() - self.looked_at <= LATE

    @property
    def worst(self) -> Severity | None:
        """The severity of the worst active alarm."""
        order = list(Severity)
        severities = [Severity(alarm.severity) for alarm in self.alarms]
        return max(severities, key=order.index, default=None)


def standing() -> Standing:
    """Returns what the last look found. Two statements."""
    looked_at = AlarmLook.objects.values_list("at", flat=True).first()
    return Standing(tuple(AlarmState.objects.order_by("since", "kind")), looked_at)


def look(now: datetime) -> Mapping[str, Finding]:
    """Asks every alarm, keeps what is active, logs the edges, and returns what is active."""
    active = active_alarms()
    with transaction.atomic():
        # The row of the look comes first: two who look at once wait here, and keep one order.
        AlarmLook.objects.update_or_create(id=1, defaults={"at": now})
        before = dict(AlarmState.objects.values_list("kind", "since"))
        AlarmState.objects.exclude(kind__in=active).delete()
        AlarmState.objects.bulk_create(
            [
                AlarmState(
                    kind=kind,
                    severity=finding.severity.value,
                    measurement=finding.measurement,
                    remedy=finding.remedy,
                    since=before.get(kind, now),
                )
                for kind, finding in active.items()
            ],
            update_conflicts=True,
            unique_fields=["kind"],
            update_fields=["severity", "measurement", "remedy"],
        )
        if before.keys() != active.keys():
            live.changed("health")
    _log_edges(before, active, now)
    return active


def _log_edges(
    before: Mapping[str, datetime], active: Mapping[str, Finding], now: datetime
) -> None:
    for kind in active.keys() - before.keys():
        finding = active[kind]
        log.warning(
            "alarm raised",
            kind=kind,
            severity=finding.severity.value,
            measurement=finding.measurement,
            remedy=finding.remedy,
        )
    for kind in before.keys() - active.keys():
        log.info("alarm cleared", kind=kind, seconds=round((now - before[kind]).total_seconds()))
