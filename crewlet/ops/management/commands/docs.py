"""`manage.py docs build|check`: the pages of docs/reference that are made from code."""

from __future__ import annotations

from typing import Any

from crewlet.doors.cli import NounCommand, Verb
from crewlet.environment import BASE_DIR
from crewlet.kernel.errors import Conflict
from crewlet.ops.reference import build


def _build(_options: dict[str, Any]) -> dict[str, Any]:
    return {"written": build.build(BASE_DIR)}


def _check(_options: dict[str, Any]) -> dict[str, Any]:
    stale = build.stale(BASE_DIR)
    if stale:
        raise Conflict(
            f"Not what the code says any more: {', '.join(stale)}. Run `manage.py docs build` and "
            "commit what it writes.",
            stale=stale,
        )
    return {"stale": []}


def _written(answer: dict[str, Any]) -> str:
    return "\n".join(answer["written"]) or "Every generated page was fresh."


class Command(NounCommand):
    """Generated references."""

    help = "Builds the generated pages of docs/, or checks that they are fresh."
    requires_system_checks: list[str] = []  # no database is asked
    verbs = {
        "build": Verb("Write the generated pages that are stale.", _build, _written),
        "check": Verb(
            "Fail when a generated page is not what the code says.",
            _check,
            lambda _answer: "Every generated page is fresh.",
        ),
    }
