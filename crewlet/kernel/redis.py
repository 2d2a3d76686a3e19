"""The one Redis client of a process, and the names of its keys."""

from __future__ import annotations

from functools import lru_cache

import redis
import redis.asyncio
from django.conf import settings

_TIMEOUT_SECONDS = 1.0


def key(*parts: object) -> str:
    """Returns a key under this install's prefix: `key("lease", seat_id)` is `crewlet:lease:…`."""
    return ":".join((settings.CREWLET.redis_prefix, *map(str, parts)))


@lru_cache(maxsize=1)
def client() -> redis.Redis:
    """Returns the shared blocking client; a dead server answers with an error within a second."""
    return redis.Redis.from_url(
        settings.CREWLET.redis_url,
        socket_timeout=_TIMEOUT_SECONDS,
        socket_connect_timeout=_TIMEOUT_SECONDS,
        decode_responses=True,
    )


def async_client() -> redis.asyncio.Redis:
    """Returns a new asyncio client without a read timeout, for a reader that blocks on a stream."""
    return redis.asyncio.Redis.from_url(
        settings.CREWLET.redis_url,
        socket_timeout=None,
        socket_connect_timeout=_TIMEOUT_SECONDS,
        decode_responses=True,
    )
