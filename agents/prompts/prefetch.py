"""Blocks that a turn opens with. Apps register them; each is read once and frozen for the turn."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agents.prompts.outline import Section
from crewlet.kernel.registry import Registry

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prefetch:
    """A block: its place in the prompt is its key's place in the section order."""

    key: str
    title: str
    read: Callable[[Snapshot, str, datetime], str]


PREFETCHES: Registry[Prefetch] = Registry("prefetches")


def sections(snapshot: Snapshot, handle: str, now: datetime) -> dict[str, Section]:
    """Returns the blocks that have something to say, by key."""
    found: dict[str, Section] = {}
    for key, prefetch in PREFETCHES.items():
        text = prefetch.read(snapshot, handle, now)
        if text:
            found[key] = Section(key, prefetch.title, text)
    return found
