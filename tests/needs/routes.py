"""Every address of the site that can be read, with its places filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from django.urls import URLPattern, URLResolver, get_resolver

_PLACE = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")


def patterns() -> Iterator[str]:
    """Every route as it is written, the admin's excepted: those are walked by model."""
    yield from (found for found in _walk(get_resolver().url_patterns) if found[:6] != "admin/")


def _walk(found: Iterable[URLPattern | URLResolver], under: str = "") -> Iterator[str]:
    for pattern in found:
        place = under + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, place)
        else:
            yield place


def addresses(route: str, values: Mapping[str, Iterable[str]]) -> list[str]:
    """The addresses of a route for every value of its places; a place without a value fails."""
    found = [route.replace("^", "").rstrip("$")]
    while match := _PLACE.search(found[0]):
        name = match[1] or match[2]
        assert name in values, f"give tests/needs a value for <{name}> of {route}"
        found = [
            one[: spot.start()] + value + one[spot.end() :]
            for one in found
            if (spot := _PLACE.search(one))
            for value in values[name]
        ]
    return ["/" + one for one in found]
