"""Who a text calls by `@handle`. Pure, and the same on every surface.

The text is read as markdown: nothing inside code, HTML comments or a link's address counts, an
escaped `\\@` does not, an e-mail address or a URL does not. CJK and other scripts that write
without spaces may stand right beside a mention. What follows an `@` and is nobody is given back,
so that the writer hears of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark").disable("text_join")
_ESCAPED_AT = "\\"
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+", re.IGNORECASE)
# Spaceless scripts: Thai to Khmer, Hangul Jamo, CJK with kana and Hangul, compatibility forms.
_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Roster:
    """Who can be mentioned: live handles, and display names with the handles that bear them."""

    handles: frozenset[str]
    names: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, seats: Mapping[str, str]) -> Roster:
        """Builds a roster from handle → display name."""
        names: dict[str, tuple[str, ...]] = {}
        for handle, name in seats.items():
            folded = _fold(name)
            names[folded] = (*names.get(folded, ()), handle)
        return cls(frozenset(seats), names)


@dataclass(frozen=True, slots=True)
class Unknown:
    """An `@` that woke nobody: what was written, and who may have been meant."""

    written: str
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mentions:
    """Who is called, in order of appearance, and what called nobody."""

    handles: tuple[str, ...]
    unknown: tuple[Unknown, ...]


def find(text: str, roster: Roster) -> Mentions:
    """Returns whom a markdown text mentions."""
    handles: dict[str, None] = {}
    unknown: dict[str, Unknown] = {}
    for plain in _plain_texts(_MARKDOWN.parse(text)):
        for after in _calls(plain):
            hit = _resolve(after, roster)
            if isinstance(hit, str):
                handles[hit] = None
            elif hit is not None:
                unknown.setdefault(hit.written.casefold(), hit)
    return Mentions(tuple(handles), tuple(unknown.values()))


def _plain_texts(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield "".join(_inline(token.children or []))


def _inline(children: list[Token]) -> Iterator[str]:
    for child in children:
        if child.type == "text":
            yield child.content
        elif child.type == "text_special":
            yield _ESCAPED_AT if child.content == "@" else child.content
        elif child.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif child.type == "code_inline":
            yield " "


def _calls(text: str) -> Iterator[str]:
    """Yields what follows each `@` that can be a mention."""
    text = _URL.sub(lambda match: " " * len(match[0]), text)
    place = text.find("@")
    while place >= 0:
        if place == 0 or _may_precede(text[place - 1]):
            yield text[place + 1 :]
        place = text.find("@", place + 1)


def _may_precede(char: str) -> bool:
    if char in "@/._+%-=":
        return False
    return not char.isalnum() or bool(_SPACELESS.match(char))


def _in_token(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in "-_"
    # An invisible character inside a handle makes it another word, not a shorter handle.
    return unicodedata.category(char) == "Cf"


def _token(after: str) -> str:
    end = 0
    while end < len(after) and _in_token(after[end]):
        end += 1
    return after[:end].rstrip("-_")


def _resolve(after: str, roster: Roster) -> str | Unknown | None:
    token = _token(after)
    following = after[len(token) : len(token) + 1]
    handle = token.casefold()
    if handle in roster.handles and following != "@":
        return handle
    named = _named(after, roster)
    if named is not None:
        return named
    if (
        not token
        or following == "@"
        or (following == "/" and after[len(token) + 1 :][:1].isalnum())
    ):
        return None  # somebody@host, or a package such as @scope/name
    return Unknown(token)


def _named(after: str, roster: Roster) -> str | Unknown | None:
    folded = _fold(after[:200])
    for name in sorted(roster.names, key=len, reverse=True):
        if not name or not folded.startswith(name):
            continue
        if _goes_on(folded[len(name) : len(name) + 1]):
            continue
        holders = roster.names[name]
        return holders[0] if len(holders) == 1 else Unknown(after[: len(name)], holders)
    return None


def _goes_on(rest: str) -> bool:
    """Whether a name is only the beginning of a longer word."""
    if rest in {"-", "_", "@"}:
        return True
    return rest.isalnum() and not _SPACELESS.match(rest)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
