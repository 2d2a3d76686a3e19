"""What a person's assistant may read of the tracker at `crewlet://item/<key>` and its kin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crewlet.doors.mcp import RESOURCES, McpResource
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import Actor
from tracker.queries import projects as queries


def register_resources() -> None:
    """Registers an item and the projects; `tracker.registrations` calls it."""
    RESOURCES.register(
        "item",
        McpResource(
            "A work item", "Its text, people, parts, open asks, talk and history.", item, "key"
        ),
    )
    RESOURCES.register(
        "projects", McpResource("Projects", "Every project with its counts.", projects)
    )


def item(actor: Actor, key: str) -> Mapping[str, Any]:
    """Returns an item whole; raises `NotFound` for a key that nobody filed."""
    args = {"item": key, "include": ["comments", "links", "history"]}
    outcome = perform(actor, "get_work_item", args, op_id=None, door=Door.MCP)
    return outcome.unwrap().data


def projects(actor: Actor, ident: str) -> Mapping[str, Any]:
    """Returns the projects with their counts."""
    rows = queries.projects(actor)
    return {
        "projects": [
            {"key": row["key"], "name": row["name"], "purpose": row["purpose"], "open": row["open"]}
            for row in rows
        ]
    }
