"""Small numbers as words, for sentences that people read."""

from __future__ import annotations

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def spelled(count: int) -> str:
    """Returns `three`; from ten on the digits."""
    return _WORDS[count] if 0 <= count < len(_WORDS) else str(count)


def said(count: int, one: str, many: str) -> str:
    """Returns `One item is open`, `12 items are open`: the number begins the sentence."""
    return f"{spelled(count)} {one if count == 1 else many}".capitalize()
