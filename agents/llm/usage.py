"""Tokens of a call as each vendor counts them, as one number that means the full prompt."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from agents.llm.base import Usage

CHARACTERS_PER_TOKEN = 4
"""A rough English average, used only where a server sends no usage at all."""


def anthropic_usage(data: Mapping[str, Any]) -> Usage | None:
    """Reads Anthropic's usage, whose `input_tokens` leaves the cached part out."""
    if _count(data, "input_tokens") is None and _count(data, "output_tokens") is None:
        return None
    read = _count(data, "cache_read_input_tokens")
    write = _count(data, "cache_creation_input_tokens")
    fresh = _count(data, "input_tokens") or 0
    return Usage(
        input=fresh + (read or 0) + (write or 0),
        output=_count(data, "output_tokens") or 0,
        cache_read=read,
        cache_write=write,
    )


def openai_usage(data: Mapping[str, Any]) -> Usage | None:
    """Reads a Chat Completions usage, whose `prompt_tokens` is the full prompt already."""
    prompt = _first(data, "prompt_tokens", "input_tokens")
    completion = _first(data, "completion_tokens", "output_tokens")
    if not prompt and not completion:
        return None
    details = data.get("prompt_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    read = _count(details, "cached_tokens")
    if read is None:
        read = _count(data, "prompt_cache_hit_tokens")
    return Usage(
        input=prompt or 0,
        output=completion or 0,
        cache_read=read,
        cache_write=_count(details, "cache_write_tokens"),
    )


def estimate(prompt_characters: int, answer_characters: int) -> Usage:
    """Counts by length and says so."""
    return Usage(
        input=_tokens(prompt_characters), output=_tokens(answer_characters), estimated=True
    )


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _count(data: Mapping[str, Any], name: str) -> int | None:
    value = data.get(name)
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return max(0, int(value))


def _first(data: Mapping[str, Any], *names: str) -> int | None:
    counts = (_count(data, name) for name in names)
    return next((count for count in counts if count is not None), None)
