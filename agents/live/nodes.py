"""The nodes that carry the seats, as people and programs read them."""

from __future__ import annotations

from typing import Any

from django.db import connection

from agents.seats import presence
from crewlet.kernel import drain
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require

# Each seat that a node holds, under the epoch of its lease.
_CARRIED = """
SELECT l.owner_id, s.handle, s.name, l.epoch
FROM agents_seatlease AS l JOIN orgs_seat AS s ON s.id = l.seat_id
WHERE l.owner_id = ANY(%s) ORDER BY s.handle
"""


def fleet(actor: Actor) -> dict[str, Any]:
    """Returns the nodes that have not ended, with the seats each holds; asks for `state:read`."""
    require(actor, Grant.STATE_READ)
    nodes = [dict(node) for node in presence.nodes()]
    carried = _carried([node["incarnation"] for node in nodes])
    for node in nodes:
        node["seats"] = carried.get(node["incarnation"], [])
        node["state"] = _state(node)
    return {"nodes": nodes, "draining": drain.is_draining()}


def _carried(incarnations: list[str]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_CARRIED, (incarnations,))
        for owner, handle, name, epoch in cursor.fetchall():
            found.setdefault(owner, []).append({"handle": handle, "name": name, "epoch": epoch})
    return found


def _state(node: dict[str, Any]) -> str:
    if node["stale"]:
        return "stale"
    return "draining" if node["draining"] else "live"
