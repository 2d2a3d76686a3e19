"""What `up` offers a company that only rehearses: a model server that runs beside it."""

from __future__ import annotations

from agents.llm import nearby
from crewlet.ops.hooks import UP_HOOKS, UpRequest
from orgs import epochs
from orgs.setup.thinking import NEAR_SERVERS, NearServer


def register() -> None:
    """Adds the offer to the start, and what is near to the first run."""
    UP_HOOKS.prepare.register("models", _offer_models)
    NEAR_SERVERS.register("nearby", _near)


def _offer_models(request: UpRequest) -> str | None:
    """Says where a model could be had; it is never taken unasked."""
    if epochs.current() is None:
        return None
    entries = epochs.active().document.providers.llm
    if any(entry.type.value != "rehearsal" for entry in entries.values()):
        return None
    found = nearby.find()
    return nearby.offer(found[0]) if found else None


def _near() -> list[NearServer]:
    return [NearServer(found.name, found.base_url, found.models) for found in nearby.find()]
