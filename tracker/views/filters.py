"""The row of filters above a list or a board: chips for what is set, selects for what is not."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

_ARRANGE = frozenset({"group", "group_by", "group_by2", "group_limit", "limit", "sort", "totals"})
_LABELS = {
    "status": "State", "assignee": "Assignee", "q": "Text", "due": "Due", "priority": "Priority",
    "tag": "Tag", "reporter": "Asked by", "preset": "Show",
}  # fmt: skip
_DUE = (
    ("overdue", "Overdue"), ("today", "Today"), ("thisweek", "This week"), ("next7", "Next 7 days"),
    ("null", "No due date"),
)  # fmt: skip
_GROUPS = (
    ("status", "State"), ("assignee", "Assignee"), ("priority", "Priority"), ("project", "Project"),
    ("unit", "Unit"), ("tag", "Tag"), ("parent", "Whole"), ("due:bucket", "Due"),
)  # fmt: skip
_SORTS = (
    ("-updated", "Last changed"), ("-created", "Newest"), ("due", "Due first"),
    ("-priority", "Most pressing"), ("rank", "By hand"), ("title", "Title"), ("-tokens", "Cost"),
)  # fmt: skip


def chips(
    found: dict[str, Any], base: str, shape: str, kept: list[tuple[str, str]]
) -> list[dict[str, str]]:
    """Returns one chip per filter with the address that takes it off."""
    names = {row["id"]: row["name"] for row in found["statuses"]}
    people = {party["handle"]: party["name"] for party in found["assignees"]}
    people |= {"me": "you", "none": "nobody"}
    words = {"status": names, "assignee": people, "reporter": people, "due": dict(_DUE)}
    shown = []
    for index, (name, value) in enumerate(kept):
        if name in _ARRANGE:
            continue
        rest = [pair for at, pair in enumerate(kept) if at != index]
        shown.append(
            {
                "label": _LABELS.get(name, name.replace("_", " ").capitalize()),
                "verb": "contains" if name == "q" else "is",
                "value": words.get(name, {}).get(value, value),
                "url": f"{base}?{urlencode([('shape', shape), *rest])}",
            }
        )
    return shown


def selects(chosen: dict[str, str]) -> list[dict[str, Any]]:
    """Returns the selects for the due day, the columns and the order."""
    return [
        {
            "name": name,
            "label": label,
            "none": none,
            "options": [
                {"id": value, "name": words, "here": chosen.get(name) == value}
                for value, words in options
            ],
        }
        for name, label, none, options in (
            ("due", "Due", "Any due day", _DUE),
            ("group_by", "Group", "Group by state", _GROUPS),
            ("sort", "Sort", "Last changed", _SORTS[1:]),
        )
    ]
