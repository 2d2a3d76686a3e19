"""Blocks that a turn opens with. Apps register them; each is read once and frozen for the turn.

The order of the blocks is that of the prompt's sections, whoever registers first. A block that has
nothing to say, or fails, is absent: it costs a turn some knowledge, never its life.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agents.prompts.context import TriggerText
from agents.prompts.outline import Prompt, Section
from crewlet.kernel import clock
from crewlet.kernel.registry import Registry

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

log = logging.getLogger(__name__)

THIN_WORDS: Final = 4
"""A message with fewer words than this says too little to search by."""
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class Opening:
    """What a block may go by: whose turn it is, what woke it, which tools the seat holds."""

    snapshot: Snapshot
    handle: str
    now: datetime
    trigger: tuple[TriggerText, ...] = ()
    tools: frozenset[str] = frozenset()

    @property
    def query(self) -> str:
        """The text to search by: what the messages say, oldest first."""
        return "\n".join(
            str(message.payload.get("text") or message.payload.get("summary") or "")
            for message in self.trigger
        )

    @property
    def thin(self) -> bool:
        """Whether the messages say too little to find anything by ("+1", "PR got a comment")."""
        return len(_WORD.findall(self.query)) < THIN_WORDS


@dataclass(frozen=True, slots=True)
class Prefetch:
    """A block: its place in the prompt is its key's place in the section order.

    One that `searches` finds by what the message says and is left out of a thin opening.
    """

    key: str
    title: str
    read: Callable[[Opening], str]
    searches: bool = False


PREFETCHES: Registry[Prefetch] = Registry("prefetches")


@dataclass(frozen=True, slots=True)
class Gathered:
    """The blocks of an opening by key, and how the reading of them went."""

    sections: dict[str, Section] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)


def gather(opening: Opening) -> Gathered:
    """Reads every block once.

    The report: `started_at`, `duration_ms`, and the keys of blocks that `failed` or were
    `passed_over` because the message is too thin to search by.
    """
    began, started = clock.now(), clock.monotonic()
    found: dict[str, Section] = {}
    failed: list[str] = []
    passed_over: list[str] = []
    for key, prefetch in PREFETCHES.items():
        if prefetch.searches and opening.thin:
            passed_over.append(key)
            continue
        try:
            text = prefetch.read(opening)
        except Exception:
            log.exception("prefetch_failed", extra={"prefetch": key, "seat": opening.handle})
            failed.append(key)
            continue
        if text:
            found[key] = Section(key, prefetch.title, text)
    report = {
        "started_at": began.isoformat(),
        "duration_ms": round((clock.monotonic() - started) * 1000),
        "failed": failed,
        "passed_over": passed_over,
    }
    return Gathered(found, report)


def frozen(text: str, outline: Sequence[Any]) -> Gathered:
    """Returns the blocks of a turn's first opening, from the prompt that it journalled."""
    prompt = Prompt(text, tuple(outline))
    kept = {key: (block.title, prompt.find(key)) for key, block in PREFETCHES.items()}
    return Gathered({key: Section(key, title, said) for key, (title, said) in kept.items() if said})
