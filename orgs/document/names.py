"""Addresses minted from names: one rule for handles and unit keys, used everywhere.

Two slug functions in one product orphan memory the day they differ, so nothing else in the
code base may turn a name into an address.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

ADDRESS_MAX: Final = 64
HANDLE_PATTERN: Final = r"^[a-z0-9][a-z0-9-]*$"
UNIT_KEY_PATTERN: Final = r"^[A-Za-z][A-Za-z0-9_-]*$"
PROJECT_KEY_PATTERN: Final = r"^[A-Z][A-Z0-9]{1,9}$"
PROVIDER_KEY_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"

RESERVED_HANDLES: Final = frozenset(
    {"me", "null", "none", "nobody", "anyone", "everyone", "anonymous", "engine", "crewlet"}
)
"""Words that queries and pages already give a meaning: `assignee=me` is the caller for ever."""

_OUTSIDE: Final = re.compile(r"[^a-z0-9]+")


def derive_handle(name: str) -> str:
    """Turns a display name into the handle it stands for; "" when nothing is left of it.

    Composed form first, so that the two spellings of one accented name agree. The result may be
    longer than `ADDRESS_MAX`: the caller asks for an explicit handle instead of cutting it.
    """
    composed = unicodedata.normalize("NFC", name)
    return _OUTSIDE.sub("-", composed.lower()).strip("-")


def derive_unit_key(name: str) -> str:
    """Turns a unit's name into its key; "" when no key that starts with a letter is left."""
    key = derive_handle(name)
    return key if key[:1].isalpha() else ""


def fold_key(key: str) -> str:
    """Gives the form in which unit keys are compared: lower case, a space is a hyphen."""
    return unicodedata.normalize("NFC", key).strip().lower().replace(" ", "-")


def is_handle(text: str) -> bool:
    """Says whether `text` has the shape of a handle."""
    return len(text) <= ADDRESS_MAX and re.fullmatch(HANDLE_PATTERN[1:-1], text) is not None


def is_unit_key(text: str) -> bool:
    """Says whether `text` has the shape of a unit key."""
    return len(text) <= ADDRESS_MAX and re.fullmatch(UNIT_KEY_PATTERN[1:-1], text) is not None
