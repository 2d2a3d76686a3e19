"""The doorbell of a seat. A wake carries nothing and may be lost; the mail is already a row.

Recipe of one ring, after the commit that wrote the mail:
1. `SET wake:{seat} NX EX 10`: ten comments in ten seconds ring once. The task deletes the key
   before it looks, so that whatever commits after the look rings again.
2. Send `run_seat` by name to the seat's own queue, without retries.
Any fault of Redis ends the ring, is counted, and stops further tries for two seconds, so that no
request waits for a broker. The holder's sweep finds what a lost ring left.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

import redis
from django.db import transaction
from kombu.exceptions import OperationalError
from prometheus_client import Counter

from crewlet.kernel import clock
from crewlet.kernel.queue import RUN_SEAT, app, seat_queue
from crewlet.kernel.redis import client, key

log = logging.getLogger(__name__)

DEDUPE_SECONDS: Final = 10
EXPIRES_SECONDS: Final = 60
BREAKER_SECONDS: Final = 2.0

WAKES = Counter("crewlet_wakes_total", "Wakes by what became of them.", ["fate"])
"""fate: sent, merged (another ring was waiting), lost (Redis refused), skipped (breaker open)."""


@dataclass(slots=True)
class _Breaker:
    open_until: float = 0.0


_breaker = _Breaker()


def ring(seat_id: UUID) -> None:
    """Wakes a seat after the current transaction commits (at once without one). Never fails."""
    transaction.on_commit(partial(_send, seat_id), robust=True)


def answered(seat_id: UUID) -> None:
    """Lets the next ring of this seat through. Called before the mail is looked at, never after."""
    if clock.monotonic() < _breaker.open_until:
        return
    try:
        client().delete(key("wake", seat_id))
    except redis.RedisError as error:
        _trip(seat_id, error)


def is_open() -> bool:
    """Returns whether wakes are being sent; False for two seconds after Redis refused one."""
    return clock.monotonic() >= _breaker.open_until


def _send(seat_id: UUID) -> None:
    if not is_open():
        WAKES.labels("skipped").inc()
        return
    try:
        if not client().set(key("wake", seat_id), "1", nx=True, ex=DEDUPE_SECONDS):
            WAKES.labels("merged").inc()
            return
        app.send_task(
            RUN_SEAT,
            args=[str(seat_id)],
            queue=seat_queue(seat_id),
            expires=EXPIRES_SECONDS,
            retry=False,
            ignore_result=True,
        )
    except (redis.RedisError, OperationalError, OSError) as error:
        _trip(seat_id, error)
        return
    WAKES.labels("sent").inc()


def _trip(seat_id: UUID, error: Exception) -> None:
    _breaker.open_until = clock.monotonic() + BREAKER_SECONDS
    WAKES.labels("lost").inc()
    log.warning("wake_lost", extra={"seat": str(seat_id), "error": str(error)})
