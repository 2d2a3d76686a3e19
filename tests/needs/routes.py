"""Every address of the site that can be read, with its places filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve

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
    """The addresses of a route for every value of its places; a place without a value fails.

    A place that means something else in some routes has values of its own under the words before
    it, which go first: `settings/<slug:key>` before `key`. Addresses that another route would
    answer are left out.
    """
    plain = route.replace("^", "").rstrip("$")
    found = [plain]
    while match := _PLACE.search(found[0]):
        name, until = match[1] or match[2], found[0][: match.end()]
        own = (special for special in values if "/" in special and until.endswith(special))
        chosen = values.get(next(own, name))
        assert chosen, f"give tests/needs a value for <{name}> of {route}"
        found = [
            one[: spot.start()] + value + one[spot.end() :]
            for one in found
            if (spot := _PLACE.search(one))
            for value in chosen
        ]
    answered = ["/" + one for one in found if _route(one) == plain]
    assert answered, f"nothing that tests/needs knows of fits the places of {route}"
    return answered


def _route(path: str) -> str:
    try:
        return resolve(f"/{path}").route.replace("^", "").rstrip("$")
    except Resolver404:
        return ""
