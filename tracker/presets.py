"""Named beginnings of a query. What is typed wins over what a preset says. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

from crewlet.kernel.errors import Invalid
from crewlet.kernel.nearest import nearest

PRESETS: dict[str, dict[str, str]] = {
    "my_queue": {
        "any": json.dumps([{"assignee": "me"}, {"assignee": "none", "project": "mine"}]),
        "open_only": "true",
        "sort": "rank",
    },
    "triage": {"assignee": "none", "open_only": "true", "sort": "created"},
    "overdue": {"due": "overdue", "sort": "due"},
}
"""my_queue: on the asker, or unclaimed in the asker's project. triage: on nobody. overdue: late."""

PRESET_WORDS = tuple(PRESETS)
_ABSENT = {
    "blocked": "items have no dependencies here",
    "priorities": "nobody's own order of work is kept here",
}
_GIVES_WAY = {
    "any": ("assignee", "project"),
    "open_only": ("status", "status_group", "show_closed"),
}


def expanded(preset: str, typed: Mapping[str, str]) -> dict[str, str]:
    """Returns what was typed together with what a preset adds to it.

    Raises `Invalid` naming a preset that is not there.
    """
    if preset in _ABSENT:
        raise Invalid(f"There is no preset '{preset}': {_ABSENT[preset]}.", field="preset")
    if preset not in PRESETS:
        hint = nearest(preset, PRESET_WORDS)
        raise Invalid(
            f"There is no preset '{preset}'."
            + (f" Did you mean {hint}?" if hint else f" There are: {', '.join(PRESET_WORDS)}."),
            field="preset",
            allowed=list(PRESET_WORDS),
        )
    added = {
        key: value
        for key, value in PRESETS[preset].items()
        if not any(other in typed for other in _GIVES_WAY.get(key, ()))
    }
    return {**added, **typed}
