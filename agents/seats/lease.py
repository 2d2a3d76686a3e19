"""The grip on a seat. Redis gives speed, Postgres gives safety.

Taking seats, on a thread that is never the heartbeat's:
1. Read which seats are free: no owner, or an owner whose presence lapsed or was ended.
2. `SET lease:{seat} NX` in Redis; another node's key means that it was faster. A Redis that does
   not answer is asked no further: step 3 decides alone.
3. One UPDATE takes the whole share: it locks the free rows, skipping those that a writer's fence
   or another taker holds, looks again under the lock that they are free, sets the owner and raises
   each epoch. What it does not return was not taken; its Redis keys are dropped.

Holds: at most one incarnation can write for a seat. Every write of a turn first reads the lease row
with its own epoch FOR SHARE, in the write's transaction: a taker waits for that commit, and after
a take-over the reader finds nothing and stops. FOR KEY SHARE would not conflict with step 3.
The row outlives every release, so an epoch never returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from agents.seats import redis_keys
from crewlet.kernel import live
from crewlet.kernel.errors import Fenced

LOCK_TIMEOUT_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Lease:
    """One grip: the seat, the number of this grip, and the incarnation that has it."""

    seat_id: UUID
    epoch: int
    owner: str


_FENCE: Final = """
SELECT 1 FROM agents_seatlease
WHERE seat_id = %s AND epoch = %s AND owner_id IS NOT NULL
FOR SHARE
"""


def fence(cursor: CursorWrapper, seat_id: UUID, epoch: int) -> None:
    """Proves inside the caller's transaction that the seat is still held under this epoch.

    Raises `Fenced` when it is not. First statement of every write of a turn; the proof lasts until
    the commit, since a take-over waits for it.
    """
    cursor.execute(_FENCE, (seat_id, epoch))
    if cursor.fetchone() is None:
        raise Fenced("This worker no longer holds the seat; its turn goes on elsewhere.")


_ROWS: Final = """
INSERT INTO agents_seatlease (seat_id, epoch, preferred_node, acquire_fail)
SELECT s.id, 0, '', '{}' FROM orgs_seat AS s
WHERE s.kind = 'agent' AND s.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM agents_seatlease AS l WHERE l.seat_id = s.id)
ORDER BY s.id
ON CONFLICT (seat_id) DO NOTHING
"""

# Seats with an open turn or due mail come first, then those that this node held last.
_CANDIDATES: Final = """
SELECT l.seat_id
FROM agents_seatlease AS l
JOIN orgs_seat AS s ON s.id = l.seat_id AND s.kind = 'agent' AND s.removed_at IS NULL
LEFT JOIN agents_node AS n ON n.id = l.owner_id
WHERE (l.owner_id IS NULL OR n.ended_at IS NOT NULL OR n.expires_at < clock_timestamp())
  AND coalesce((l.acquire_fail ->> %(node)s)::timestamptz, '-infinity') < clock_timestamp()
ORDER BY EXISTS (SELECT 1 FROM agents_turn AS t WHERE t.seat_id = l.seat_id AND t.stage <> 'done')
           DESC,
         EXISTS (SELECT 1 FROM agents_delivery AS d
                 WHERE d.seat_id = l.seat_id
                   AND (d.not_before IS NULL OR d.not_before <= clock_timestamp())) DESC,
         l.preferred_node = %(node)s DESC,
         l.seat_id
LIMIT %(room)s
"""

_CLAIM: Final = """
WITH free AS (
    SELECT l.seat_id
    FROM agents_seatlease AS l
    WHERE l.seat_id = ANY(%(seats)s)
      AND (l.owner_id IS NULL
           OR EXISTS (SELECT 1 FROM agents_node AS n
                      WHERE n.id = l.owner_id
                        AND (n.ended_at IS NOT NULL OR n.expires_at < clock_timestamp())))
    ORDER BY l.seat_id
    FOR UPDATE OF l SKIP LOCKED
)
UPDATE agents_seatlease AS l
SET owner_id = %(owner)s, epoch = l.epoch + 1, preferred_node = %(node)s,
    acquired_at = clock_timestamp(), released_at = NULL
