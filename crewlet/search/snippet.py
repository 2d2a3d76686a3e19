"""The piece of a text around the first word that matched. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from crewlet.search.words import terms

SNIPPET_BYTES = 200
_CUT = "…"
_CHUNK = re.compile(r"\S+")


def snippet(text: str, wanted: Collection[str]) -> str:
    """Returns at most 200 bytes of the text centred on the first wanted term, `…` at a cut end."""
    flat = " ".join(text.split())
    if len(flat.encode()) <= SNIPPET_BYTES:
        return flat
    at = _first(flat, frozenset(wanted))
    room = SNIPPET_BYTES - 2 * len(_CUT.encode())
    raw = flat.encode()
    middle = len(flat[:at].encode())
    begin = min(max(0, middle - room // 2), len(raw) - room)
    piece = raw[begin : begin + room].decode("utf-8", "ignore").strip()
    left = _CUT if begin > 0 else ""
    right = _CUT if begin + room < len(raw) else ""
    return f"{left}{piece}{right}"


def _first(flat: str, wanted: frozenset[str]) -> int:
    """Returns where the first wanted term stands, within its run of characters."""
    for chunk in _CHUNK.finditer(flat):
        if wanted.isdisjoint(terms(chunk[0])):
            continue
        for length in range(1, len(chunk[0]) + 1):
            if not wanted.isdisjoint(terms(chunk[0][:length])):
                return min(chunk.start() + length - 1, chunk.end())
    return 0
