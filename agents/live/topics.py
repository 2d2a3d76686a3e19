"""What the runtime tells a socket, and who may hear it."""

from __future__ import annotations

from agents.live import snapshot
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.live import SNAPSHOT_PARTS, TOPICS

_READABLE = ("agents", "seat", "turn", "live", "home", "health")


def _reads_state(actor: Actor, rest: str) -> bool:
    return Grant.STATE_READ in actor.grants


def register() -> None:
    """Registers the topics and the parts of a socket's first frame."""
    for topic in _READABLE:
        TOPICS.register(topic, _reads_state)
    SNAPSHOT_PARTS.register("agents", snapshot.agents_part)
    SNAPSHOT_PARTS.register("health", snapshot.health_card)
