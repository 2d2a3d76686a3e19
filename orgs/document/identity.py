"""Identities that are the same on every machine."""

from __future__ import annotations

import uuid
from typing import Final

_AGENTS: Final = uuid.UUID("8c5b7a52-6a0d-5d0e-9d43-1f7b3c2e6a90")


def agent_id(company: str, handle: str) -> uuid.UUID:
    """Gives the id of an agent seat: uuid5 of "company:handle", by the names both began with.

    Raises ValueError when either is empty: an id of nothing would be shared by everybody.
    """
    if not company.strip() or not handle.strip():
        raise ValueError("An agent's id needs the company's name and the seat's handle.")
    return uuid.uuid5(_AGENTS, f"{company}:{handle}")
