"""Asks the checks and puts the answers together; safe to ask while everything is down."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import psycopg
import redis
import structlog
from django.db import DatabaseError, connection

from crewlet.kernel import clock, drain
from crewlet.kernel.redis import client
from crewlet.ops.checks import HEALTH_PARTS, OBSTACLES, Reason, Severity, active_alarms
from crewlet.ops.migrating import unapplied

log = structlog.get_logger(__name__)

FRESH_SECONDS = 1.0
# A probe must not wait as long as a request may wait for the pool.
CONNECT_SECONDS = 2

EMPTY = {
    "in_flight": 0,
    "seats": {},
    "alarms": {"count": 0, "worst": None, "active": []},
}


@dataclass(frozen=True)
class Health:
    """One look at the install: the body of /health, and why /ready would refuse."""

    body: dict[str, Any]
    reason: Reason | None


@dataclass
class _Last:
    at: float = -FRESH_SECONDS
    health: Health | None = None
    migrated: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


_last = _Last()


def look(*, fresh: bool = False) -> Health:
    """Returns the install's health, at most a second old unless `fresh`.

    Asked by every balancer and probe, so one look serves all of them; the others wait for it.
    """
    with _last.lock:
        age = clock.monotonic() - _last.at
        if _last.health is None or fresh or age >= FRESH_SECONDS:
            _last.health = _look()
            _last.at = clock.monotonic()
        return _last.health


def database_answers() -> bool:
    """Tells whether Postgres takes a new connection within two seconds, past the pool."""
    params = connection.get_connection_params()
    try:
        psycopg.connect(
            dbname=params["dbname"],
            user=params.get("user"),
            password=params.get("password"),
            host=params.get("host"),
            port=params.get("port"),
            connect_timeout=CONNECT_SECONDS,
        ).close()
    except psycopg.Error:
        return False
    return True


def redis_answers() -> bool:
    """Tells whether Redis answers."""
    try:
        return bool(client().ping())
    except (redis.ConnectionError, redis.TimeoutError):
        return False


def _look() -> Health:
    if not database_answers():
        return Health({**EMPTY, "status": "degraded", "database": False}, Reason.DATABASE)
    try:
        return _ask_all()
    except DatabaseError as error:
        # It went away between the probe and the question; the next look tells.
        log.warning("health could not be read", error=str(error))
        return Health({**EMPTY, "status": "degraded", "database": False}, Reason.DATABASE)


def _ask_all() -> Health:
    if not _migrated():
        return Health({**EMPTY, "status": "degraded", "database": True}, Reason.UNMIGRATED)
    reason = _obstacle()
    alarms = active_alarms()
    worst = max((finding.severity for finding in alarms.values()), key=_rank, default=None)
    answering = redis_answers()
    body = {
        **EMPTY,
        "database": True,
        "redis": answering,
        **{name: ask() for name, ask in HEALTH_PARTS.items()},
        "alarms": {
            "count": len(alarms),
            "worst": worst,
            "active": [
                {
                    "kind": kind,
                    "severity": finding.severity,
                    "measurement": finding.measurement,
                    "remedy": finding.remedy,
                }
                for kind, finding in alarms.items()
            ],
        },
    }
    body["status"] = _status(reason, calm=answering and worst is not Severity.CRITICAL)
    return Health(body, reason)


def _status(reason: Reason | None, *, calm: bool) -> str:
    if reason is Reason.DRAINING:
        return "shutting_down"
    if reason is Reason.UNCONFIGURED:
        return "unconfigured"
    return "ok" if reason is None and calm else "degraded"


def _obstacle() -> Reason | None:
    if drain.is_draining():
        return Reason.DRAINING
    for reason in (Reason.UNCONFIGURED, Reason.STUCK):
        stands = OBSTACLES.get(reason)
        if stands is not None and stands():
            return reason
    return None


def _migrated() -> bool:
    # Once true it stays true for this process: its code does not change under it.
    if not _last.migrated:
        _last.migrated = unapplied() == 0
    return _last.migrated


def _rank(severity: Severity) -> int:
    return list(Severity).index(severity)
