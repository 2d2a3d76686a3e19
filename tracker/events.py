"""Facts of the tracker that others may react to inside the write's transaction."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class TextsChanged:
    """The title, text or talk of these items is another one now."""

    items: tuple[UUID, ...]
