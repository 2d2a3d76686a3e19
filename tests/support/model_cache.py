"""What a vendor's prompt cache would have held: computed from the requests that a server saw.

Anthropic reads the longest prefix that ends at most `LOOKBACK` blocks before a breakpoint and that
an earlier request wrote at one of its breakpoints. OpenAI reads the longest common prefix.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

LOOKBACK = 20


def anthropic_shares(bodies: Sequence[dict[str, Any]]) -> list[float]:
    """Returns for each request the share of its characters that the cache would have held."""
    written: set[str] = set()
    shares = []
    for body in bodies:
        prefixes = list(_prefixes(body))
        marks = [at for at, (_, _, marked) in enumerate(prefixes) if marked]
        read = 0
        for mark in marks:
            for at in range(max(0, mark - LOOKBACK), mark + 1):
                if prefixes[at][0] in written:
                    read = max(read, prefixes[at][1])
        written |= {prefixes[at][0] for at in marks}
        shares.append(read / prefixes[-1][1])
    return shares


def openai_shares(bodies: Sequence[dict[str, Any]]) -> list[float]:
    """Returns for each request the share of its characters that begin an earlier one."""
    texts = [json.dumps([body.get("tools"), body["messages"]]) for body in bodies]
    return [
        max((_common(text, before) for before in texts[:at]), default=0) / len(text)
        for at, text in enumerate(texts)
    ]


def _common(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _prefixes(body: dict[str, Any]) -> Iterator[tuple[str, int, bool]]:
    digest, length = hashlib.sha256(), 0
    for block in _blocks(body):
        plain = {name: value for name, value in block.items() if name != "cache_control"}
        text = json.dumps(plain)
        digest.update(text.encode())
        length += len(text)
        yield digest.hexdigest(), length, "cache_control" in block


def _blocks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from body.get("tools", [])
    yield from body.get("system", [])
    for message in body["messages"]:
        for block in message["content"]:
            yield {"role": message["role"], **block}