FROM free
WHERE l.seat_id = free.seat_id
RETURNING l.seat_id, l.epoch
"""


def claim(incarnation: str, node_id: str, *, room: int, ttl: float) -> list[Lease]:
    """Takes up to `room` free seats and returns the leases, each under a new epoch."""
    if room <= 0:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_ROWS)
        cursor.execute(_CANDIDATES, {"node": node_id, "room": room})
        candidates = [row[0] for row in cursor.fetchall()]
    wanted = redis_keys.reserve(incarnation, candidates, ttl)
    if not wanted:
        return []
    taken: list[Lease] = []
    try:
        taken = _claim(incarnation, node_id, wanted)
    finally:
        got = {lease.seat_id for lease in taken}
        redis_keys.drop(incarnation, [seat for seat in wanted if seat not in got])
    return taken


def _claim(incarnation: str, node_id: str, seats: Sequence[UUID]) -> list[Lease]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}")
        cursor.execute(_CLAIM, {"seats": list(seats), "owner": incarnation, "node": node_id})
        leases = [Lease(seat, epoch, incarnation) for seat, epoch in cursor.fetchall()]
        if leases:
            live.changed("agents", "health")
    return sorted(leases, key=lambda lease: lease.seat_id)


def held(incarnation: str) -> dict[UUID, int]:
    """Returns the seats that Postgres says this incarnation holds, with their epochs."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seat_id, epoch FROM agents_seatlease WHERE owner_id = %s", (incarnation,)
        )
        return dict(cursor.fetchall())


def removed(seats: Sequence[UUID]) -> list[UUID]:
    """Returns those of the seats that the company no longer has as agents."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM orgs_seat WHERE id = ANY(%s) "
            "AND (removed_at IS NOT NULL OR kind <> 'agent')",
            (list(seats),),
        )
        return [row[0] for row in cursor.fetchall()]


_RELEASE: Final = """
UPDATE agents_seatlease
SET owner_id = NULL, released_at = clock_timestamp()
WHERE seat_id = %(seat)s AND epoch = %(epoch)s AND owner_id = %(owner)s
"""
_COOL_DOWN: Final = """
UPDATE agents_seatlease
SET owner_id = NULL, released_at = clock_timestamp(),
    acquire_fail = acquire_fail
        || jsonb_build_object(%(node)s::text, clock_timestamp() + make_interval(secs => %(ttl)s))
WHERE seat_id = %(seat)s AND epoch = %(epoch)s AND owner_id = %(owner)s
"""


def release(lease: Lease) -> bool:
    """Lets a seat go, keeping its row and epoch; False when it had gone already."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            _RELEASE,
            {"seat": lease.seat_id, "epoch": lease.epoch, "owner": lease.owner},
        )
        gone = bool(cursor.rowcount == 1)
        live.changed("agents", "health")
    redis_keys.drop(lease.owner, [lease.seat_id])
    return gone


def give_up(lease: Lease, node_id: str, ttl: float) -> None:
    """Lets go of a seat whose acquire failed here; this node leaves it alone for one lease."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            _COOL_DOWN,
            {
                "seat": lease.seat_id,
                "epoch": lease.epoch,
                "owner": lease.owner,
                "node": node_id,
                "ttl": ttl,
            },
        )
    redis_keys.drop(lease.owner, [lease.seat_id])


_COUNTS: Final = """
SELECT (SELECT count(*) FROM orgs_seat WHERE kind = 'agent' AND removed_at IS NULL),
       (SELECT count(*) FROM agents_node
        WHERE ended_at IS NULL AND draining_at IS NULL AND expires_at >= clock_timestamp()
          AND 'seats' = ANY(roles))
"""


def counts() -> tuple[int, int]:
    """Returns how many agent seats there are, and how many live nodes share them.

    Nodes are counted by presence: counting holders would read zero at boot, and everybody would
    take everything.
    """
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS)
        seats, nodes = cursor.fetchone()
    return int(seats), int(nodes)
