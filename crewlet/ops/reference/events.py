"""The page of events: each type, its category, and the modules that publish it."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from django.apps import apps

from crewlet.environment import BASE_DIR
from crewlet.kernel.events import CATEGORIES, EventType
from crewlet.ops.reference.markdown import code, codes, table

_USE = re.compile(r"\bEventType\.([A-Z0-9_]+)")


def body() -> str:
    """Gives the table of event types, grouped by category."""
    sources = _publishers()
    kinds = sorted(EventType, key=lambda kind: (CATEGORIES[kind], list(EventType).index(kind)))
    return table(
        ("event", "category", "published by"),
        [(code(kind.value), CATEGORIES[kind], codes(sources[kind.name])) for kind in kinds],
    )


@cache
def _publishers() -> dict[str, list[str]]:
    """Names the modules in whose text an event type stands, by type."""
    found: dict[str, set[str]] = defaultdict(set)
    for root in sorted({app.name.split(".", 1)[0] for app in apps.get_app_configs()}):
        folder = BASE_DIR / root
        if not folder.is_dir():
            continue
        for path in sorted(folder.rglob("*.py")):
            module = ".".join(path.relative_to(BASE_DIR).with_suffix("").parts)
            if module == "crewlet.kernel.events":
                continue
            for name in _USE.findall(path.read_text(encoding="utf-8")):
                found[name].add(module)
    return defaultdict(list, {name: sorted(modules) for name, modules in found.items()})
