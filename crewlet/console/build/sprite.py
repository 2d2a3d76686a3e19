"""The icon sprite: a subset of lucide plus glyphs of our own, one symbol each."""

from __future__ import annotations

import re
from pathlib import Path

_BODY = re.compile(r"<svg[^>]*>(.*)</svg>", re.S)
_STROKED = (
    '<symbol id="{name}" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
    'stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round">{body}</symbol>'
)
_SYMBOL = re.compile(r'<symbol id="([\w-]+)"')
LUCIDE = [
    "activity",
    "arrow-down",
    "arrow-right",
    "arrow-up-right",
    "at-sign",
    "bell",
    "bold",
    "book-open",
    "brain",
    "calendar",
    "check",
    "check-check",
    "chevron-down",
    "chevron-left",
    "chevron-right",
    "chevron-up",
    "circle-alert",
    "circle-check-big",
    "circle-dashed",
    "circle-pause",
    "circle-play",
    "circle-x",
    "clock",
    "code",
    "columns-3",
    "corner-down-left",
    "corner-down-right",
    "ellipsis",
    "file-text",
    "filter",
    "flag",
    "gauge",
    "gavel",
    "git-pull-request",
    "history",
    "home",
    "hourglass",
    "inbox",
    "info",
    "italic",
    "kanban",
    "key-round",
    "keyboard",
    "lightbulb",
    "link",
    "link-2",
    "list",
    "list-checks",
    "list-tree",
    "log-out",
    "mail",
    "maximize",
    "menu",
    "message-square",
    "milestone",
    "monitor",
    "moon",
    "octagon-x",
    "panel-right",
    "pin",
    "play",
    "plug",
    "plus",
    "reply",
    "rotate-ccw",
    "rows-3",
    "search",
    "send",
    "server",
    "settings",
    "shield",
    "sliders-horizontal",
    "square-pen",
    "star",
    "sun",
    "table-2",
    "tag",
    "timer",
    "triangle-alert",
    "undo-2",
    "user-round",
    "users",
    "waypoints",
    "wrench",
    "x",
    "zap",
    "zoom-in",
    "zoom-out",
]


def names(sprite: str) -> set[str]:
    """Returns the ids of the symbols in a sprite's text."""
    return set(_SYMBOL.findall(sprite))


def build(icons: Path, own: str) -> str:
    """Returns the sprite: lucide files of folder `icons`, then `own`, our symbols one a line."""
    symbols = [_symbol(name, (icons / f"{name}.svg").read_text("utf-8")) for name in sorted(LUCIDE)]
    return "\n".join(
        ['<svg xmlns="http://www.w3.org/2000/svg">', *symbols, own.strip(), "</svg>", ""]
    )


def _symbol(name: str, svg: str) -> str:
    found = _BODY.search(svg)
    if found is None:
        raise ValueError(f"{name}.svg holds no <svg> element.")
    body = re.sub(r"\s+", " ", found.group(1)).strip()
    return _STROKED.format(name=name, body=body.replace("> <", "><"))
