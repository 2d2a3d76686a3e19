"""Duties of the company: small jobs that one process at a time does, a tick at a time.

Beat only ticks. At each tick the duty worker claims every duty that is due by a key in Redis that
lives as long as the duty's pause, so that two beats, or two duty workers, do it once. A claim that
fails (no Redis) skips the tick.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import redis
from prometheus_client import Counter

from crewlet.kernel import clock, db
from crewlet.kernel.redis import client, key
from crewlet.kernel.registry import Registry

log = logging.getLogger(__name__)

RUNS = Counter("crewlet_duties_total", "Runs of duties by what became of them.", ["duty", "fate"])
_EARLY: Final = 0.5
"""Seconds by which a claim ends before the next tick, so that a punctual tick finds it free."""


@dataclass(frozen=True, slots=True)
class Duty:
    """A job: its name, its pause in seconds (a multiple of the tick), and what it does."""

    name: str
    every: float
    run: Callable[[datetime], object]


DUTIES: Registry[Duty] = Registry("duties")


def register(duty: Duty) -> Duty:
    """Registers a duty under its own name."""
    return DUTIES.register(duty.name, duty)


def tick(now: datetime) -> list[str]:
    """Does every duty that is due and not being done elsewhere; returns their names."""
    done = []
    for duty in DUTIES.values():
        if not _claim(duty):
            continue
        try:
            duty.run(now)
        except Exception:
            RUNS.labels(duty.name, "failed").inc()
            log.exception("duty_failed", extra={"duty": duty.name})
        else:
            RUNS.labels(duty.name, "done").inc()
            done.append(duty.name)
        finally:
            db.release()
    return done


def _claim(duty: Duty) -> bool:
    life = max(1, round((duty.every - _EARLY) * 1000))
    try:
        return bool(client().set(key("duty", duty.name), clock.now().isoformat(), nx=True, px=life))
    except redis.RedisError as error:
        RUNS.labels(duty.name, "skipped").inc()
        log.warning("duty_skipped", extra={"duty": duty.name, "error": str(error)})
        return False
