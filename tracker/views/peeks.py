"""An item and a project in the rail beside a page."""

from __future__ import annotations

from typing import Any

from crewlet.console.registries import PEEKS, Peek
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from tracker.queries import files as file_queries
from tracker.queries import pages as queries
from tracker.queries import projects as project_queries

OPEN_SHOWN = 8


def register_peeks() -> None:
    """Registers the tracker's peeks; `register_panels` calls it."""
    PEEKS.register("item", Peek("tracker/_peek_item.html", item, "/work/{}".format))
    PEEKS.register("file", Peek("tracker/_peek_file.html", file, file_queries.page_of_file))
    PEEKS.register("project", Peek("tracker/_peek_project.html", project, "/work/{}".format))


def item(actor: Actor, key: str) -> dict[str, Any]:
    """Returns an item with its text and open asks; raises `NotFound`."""
    found = queries.item_page(actor, key)
    return {"item": found["item"], "asks": found["asks"], "subs": found["subs"]}


def project(actor: Actor, key: str) -> dict[str, Any]:
    """Returns a project with the items of it that changed last; raises `NotFound`."""
    found = project_queries.project(actor, key)
    listed = queries.work_page(
        actor, project=found["key"], limit=OPEN_SHOWN, query={"open_only": "true"}
    )
    return {"project": found, "rows": listed["items"], "total": listed["total"]}


def file(actor: Actor, ident: str) -> dict[str, Any]:
    """Returns a file of a project or of an item with its beginning; raises `NotFound`."""
    require(actor, Grant.STATE_READ)
    return {"file": file_queries.peeked(ident)}
