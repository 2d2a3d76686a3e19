"""What can be asked about the health of this install; apps register the questions.

`/health` says how the install is, always 200. `/ready` says whether requests should come here.
An alarm is a fact that a person must act on; it brings its measurement and the remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from crewlet.kernel.registry import Registry


class Severity(StrEnum):
    """How bad an active alarm is; later members are worse."""

    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True)
class Finding:
    """Why an alarm is active: what was measured, and what to do about it."""

    measurement: str
    remedy: str
    severity: Severity = Severity.WARNING


class Reason(StrEnum):
    """Why web takes no requests, in the order in which `/ready` looks."""

    DATABASE = "database"
    UNMIGRATED = "unmigrated"
    DRAINING = "draining"
    UNCONFIGURED = "unconfigured"
    STUCK = "stuck"


# An alarm's kind → a question that returns a finding while it is active. Asks Postgres.
ALARMS: Registry[Callable[[], Finding | None]] = Registry("alarms")
# A top-level key of /health ("in_flight", "seats", "posture") → its JSON value. Asks Postgres.
HEALTH_PARTS: Registry[Callable[[], Any]] = Registry("parts of /health")
# Returns whether the install has what `reason` says it lacks. Asks Postgres.
OBSTACLES: Registry[Callable[[], bool]] = Registry("obstacles to /ready")


def register_obstacle(reason: Reason, stands: Callable[[], bool]) -> None:
    """Adds the question behind `unconfigured` or `stuck`; the other reasons are asked here."""
    if reason not in {Reason.UNCONFIGURED, Reason.STUCK}:
        raise ValueError(f"{reason} is asked by ops itself; register unconfigured or stuck.")
    OBSTACLES.register(reason, stands)


def active_alarms() -> Mapping[str, Finding]:
    """Returns the alarms that are active now, by kind, in the order of registration."""
    found = {kind: ask() for kind, ask in ALARMS.items()}
    return {kind: finding for kind, finding in found.items() if finding is not None}
