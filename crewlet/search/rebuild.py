"""Building the index anew from the texts themselves."""

from __future__ import annotations

from django.db import transaction

from crewlet.search.find import SOURCES
from crewlet.search.index import forget_kind, index


def rebuild() -> dict[str, int]:
    """Indexes every text of every kind anew, each kind in one transaction; returns how many."""
    counts = {}
    for kind, source in SOURCES.items():
        with transaction.atomic():
            forget_kind(kind)
            counts[kind] = 0
            for ident, title, body in source.texts():
                index(kind, ident, title, body)
                counts[kind] += 1
    return counts
