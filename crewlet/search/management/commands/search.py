"""`manage.py search rebuild`."""

from __future__ import annotations

from typing import Any

from crewlet.doors.cli import NounCommand, Verb
from crewlet.search.rebuild import rebuild


def _rebuild(options: dict[str, Any]) -> dict[str, int]:
    return rebuild()


def _words(answer: dict[str, int]) -> str:
    return "\n".join(f"{kind}: {count} indexed" for kind, count in answer.items())


class Command(NounCommand):
    """The index at a terminal."""

    help = "Build the search index anew."
    verbs = {"rebuild": Verb("Index every text anew.", _rebuild, _words)}
