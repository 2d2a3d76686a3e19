"""Items as the one grid draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from crewlet.console.grid import Column, grid
from crewlet.console.templatetags.ui import for_reader, priority_mark, status_mark
from crewlet.kernel.actors import Actor
from tracker.query_values import SORTS

COLUMNS = (
    Column("title", "Title", sort=True, wide=True),
    Column("key", "Key", kind="key", keep=1),
    Column("state", "State", keep=3),
    Column("now", "Now", keep=1),
    Column("assignee", "Assignee", keep=1),
    Column("priority", "Priority", sort=True, keep=2),
    Column("due", "Due", sort=True, kind="time", keep=2),
    Column("tags", "Tags", keep=3),
    Column("parts", "Parts", num=True, keep=3),
    Column("comments", "Comments", num=True, keep=3),
    Column("updated", "Changed", sort=True, kind="time", keep=3),
)
DEFAULT = "-updated"
EMPTY = {"title": "No items", "text": "Nothing stands here."}


def work_grid(
    query: QueryDict, parts: Sequence[Mapping[str, Any]], reader: Actor, total: int
) -> dict[str, Any]:
    """Returns a list of items in bands: each part is {title, total, items, more_url}.

    The bands come sorted. An order that no column has marks no head.
    """
    asked = query.get("sort", "").removeprefix("-")
    shown = {column.key for column in COLUMNS if column.sort}
    rows = [_line(row, part["title"], reader) for part in parts for row in part["items"]]
    return grid(
        query, "", COLUMNS, rows, label="Items", empty=EMPTY, total=total,
        default_sort="" if asked in SORTS and asked not in shown else DEFAULT,
        complete=not any(part["more_url"] for part in parts), sorted_by_caller=True,
        band_facts={part["title"]: part for part in parts}, compact=True,
    )  # fmt: skip


def _line(row: Mapping[str, Any], band: str, reader: Actor) -> dict[str, Any]:
    assignee, subs = row["assignee"], row["subs"]
    return {
        "id": f"row-{row['key']}",
        "peek": f"item:{row['key']}",
        "band": band,
        "title": {"text": row["title"], "url": row["url"], "peek": f"item:{row['key']}"},
        "key": row["key"],
        "state": {"text": row["status_name"], "glyph": status_mark(row["group"], row["status"])},
        "now": _now(row, reader),
        "assignee": {"text": assignee["name"], "who": assignee} if assignee else None,
        "priority": {"text": row["priority"].capitalize(), "glyph": priority_mark(row["priority"])}
        if row["priority"] != "none" else None,
        "due": {"text": row["due"], "tone": "stop" if row["overdue"] else "",
                "title": "Overdue" if row["overdue"] else ""},
        "tags": ", ".join(row["labels"]),
        "parts": {"text": f"{subs['done']}/{subs['total']}", "title": "parts that are done"}
        if subs else None,
        "comments": row["comments"] or None,
        "updated": row["updated_at"],
    }  # fmt: skip


def _now(row: Mapping[str, Any], reader: Actor) -> dict[str, Any] | None:
    """Returns what happens to an item now: who works on it, what it waits for, what stops it."""
    if row["live"]:
        return {"text": row["live"]["text"], "tone": "work"}
    if row["waiting"]:
        return {"text": for_reader(row["waiting"], reader), "tone": "need"}
    return {"text": row["blocked"], "tone": "stop"} if row["blocked"] else None
