"""How many calls each key carries now, over all nodes, counted in Redis.

A hint and nothing more: when Redis is away the keys are used in the order of the document, and a
call whose process died drops out when its time is over.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import redis

from crewlet.kernel import clock, ids
from crewlet.kernel.redis import client, key

log = logging.getLogger(__name__)


def counts(provider: str, digests: Sequence[str]) -> list[int]:
    """Returns the calls under way of each key, in order; zeros where they cannot be read."""
    now = clock.now().timestamp()
    try:
        pipe = client().pipeline(transaction=False)
        for digest in digests:
            pipe.zcount(_name(provider, digest), now, "+inf")
        return [int(count) for count in pipe.execute()]
    except redis.RedisError as problem:
        log.warning("in_flight_unknown", extra={"provider": provider, "why": str(problem)})
        return [0] * len(digests)


@contextmanager
def counted(provider: str, digest: str, seconds: float) -> Iterator[None]:
    """Counts a call of at most so many seconds while the block runs."""
    name, call = _name(provider, digest), ids.new_id().hex
    now = clock.now().timestamp()
    try:
        pipe = client().pipeline(transaction=False)
        pipe.zremrangebyscore(name, "-inf", now)
        pipe.zadd(name, {call: now + seconds})
        pipe.expire(name, int(seconds) + 60)
        pipe.execute()
    except redis.RedisError as problem:
        log.warning("in_flight_uncounted", extra={"provider": provider, "why": str(problem)})
    try:
        yield
    finally:
        try:
            client().zrem(name, call)
        except redis.RedisError as problem:
            log.warning("in_flight_uncounted", extra={"provider": provider, "why": str(problem)})


def _name(provider: str, digest: str) -> str:
    return key("llm", "in-flight", provider, digest)
