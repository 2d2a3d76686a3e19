"""Time zones as the document names them."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import available_timezones

from orgs.document.fields import fault
from orgs.document.problems import ProblemKind

_NOT_ZONES = frozenset({"Local", "localtime", "Factory", "posixrules"})


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones()) - _NOT_ZONES


def known_zone(value: str) -> None:
    """Refuses what is no IANA zone, and the machine's own clock by name."""
    if value.lower() in ("local", "localtime"):
        raise fault(
            ProblemKind.INVALID,
            "The company's clock cannot be the machine's own: name a zone like Europe/Berlin.",
        )
    if value not in _zones():
        raise fault(
            ProblemKind.INVALID, "Not an IANA time zone: write one like UTC or Europe/Berlin."
        )
