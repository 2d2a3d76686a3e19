"""Takes away the slips that servers add around a call's arguments, and none that a model made.

Only what leaves one meaning is mended, on the text itself so that every digit stays: an object
inside a string, a fence, a closing token, a comma before a bracket, the same object sent twice.
Half an object and two different ones stay as they are, so that nothing guessed is ever run.
"""

from __future__ import annotations

import json
import re
from typing import Any

_DECODER = json.JSONDecoder()
_ENDINGS = re.compile(r"(?:\s|<\|[A-Za-z0-9_]{1,40}\|>|</?tool_calls?>|</s>)*")
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|,(?=\s*+[}\]])', re.DOTALL)
_FENCE = "```"
_MOST_WRAPPINGS = 3


def mended(text: str) -> str:
    """Returns the text of one JSON object where the slip leaves no doubt, else the text as it is.

    >>> mended('"{\\\\"item\\\\": 1}"')
    '{"item": 1}'
    """
    if _is_object(text):
        return text
    for attempt in (_unwrapped, _unfenced, _once, _without_commas):
        found = attempt(text)
        if found is not None:
            return found
    return text


def _is_object(text: str) -> bool:
    return isinstance(_parsed(text), dict)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _unwrapped(text: str) -> str | None:
    inner = text
    for _ in range(_MOST_WRAPPINGS):
        value = _parsed(inner)
        if isinstance(value, dict):
            return inner
        if not isinstance(value, str):
            return None
        inner = value
    return None


def _unfenced(text: str) -> str | None:
    inner = text.strip()
    if not (inner.startswith(_FENCE) and inner.endswith(_FENCE)):
        return None
    inner = inner.strip("`").removeprefix("json").strip()
    return inner if _is_object(inner) else None


def _once(text: str) -> str | None:
    """Returns the one object of a text that repeats it, opens with an empty one, or ends oddly."""
    found: str | None = None
    at = len(text) - len(text.lstrip())
    while text.startswith("{", at):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        piece = text[at:end]
        if found in (None, "{}"):
            found = piece
        elif value and piece != found:
            return None
        ending = _ENDINGS.match(text, end)
        at = ending.end() if ending else end
    return found if at == len(text) else None


def _without_commas(text: str) -> str | None:
    shorter = _STRING_OR_COMMA.sub(lambda m: "" if m[0] == "," else m[0], text)
    return shorter if shorter != text and _is_object(shorter) else None
