"""Manual order as strings: a key can always be made between two neighbours. Pure.

A key is a head of six base-62 digits and an optional tail that never ends in `0`. The digits are
in byte order, so Postgres sorts keys with the C collation. Appending and prepending step the
head, which stays six digits long; only inserting into a gap grows a tail.

Holds: for two valid keys `low < high`, `low < between(low, high) < high`.
"""

from __future__ import annotations

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BASE = len(DIGITS)
HEAD = 6
RESPREAD_AT = 24
"""A key this long makes its neighbourhood be spread anew."""

_VALUE = {digit: value for value, digit in enumerate(DIGITS)}
_STEP = BASE * BASE
_HEADS = BASE**HEAD


def first() -> str:
    """Returns the key of the first row of an order: the middle, with room on both sides."""
    return _head(_HEADS // 2)


def is_key(text: str) -> bool:
    """Returns whether a text is a key of this order."""
    if len(text) < HEAD or any(digit not in _VALUE for digit in text):
        return False
    return len(text) == HEAD or text[-1] != DIGITS[0]


def between(low: str | None, high: str | None) -> str:
    """Returns a key above `low` and below `high`; None is an open end.

    Raises ValueError when the two are not valid keys in rising order.
    """
    for key in (low, high):
        if key is not None and not is_key(key):
            raise ValueError(f"{key!r} is not an order key")
    if low is None and high is None:
        return first()
    if low is not None and high is not None and low >= high:
        raise ValueError(f"{low!r} does not come before {high!r}")
    if low is not None and high is None:
        above = _read_head(low) + _STEP
        return _head(above) if above < _HEADS else _middle(low, None)
    if low is None and high is not None:
        below = _read_head(high) - _STEP
        return _head(below) if below >= 0 else _middle("", high)
    return _middle(low or "", high)


def spread(low: str | None, high: str | None, count: int) -> list[str]:
    """Returns `count` rising keys, evenly spaced between two neighbours; None is an open end."""
    if count < 1:
        return []
    for width in range(HEAD, 2 * RESPREAD_AT + HEAD):
        bottom = _number(low or "", width)
        top = _number(high, width) if high is not None else BASE**width
        step = (top - bottom) // (count + 1)
        if step > 1:
            return [_key(bottom + step * place, width) for place in range(1, count + 1)]
    raise ValueError("There is no room between these neighbours; spread a wider stretch.")


def _middle(low: str, high: str | None) -> str:
    digits: list[int] = []
    place, open_above = 0, high is None
    while True:
        floor = _VALUE[low[place]] if place < len(low) else 0
        ceiling = BASE
        if not open_above and high is not None:
            ceiling = _VALUE[high[place]] if place < len(high) else 0
        if ceiling - floor > 1:
            digits.append((floor + ceiling) // 2)
            return _padded("".join(DIGITS[digit] for digit in digits))
        digits.append(floor)
        # One step apart: everything that starts with the lower digit is below the upper key.
        open_above = open_above or ceiling > floor
        place += 1


def _padded(text: str) -> str:
    return text.ljust(HEAD, DIGITS[0])


def _read_head(key: str) -> int:
    return _number(key[:HEAD], HEAD)


def _head(number: int) -> str:
    return _key(number, HEAD)


def _number(text: str, width: int) -> int:
    value = 0
    for digit in text[:width].ljust(width, DIGITS[0]):
        value = value * BASE + _VALUE[digit]
    return value


def _key(number: int, width: int) -> str:
    digits: list[str] = []
    for _ in range(width):
        number, digit = divmod(number, BASE)
        digits.append(DIGITS[digit])
    text = "".join(reversed(digits))
    return text[:HEAD] + text[HEAD:].rstrip(DIGITS[0])
