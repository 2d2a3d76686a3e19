"""Alarms over time: one log line when one rises and one when it clears, nothing in between."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import structlog

from crewlet.ops.checks import Finding, active_alarms

log = structlog.get_logger(__name__)


class AlarmBook:
    """Remembers which alarms were active at the last look of this process."""

    def __init__(self) -> None:
        self._since: dict[str, datetime] = {}

    def run_once(self, now: datetime) -> Mapping[str, Finding]:
        """Asks every alarm, logs the edges, and returns what is active."""
        active = active_alarms()
        for kind, finding in active.items():
            if kind not in self._since:
                self._since[kind] = now
                log.warning(
                    "alarm raised",
                    kind=kind,
                    severity=finding.severity.value,
                    measurement=finding.measurement,
                    remedy=finding.remedy,
                )
        for kind in [kind for kind in self._since if kind not in active]:
            lasted = (now - self._since.pop(kind)).total_seconds()
            log.info("alarm cleared", kind=kind, seconds=round(lasted))
        return active
