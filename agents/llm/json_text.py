"""Reads JSON without retyping it: the value and the exact text it was written as.

A parsed and re-encoded answer is a different answer: 1.10 becomes 1.1, an escaped character changes
its bytes, and a vendor that signed the block refuses it. So history is spliced as text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Slice:
    """A JSON value and the text it stands in."""

    value: Any
    text: str


class NotJson(ValueError):
    """The text is no JSON object (or list) of the expected kind."""


def members(text: str) -> dict[str, Slice]:
    """Returns the members of a JSON object by name; raises `NotJson`."""
    try:
        return _members(text)
    except (ValueError, IndexError, RecursionError) as problem:
        raise NotJson(f"not a JSON object: {problem}") from problem


def elements(text: str) -> list[Slice]:
    """Returns the elements of a JSON list in order; raises `NotJson`."""
    try:
        return _elements(text)
    except (ValueError, IndexError, RecursionError) as problem:
        raise NotJson(f"not a JSON list: {problem}") from problem


def encode(value: object) -> str:
    """Returns compact JSON in which text stays text; lone surrogates become U+FFFD."""
    return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def object_of(parts: dict[str, str]) -> str:
    """Returns an object whose values are JSON text already."""
    return "{" + ",".join(f"{encode(name)}:{text}" for name, text in parts.items()) + "}"


def list_of(parts: list[str]) -> str:
    """Returns a list whose elements are JSON text already."""
    return "[" + ",".join(parts) + "]"


def clean(text: str) -> str:
    """Replaces lone surrogates, which no wire and no database accepts."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode() if _has_surrogate(text) else text


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _expect(text: str, at: int, what: str) -> int:
    at = _skip(text, at)
    if text[at] != what:
        raise NotJson(f"expected {what!r} at {at}")
    return _skip(text, at + 1)


def _members(text: str) -> dict[str, Slice]:
    found: dict[str, Slice] = {}
    at = _expect(text, 0, "{")
    while text[at] != "}":
        if found:
            at = _expect(text, at, ",")
        if text[at] != '"':
            raise NotJson(f"expected a name at {at}")
        name, at = _DECODER.raw_decode(text, at)
        start = _expect(text, at, ":")
        value, at = _DECODER.raw_decode(text, start)
        found[name] = Slice(value, text[start:at])
        at = _skip(text, at)
    return found


def _elements(text: str) -> list[Slice]:
    found: list[Slice] = []
    at = _expect(text, 0, "[")
    while text[at] != "]":
        if found:
            at = _expect(text, at, ",")
        value, end = _DECODER.raw_decode(text, at)
        found.append(Slice(value, text[at:end]))
        at = _skip(text, end)
    return found
