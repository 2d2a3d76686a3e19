"""A prompt with its outline: named parts that tile the text exactly.

The sum of the parts' UTF-8 bytes is the size of the prompt, every part has at least one byte, and
keys are unique: a page can show any part byte for byte.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

log = logging.getLogger(__name__)

_GAP = "\n\n"


class OutlinePart(TypedDict):
    """One part of a prompt: its key, what it is called on a page, its size in UTF-8 bytes."""

    key: str
    title: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Section:
    """A named piece of prose; an empty one is left out of the prompt."""

    key: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text that a model is given and the outline that tiles it."""

    text: str
    outline: tuple[OutlinePart, ...]

    def part(self, key: str) -> str:
        """Returns a part byte for byte; raises KeyError for a key that is not in the outline."""
        raw, at = self.text.encode(), 0
        for part in self.outline:
            if part["key"] == key:
                return raw[at : at + part["bytes"]].decode()
            at += part["bytes"]
        raise KeyError(key)

    def find(self, key: str) -> str:
        """Returns a part without the space around it; empty when there is none by that key."""
        if all(part["key"] != key for part in self.outline):
            return ""
        return self.part(key).strip()


def assemble(sections: Iterable[Section]) -> Prompt:
    """Returns the prompt of the sections that say something, in their order.

    Raises ValueError when two sections share a key.
    """
    kept = [section for section in sections if section.text.strip()]
    if len({section.key for section in kept}) != len(kept):
        raise ValueError("Two sections of a prompt share a key.")
    pieces = [section.text.strip() + _GAP for section in kept]
    if pieces:
        pieces[-1] = pieces[-1].rstrip("\n") + "\n"
    outline = tuple(
        OutlinePart(key=section.key, title=section.title, bytes=len(piece.encode()))
        for section, piece in zip(kept, pieces, strict=True)
    )
    return Prompt("".join(pieces), outline)


def fitting(outline: Sequence[OutlinePart], text: str) -> list[OutlinePart]:
    """Returns the outline when it tiles the text exactly, else none of it.

    A page would show parts that begin in the middle of others; without an outline it shows the
    prompt whole.
    """
    keys = [part["key"] for part in outline]
    fault = "two parts share a key" if len(set(keys)) != len(keys) else _misfit(outline, text)
    if fault:
        log.error("prompt_outline_withheld", extra={"why": fault, "keys": keys})
        return []
    return list(outline)


def _misfit(outline: Sequence[OutlinePart], text: str) -> str:
    raw, at = text.encode(), 0
    for part in outline:
        piece = raw[at : at + part["bytes"]]
        at += part["bytes"]
        if part["bytes"] < 1 or len(piece) != part["bytes"]:
            return f"part {part['key']} has no text of its own"
        try:
            piece.decode()
        except UnicodeDecodeError:
            return f"part {part['key']} cuts a character"
    return "" if at == len(raw) else f"{len(raw) - at} bytes are in no part"
