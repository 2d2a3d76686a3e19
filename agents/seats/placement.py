"""How many seats a node should hold. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Final
from uuid import UUID

GIVE_BACK_PER_SWEEP: Final = 2
"""A node above its share gives back slowly, so that the fleet settles without swinging."""


def fair_share(seats: int, nodes: int) -> int:
    """Returns the most seats that one of `nodes` live, willing nodes should hold."""
    return ceil(seats / nodes) if nodes > 0 else 0


def room(held: int, share: int) -> int:
    """Returns how many more seats a node may take."""
    return max(0, share - held)


def to_give_back(held: Sequence[UUID], share: int, busy: Callable[[UUID], bool]) -> list[UUID]:
    """Returns the seats that a node above its share lets go now: idle ones, at most two."""
    surplus = min(max(0, len(held) - share), GIVE_BACK_PER_SWEEP)
    return [seat for seat in held if not busy(seat)][:surplus]
