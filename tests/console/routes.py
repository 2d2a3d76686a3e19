"""Every address of the site that is a page, read from the URLconf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

# Doors, probes and vendors' pages: nothing of the console's own is drawn there.
DOORS = ("api/", "admin/", "act/", "operator/", "ui/", "mcp", "health", "ready", "metrics")
# These answer without a page of the frame: a download, a form, a way in or out, a first run.
NOT_PAGES = {
    "file": "a download",
    "attach": "takes a posted file",
    "sign_in": "stands before the frame",
    "sign_in_link": "stands before the frame",
    "sign_out": "takes a post",
    "settings-invite": "takes a post",
    "settings-token": "takes a post",
    "setup": "stands before the frame",
    "setup-done": "stands before the frame",
}


@dataclass(frozen=True)
class Route:
    """A page's address: the pattern as people read it, its name, what varies in it."""

    path: str
    name: str
    varies: tuple[str, ...]
    view: Any

    @property
    def parts(self) -> list[str]:
        """The pieces between the slashes."""
        return [part for part in self.path.split("/") if part]


def pages() -> list[Route]:
    """Returns every page of the frame."""
    return [
        route
        for route in _walk(get_resolver("crewlet.urls"), "")
        if not route.path.startswith(DOORS) and (route.name or route.path) not in NOT_PAGES
    ]


def _walk(resolver: URLResolver, before: str) -> Iterator[Route]:
    for entry in resolver.url_patterns:
        here = before + _plain(str(entry.pattern))
        if here.startswith(DOORS):
            continue
        if isinstance(entry, URLResolver):
            yield from _walk(entry, here)
        elif isinstance(entry, URLPattern):
            varies = tuple(re.findall(r"<(?:\w+:)?(\w+)>", here))
            yield Route(here, entry.name or "", varies, entry.callback)


def _plain(pattern: str) -> str:
    """Writes a pattern of either kind alike: `^work/(?P<key>…)$` as `work/<key>`."""
    named = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", r"<\1>", pattern)
    return named.removeprefix("^").removesuffix("$")
