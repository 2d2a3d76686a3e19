"""That a node lives: one row per incarnation, renewed by the database clock alone.

An incarnation is one life of a worker process, `node_id:random`. Its leases live as long as its
presence: nothing of a seat is written at a renewal, so a fence never waits for a heartbeat.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.utils import IntegrityError

from agents.seats import redis_keys
from crewlet.kernel import live
from crewlet.kernel.errors import Conflict, NotFound
from crewlet.kernel.ids import new_id

log = logging.getLogger(__name__)

PROTOCOL: Final = 1
SEATS_ROLE: Final = "seats"


@dataclass(frozen=True, slots=True)
class Ended:
    """What ending an incarnation set free."""

    incarnation: str
    seats: tuple[UUID, ...]


def mint(node_id: str) -> str:
    """Returns a fresh incarnation name of a node."""
    return f"{node_id}:{new_id().hex[-12:]}"


_REGISTER: Final = """
INSERT INTO agents_node
    (id, node_id, roles, labels, version, protocol, capacity, in_flight, started_at, expires_at)
VALUES (%(id)s, %(node)s, %(roles)s, '{}', %(version)s, %(protocol)s, %(capacity)s, 0,
        clock_timestamp(), clock_timestamp() + make_interval(secs => %(ttl)s))
"""
_END_LAPSED: Final = """
UPDATE agents_node SET ended_at = clock_timestamp()
WHERE node_id = %s AND ended_at IS NULL AND expires_at < clock_timestamp()
"""


def register(
    incarnation: str, node_id: str, *, roles: frozenset[str], capacity: int, ttl: float
) -> None:
    """Announces a node.

    Raises `Conflict` while another live process has this node id: two processes under one name
    would count as one node and be ended as one.
    """
    values: dict[str, str | int | float | list[str]] = {
        "id": incarnation,
        "node": node_id,
        "roles": sorted(roles),
        "version": _version(),
        "protocol": PROTOCOL,
        "capacity": capacity,
        "ttl": ttl,
    }
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_END_LAPSED, (node_id,))
            cursor.execute(_REGISTER, values)
    except IntegrityError as error:
        raise Conflict(
            f"A live worker is called {node_id} already. Give this one its own CREWLET_NODE_ID; "
            f"if that worker died, run `manage.py fleet end {node_id}` or wait {ttl:.0f} seconds."
        ) from error
    live.changed("health")


_RENEW: Final = """
UPDATE agents_node
SET expires_at = clock_timestamp() + make_interval(secs => %(ttl)s), in_flight = %(in_flight)s
WHERE id = %(id)s AND ended_at IS NULL
"""


def renew(incarnation: str, *, ttl: float, in_flight: int) -> bool:
    """Prolongs a node's life; False when somebody ended it."""
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, {"id": incarnation, "ttl": ttl, "in_flight": in_flight})
        return bool(cursor.rowcount == 1)


def start_draining(incarnation: str) -> None:
    """Says that a node takes no seats any more; it leaves the count of the fair share."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE agents_node SET draining_at = coalesce(draining_at, clock_timestamp()) "
            "WHERE id = %s",
            (incarnation,),
        )
    live.changed("health")


def is_draining(incarnation: str) -> bool:
    """Returns whether somebody asked this node to drain."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT draining_at IS NOT NULL FROM agents_node WHERE id = %s", (incarnation,)
        )
        row = cursor.fetchone()
    return bool(row and row[0])


_FREE: Final = """
UPDATE agents_seatlease SET owner_id = NULL, released_at = clock_timestamp()
WHERE owner_id = %s RETURNING seat_id
"""


def end(incarnation: str) -> Ended:
    """Ends one incarnation: its seats are free at once, and whatever it still writes is refused.

    Lock order: node, then leases; a fence holds a lease only, so it is waited for, never crossed.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE agents_node SET ended_at = clock_timestamp() "
            "WHERE id = %s AND ended_at IS NULL",
            (incarnation,),
        )
        cursor.execute(_FREE, (incarnation,))
        seats = tuple(sorted(row[0] for row in cursor.fetchall()))
        live.changed("agents", "health")
    redis_keys.drop(incarnation, seats)
    return Ended(incarnation, seats)


def live_incarnation(node_id: str) -> str:
    """Returns the incarnation that runs under a node id; raises `NotFound` when none does."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM agents_node WHERE node_id = %s AND ended_at IS NULL", (node_id,)
        )
        row = cursor.fetchone()
    if row is None:
        raise NotFound(f"No live node is called {node_id}; `manage.py fleet show` lists them.")
    return str(row[0])


def end_if_live(node_id: str) -> None:
    """Ends whatever runs under a node id: for a supervisor that saw the process die.

    A process that held no seats (the duty worker) has nothing to end.
    """
    try:
        end(live_incarnation(node_id))
    except NotFound:
        log.debug("node_has_no_incarnation", extra={"node": node_id})


_LIVE: Final = """
SELECT id, node_id, roles, labels, version, capacity, in_flight, started_at,
       expires_at, draining_at IS NOT NULL,
       expires_at < clock_timestamp(),
       (SELECT count(*) FROM agents_seatlease AS l WHERE l.owner_id = n.id)
FROM agents_node AS n WHERE ended_at IS NULL ORDER BY node_id
"""


def nodes() -> list[Mapping[str, Any]]:
    """Returns the nodes that have not ended; `stale` ones missed their beat."""
    columns = (
        "incarnation", "node", "roles", "labels", "version", "capacity", "in_flight", "started_at",
        "expires_at", "draining", "stale", "seats",
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_LIVE)
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def _version() -> str:
    try:
        return version("crewlet")
    except PackageNotFoundError:
        return ""
