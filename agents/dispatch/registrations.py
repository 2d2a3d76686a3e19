"""What mail, seats and dispatch plug into the registries."""

from __future__ import annotations

from agents.dispatch import checks
from agents.seats import presence
from crewlet.ops.hooks import UP_HOOKS


def register() -> None:
    """Registers the end of an incarnation, and the checks."""
    UP_HOOKS.end_incarnation.register("seats", presence.end_if_live)
    checks.register()
