"""References across apps that may not import each other: `kind:id` strings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crewlet.kernel.registry import Registry


@dataclass(frozen=True, slots=True)
class RefKind:
    """How a kind of reference is called, where it opens and whether it exists."""

    label: Callable[[str], str]
    url: Callable[[str], str]
    exists: Callable[[str], bool]


REF_KINDS: Registry[RefKind] = Registry("reference kinds")


def url_of(ref: str) -> str:
    """Returns where a reference opens, or an empty string for a kind that nobody registered."""
    name, _, ident = ref.partition(":")
    kind = REF_KINDS.get(name)
    return kind.url(ident) if kind else ""


def label_of(ref: str) -> str:
    """Returns what a reference is called."""
    name, _, ident = ref.partition(":")
    kind = REF_KINDS.get(name)
    return kind.label(ident) if kind else ident or ref
