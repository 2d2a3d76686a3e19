"""Keeps what a server was given out of every text that it sends. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from crewlet.kernel.redact import MASK


def hide(text: str, secrets: Iterable[str]) -> str:
    """Returns a text without the very values that the server was given."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text
