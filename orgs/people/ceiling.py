"""The deployment's ceiling: grants beyond it are cut from every request, whoever makes it."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from crewlet.kernel.authority import ALL_GRANTS, Grant


def ceiling() -> frozenset[Grant]:
    """Returns the grants that this deployment lets anybody use; all of them unless set."""
    names: Iterable[str] | None = getattr(settings, "CREWLET_GRANT_CEILING", None)
    return ALL_GRANTS if names is None else frozenset(Grant(name) for name in names)


def cut(grants: frozenset[Grant]) -> frozenset[Grant]:
    """Returns what is left of some grants under the ceiling."""
    return grants & ceiling()
