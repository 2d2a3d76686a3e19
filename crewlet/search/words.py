"""The one tokenizer of the index and of queries. Pure.

Identifiers stand whole and in parts (`eng-412`, `eng`, `412`), accents fold, text of scripts that
write without spaces gives pairs of neighbouring characters. No stemming and no stop words: the
rarity of a word weighs it, and a name is never lost.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

LONGEST_TERM = 96
_CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = rf"(?:(?![{_CJK}])[^\W_])+"
_TOKEN = re.compile(
    rf"(?P<cjk>[{_CJK}\U00020000-\U0003ffff]+)"
    rf"|(?P<name>{_WORD}(?:[-_./:@\\]+{_WORD})*(?:\+\+|\#)?)"
    r"|(?P<sign>[\u2600-\u27bf\U0001f000-\U0001faff])"
)
_PART = re.compile(_WORD)
_ACCENTS = re.compile("[\u0300-\u036f]")


def fold(text: str) -> str:
    """Returns a text without case, accents and compatibility forms: `Straße` and `strasse` meet."""
    spread = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", spread.casefold())


def terms(text: str) -> list[str]:
    """Returns the terms of a text in its order, one for each time they stand there."""
    found: list[str] = []
    for match in _TOKEN.finditer(fold(text)):
        if match["cjk"]:
            run = match["cjk"]
            found += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
        elif match["name"]:
            whole, parts = match["name"], _PART.findall(match["name"])
            found += [whole] if parts == [whole] else [whole, *parts]
        else:
            found.append(match["sign"])
    return [_bounded(term) for term in found]


def _bounded(term: str) -> str:
    if len(term) <= LONGEST_TERM:
        return term
    return f"~{hashlib.sha256(term.encode()).hexdigest()[:32]}"
