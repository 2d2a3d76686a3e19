"""An item and a project in the rail beside a page."""

from __future__ import annotations

from typing import Any

from crewlet.console.registries import PEEKS, Peek
from crewlet.kernel.actors import Actor
from tracker.queries import pages as queries

OPEN_SHOWN = 8


def register_peeks() -> None:
    """Registers the tracker's peeks; `register_panels` calls it."""
    PEEKS.register("item", Peek("tracker/_peek_item.html", item, "/work/{}".format))
    PEEKS.register("project", Peek("tracker/_peek_project.html", project, "/work/{}".format))


def item(actor: Actor, key: str) -> dict[str, Any]:
    """Returns an item with its text and open asks; raises `NotFound`."""
    found = queries.item_page(actor, key)
    return {"item": found["item"], "asks": found["asks"], "subs": found["subs"]}


def project(actor: Actor, key: str) -> dict[str, Any]:
    """Returns a project with the items of it that changed last; raises `NotFound`."""
    found = queries.project(actor, key)
    listed = queries.work_page(
        actor, project=found["key"], limit=OPEN_SHOWN, query={"open_only": "true"}
    )
    return {"project": found, "rows": listed["items"], "total": listed["total"]}
