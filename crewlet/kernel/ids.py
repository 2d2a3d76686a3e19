"""Identifiers: time-ordered uuid7 for rows, derived uuid5 for what must be the same twice."""

from __future__ import annotations

import uuid

import uuid_utils

_NAMESPACE = uuid.UUID("5d8f2c0e-7a41-4f0b-9c39-0f6a3f9b1e77")


def new_id() -> uuid.UUID:
    """Returns a fresh uuid7: ids made later sort later."""
    return uuid.UUID(int=uuid_utils.uuid7().int)


def derived_id(*parts: str) -> uuid.UUID:
    """Returns the id that these parts always give, on any machine and at any time."""
    return uuid.uuid5(_NAMESPACE, "\x1f".join(parts))
