"""What a model may write and Postgres cannot hold: NUL, and halves of characters."""

from __future__ import annotations

from typing import Any


def clean(text: str) -> str:
    """Returns a text without NUL and with a mark where half a character stood."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def cleaned(value: Any) -> Any:
    """Returns plain data whose strings, keys included, are clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in value]
    return value
