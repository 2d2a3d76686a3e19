"""Duties of the company: small jobs that one process at a time does, a tick at a time.

Beat only ticks. At each tick the duty worker claims every duty that is due by a key in Redis that
lives as long as the duty's pause, so that two beats, or two duty workers, do it once. A claim that
fails (no Redis) skips the tick. While its duty runs a claim outlives the pause: a slow duty is not
begun a second time beside itself. What waits for somebody else's server is done aside, in a thread
of its own, so that no tick waits with it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import redis
from prometheus_client import Counter

from crewlet.kernel import clock, db
from crewlet.kernel.ids import new_id
from crewlet.kernel.redis import client, key
from crewlet.kernel.registry import Registry

log = logging.getLogger(__name__)

RUNS = Counter("crewlet_duties_total", "Runs of duties by what became of them.", ["duty", "fate"])
_EARLY: Final = 0.5
"""Seconds by which a claim ends before the next tick, so that a punctual tick finds it free."""
_HELD: Final = 30.0
"""Seconds that a claim lasts at least while its duty runs. So long at most a duty waits for a
process that died with it."""
_KEEP_FOR: Final = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])
"""


@dataclass(frozen=True, slots=True)
class Duty:
    """A job: its name, its pause in seconds (a multiple of the tick), and what it does.

    `aside` says that it waits for servers of others; its rows must bear two of them at once.
    """

    name: str
    every: float
    run: Callable[[datetime], object]
    aside: bool = False


DUTIES: Registry[Duty] = Registry("duties")
_aside: dict[str, threading.Thread] = {}


def register(duty: Duty) -> Duty:
    """Registers a duty under its own name."""
    return DUTIES.register(duty.name, duty)


def tick(now: datetime) -> list[str]:
    """Does every duty that is due and not being done elsewhere, or begins it where it goes aside;
    returns their names."""
    done = []
    for duty in DUTIES.values():
        if _busy(duty) or (claim := _claim(duty)) is None:
            continue
        if duty.aside:
            name = f"duty-{duty.name}"
            thread = threading.Thread(target=_do, args=(duty, now, claim), name=name, daemon=True)
            _aside[duty.name] = thread
            thread.start()
            done.append(duty.name)
        elif _do(duty, now, claim):
            done.append(duty.name)
    return done


def _busy(duty: Duty) -> bool:
    thread = _aside.get(duty.name)
    return thread is not None and thread.is_alive()


def _do(duty: Duty, now: datetime, claim: str) -> bool:
    began = clock.monotonic()
    try:
        duty.run(now)
    except Exception:
        RUNS.labels(duty.name, "failed").inc()
        log.exception("duty_failed", extra={"duty": duty.name})
        return False
    else:
        RUNS.labels(duty.name, "done").inc()
        return True
    finally:
        db.release()
        _let_go(duty, claim, clock.monotonic() - began)


def _claim(duty: Duty) -> str | None:
    """Returns what marks the claim as ours, None where somebody else has the duty."""
    claim = str(new_id())
    life = max(duty.every - _EARLY, _HELD)
    try:
        taken = client().set(key("duty", duty.name), claim, nx=True, px=round(life * 1000))
    except redis.RedisError as error:
        RUNS.labels(duty.name, "skipped").inc()
        log.warning("duty_skipped", extra={"duty": duty.name, "error": str(error)})
        return None
    return claim if taken else None


def _let_go(duty: Duty, claim: str, seconds: float) -> None:
    """Leaves the claim what is left of the duty's pause, if it is still ours."""
    left = max(1, round((duty.every - _EARLY - seconds) * 1000))
    try:
        client().eval(_KEEP_FOR, 1, key("duty", duty.name), claim, str(left))
    except redis.RedisError as error:
        log.warning("duty_claim_kept", extra={"duty": duty.name, "error": str(error)})
