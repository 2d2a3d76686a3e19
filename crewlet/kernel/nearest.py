"""Nearest names, for errors that tell what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import fuzz, process

_CUTOFF = 60
_SHOWN = 3


def nearest_names(word: str, known: Iterable[str]) -> list[str]:
    """Returns at most three known names that look like the word, best first."""
    found = process.extract(
        word, list(known), scorer=fuzz.WRatio, limit=_SHOWN, score_cutoff=_CUTOFF
    )
    return [name for name, _, _ in found]


def nearest(word: str, known: Iterable[str]) -> str:
    """Returns the nearest names as words: `a, b or c`; empty when none is near."""
    names = nearest_names(word, known)
    *others, last = names or [""]
    return f"{', '.join(others)} or {last}" if others else last
