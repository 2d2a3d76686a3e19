"""How large what a model is given is, in bytes of UTF-8. Pure.

Sizes are of the texts themselves, without what a vendor's wire adds around them. Tokens are told as
a quarter of the bytes: an estimate that no tokenizer of ours could better for every vendor.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

BYTES_A_TOKEN: Final = 4


def prompt_size(
    system: str, user: str, conversation: Iterable[str], tools: Sequence[Mapping[str, Any]]
) -> dict[str, int]:
    """Returns the bytes of a request's parts, their sum and about how many tokens that is.

    `conversation` is all that was said after the opening message: answers, results, notes.
    """
    sizes = {
        "system": _bytes(system),
        "user": _bytes(user),
        "conversation": sum(_bytes(text) for text in conversation),
        "tools": _bytes(json.dumps(list(tools), ensure_ascii=False)) if tools else 0,
    }
    total = sum(sizes.values())
    return {**sizes, "total": total, "about_tokens": total // BYTES_A_TOKEN}


def said(rounds: Iterable[tuple[str, Iterable[tuple[str, str]], str]]) -> list[str]:
    """Returns the texts of rounds as the next request carries them.

    A round is its answer's text, its calls as (arguments, result), and the engine's note.
    """
    texts: list[str] = []
    for answer, calls, note in rounds:
        texts.append(answer)
        for arguments, result in calls:
            texts += (arguments, result)
        texts.append(note)
    return texts


def _bytes(text: str) -> int:
    # A model may write halves of characters; they count as the mark that stands for them.
    return len(text.encode("utf-8", "replace"))
