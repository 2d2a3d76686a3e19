"""The Redis side of a lease: it stops the herd and shows who holds a seat, and proves nothing.

A value is the incarnation that holds the seat. Every write compares first, so that a node never
touches another's key. A Redis that is down or was flushed moves no seat: Postgres decides alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

import redis

from crewlet.kernel.redis import client, key

log = logging.getLogger(__name__)

_RENEW: Final = """
local lost = {}
for i, name in ipairs(KEYS) do
  local held = redis.call('GET', name)
  if held == ARGV[1] then
    redis.call('PEXPIRE', name, ARGV[2])
  elseif not held then
    redis.call('SET', name, ARGV[1], 'PX', ARGV[2])
  else
    lost[#lost + 1] = name
  end
end
return lost
"""

_DROP: Final = """
local dropped = 0
for _, name in ipairs(KEYS) do
  if redis.call('GET', name) == ARGV[1] then dropped = dropped + redis.call('DEL', name) end
end
return dropped
"""


def lease_key(seat_id: UUID) -> str:
    """Returns the key under which a seat's holder stands."""
    return key("lease", seat_id)


def reserve(incarnation: str, seats: Sequence[UUID], ttl: float) -> list[UUID]:
    """Returns the seats whose key this node set, or has already; all of them without Redis."""
    if not seats:
        return []
    try:
        pipeline = client().pipeline(transaction=False)
        for seat in seats:
            pipeline.set(lease_key(seat), incarnation, nx=True, px=_ms(ttl))
            pipeline.get(lease_key(seat))
        answers = pipeline.execute()
    except redis.RedisError as error:
        log.warning("lease_redis_unreachable", extra={"error": str(error)})
        return list(seats)
    return [seat for i, seat in enumerate(seats) if answers[2 * i + 1] == incarnation]


def renew(incarnation: str, seats: Sequence[UUID], ttl: float) -> bool:
    """Prolongs the keys of held seats and sets missing ones again; False without Redis."""
    return _run(_RENEW, incarnation, seats, _ms(ttl))


def drop(incarnation: str, seats: Iterable[UUID]) -> bool:
    """Deletes the keys that still name this incarnation; False without Redis (they expire)."""
    return _run(_DROP, incarnation, list(seats))


def _run(script: str, incarnation: str, seats: Sequence[UUID], *args: int) -> bool:
    if not seats:
        return True
    try:
        client().eval(script, len(seats), *(lease_key(s) for s in seats), incarnation, *args)
    except redis.RedisError as error:
        log.warning("lease_redis_unreachable", extra={"error": str(error)})
        return False
    return True


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))
