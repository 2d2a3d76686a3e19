"""Settings, the nodes: which processes carry the seats."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from agents.live.nodes import fleet
from crewlet.console.registries import SETTINGS_SECTIONS, SettingsSection
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.ops.alarms import standing
from orgs import epochs

LACKS_OPERATE = "Draining a node takes the grant fleet:operate, which you lack."


def register_nodes() -> None:
    """Registers the section; `agents.registrations` calls it."""
    SETTINGS_SECTIONS.register(
        "nodes",
        SettingsSection(
            "Nodes", 60, "agents/_settings_nodes.html", nodes, group="Engine", icon="server",
            grant=Grant.STATE_READ, topics="agents health",
        ),
    )  # fmt: skip


def nodes(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the nodes, what each carries, and why it cannot be drained where it cannot."""
    found = fleet(actor)
    lack = "" if Grant.FLEET_OPERATE in actor.grants else LACKS_OPERATE
    for node in found["nodes"]:
        node["no_drain"] = lack or ("It is draining already." if node["draining"] else "")
    return {
        **found,
        "held": sum(len(node["seats"]) for node in found["nodes"]),
        "running": sum(node["in_flight"] for node in found["nodes"]),
        "epoch": epochs.current(),
        "alarms": standing(),
    }
