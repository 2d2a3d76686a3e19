"""Settings, you: how the reader likes to read."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from crewlet.kernel.actors import Actor
from orgs.queries.outbound import EMAIL_LEVELS, email_of
from orgs.queries.preferences import DATE_STYLES, DENSITIES, THEMES, preferences_of, zones

_FORM_NAMES = {"theme": "system", "density": "cosy", "date_style": "plain"}


def preferences(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns what the reader chose and may choose; who is no person has nothing to choose."""
    chosen = preferences_of(actor)
    return {
        "person": actor.person_id is not None,
        "chosen": chosen,
        "choices": [
            _choice("theme", "Theme", THEMES, chosen),
            _choice("density", "Rows", DENSITIES, chosen),
            _choice("date_style", "Dates", DATE_STYLES, chosen),
        ],
        "zones": zones(),
        "email": email_of(actor),
        "levels": EMAIL_LEVELS,
    }


def _choice(
    name: str, label: str, options: tuple[tuple[str, str], ...], chosen: dict[str, Any]
) -> dict[str, Any]:
    # A form cannot send an empty choice: the default goes by its name.
    rows = [
        {"value": value or _FORM_NAMES[name], "label": words, "on": chosen[name] == value}
        for value, words in options
    ]
    return {"name": name, "label": label, "options": rows}
