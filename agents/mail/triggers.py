"""Kinds of mail. The app that sends a kind registers how it reads and what reply it is owed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.mail.letters import ReplyKind
from crewlet.kernel.registry import Registry

Owes = Callable[[Mapping[str, Any]], tuple[ReplyKind, str]]
Render = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class TriggerKind:
    """One kind of mail.

    `owes(payload)` gives the reply that is owed and its surface, for whoever posts such mail;
    `render(payload)` gives the markdown that a turn reads. `collapse` lets byte-identical letters
    of one sender shrink to a marker. A kind that does not `wake` is logged and needs no turn.
    """

    name: str
    title: str
    owes: Owes
    render: Render
    collapse: bool = True
    wakes: bool = True


TRIGGERS: Registry[TriggerKind] = Registry("trigger kinds")


def register(kind: TriggerKind) -> TriggerKind:
    """Registers a kind of mail under its own name."""
    return TRIGGERS.register(kind.name, kind)


def wakes(name: str) -> bool:
    """Returns whether a letter of this kind needs a turn; an unknown kind does, to be safe."""
    kind = TRIGGERS.get(name)
    return kind is None or kind.wakes


def collapses(name: str) -> bool:
    """Returns whether identical letters of this kind and sender may shrink to a marker."""
    kind = TRIGGERS.get(name)
    return kind is None or kind.collapse


def title_of(name: str) -> str:
    """Returns how a kind is called on a page; an unknown kind by its own name."""
    kind = TRIGGERS.get(name)
    return kind.title if kind else name.replace("_", " ")
