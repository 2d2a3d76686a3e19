"""What the organization adds to the registries; each part has a function of its own."""

from __future__ import annotations

from orgs import company
from orgs.people import registrations as people
from orgs.views.panels import register_panels


def register() -> None:
    """Touches every registry that the organization fills."""
    people.register()
    company.register()
    register_panels()
