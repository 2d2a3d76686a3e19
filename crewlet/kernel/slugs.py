"""Slugs: a short word for an address, for any text at all. Pure.

A letter of any script stays a letter with its marks, so that no two words of another script fall
together; only what Latin letters wear on top is taken off. A text without one letter or digit gets
a word made from its characters, always the same one.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection

LONGEST = 64
_DIGEST = 8
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}
)


def slug_of(text: str, *, longest: int = LONGEST) -> str:
    """Returns the slug of a text: never empty, no dot, slash or space, safe as a file's name."""
    words = "".join(_kept(text)).split()
    slug = _cut("-".join(words), longest)
    if slug and slug not in _RESERVED:
        return slug
    digest = hashlib.sha256(unicodedata.normalize("NFC", text).encode()).hexdigest()[:_DIGEST]
    return f"{slug}-{digest}" if slug else f"x-{digest}"


def free_slug(text: str, taken: Collection[str], *, longest: int = LONGEST) -> str:
    """Returns the slug of a text, with the first free number behind it when somebody has it."""
    slug = slug_of(text, longest=longest)
    found, number = slug, 2
    while found in taken:
        suffix = f"-{number}"
        found = _cut(slug, longest - len(suffix)) + suffix
        number += 1
    return found


def _kept(text: str) -> list[str]:
    kept: list[str] = []
    latin = False
    for char in unicodedata.normalize("NFKD", text.casefold()):
        category = unicodedata.category(char)
        if category.startswith("M"):
            # A vowel or tone sign of another script is part of the word; an accent is not.
            if not latin and kept and kept[-1] != " ":
                kept.append(char)
            continue
        if category.startswith(("L", "N")):
            latin = char.isascii()
            kept.append(char)
        elif category != "Cf" and char not in "'\u2019":
            latin = False
            kept.append(" ")
    return list(unicodedata.normalize("NFC", "".join(kept)))


def _cut(slug: str, longest: int) -> str:
    """Cuts a slug by characters without leaving a sign at the edge that belonged to the next."""
    while len(slug) > longest or slug.endswith("-"):
        slug = slug[:-1]
        while slug and len(slug) >= longest and unicodedata.category(slug[-1]).startswith("M"):
            slug = slug[:-1]
    return slug
