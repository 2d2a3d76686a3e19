"""The row of filters above a list or a board: chips for what is set, selects for what is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from tracker.queries.pages import PRIORITIES

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
_TOTALS = (
    ("tokens:sum", "Tokens in all"), ("tokens:avg", "Tokens of one"),
    ("tokens:median", "Tokens, median"), ("tokens:p90", "Tokens, 90 % below"),
    ("turns:sum", "Turns in all"), ("turns:avg", "Turns of one"),
)  # fmt: skip
_TAG_VERBS = {"any": "is any of", "all": "has all of", "none": "has none of"}


def chips(
    found: dict[str, Any], base: str, shape: str, kept: list[tuple[str, str]]
) -> list[dict[str, str]]:
    """Returns one chip per filter with the address that takes it off."""
    words = _names(found)
    shown = []
    for index, (name, value) in enumerate(kept):
        if name in _ARRANGE:
            continue
        rest = [pair for at, pair in enumerate(kept) if at != index]
        shown.append(
            {
                "label": _LABELS.get(name, name.replace("_", " ").capitalize()),
                **_said(name, value, words.get(name, {})),
                "url": f"{base}?{urlencode([('shape', shape), *rest])}",
            }
        )
    return shown


def _names(found: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Returns what people call the values of each key."""
    people = {party["handle"]: party["name"] for party in found["assignees"]}
    people |= {"me": "you", "none": "nobody"}
    return {
        "status": {row["id"]: row["name"] for row in found["statuses"]},
        "assignee": people,
        "reporter": people,
        "watcher": people,
        "due": dict(_DUE),
        "priority": {row["id"]: row["name"] for row in PRIORITIES},
        "tag": {tag["slug"]: tag["label"] for tag in found["tags"]},
    }


def _said(name: str, value: str, names: dict[str, str]) -> dict[str, str]:
    """Returns a test as a sentence reads it: `is not To do, In progress`."""
    if name == "q":
        return {"verb": "contains", "value": value}
    if value in names:
        return {"verb": "is", "value": names[value]}
    verb, bare = "is", value
    if name == "tag":
        mode, colon, rest = value.partition(":")
        verb, bare = (_TAG_VERBS.get(mode, "is"), rest) if colon else ("is any of", value)
    elif value.startswith("!"):
        verb, bare = "is not", value[1:]
    parts = [names.get(part, part) for part in bare.split(",")]
    if len(parts) == 1 and verb == "is any of":
        verb = "is"
    return {"verb": verb, "value": ", ".join(parts)}


def selects(chosen: dict[str, str], tags: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Returns the selects for the tag, the due day, the columns, the order and the figures."""
    usable = [(f"any:{tag['slug']}", tag["label"]) for tag in tags if not tag["archived"]]
    offered = (
        *([("tag", "Tag", "Any tag", usable)] if usable else []),
        ("due", "Due", "Any due day", _DUE),
        ("group_by", "Group", "Group by state", _GROUPS),
        ("sort", "Sort", "Last changed", _SORTS[1:]),
        ("totals", "Figures", "No figures", _TOTALS),
    )
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
        for name, label, none, options in offered
    ]


def figures(found: dict[str, float]) -> list[dict[str, Any]]:
    """Returns the asked figures over the whole list, by name, in the order asked."""
    names = dict(_TOTALS)
    return [
        {"name": names.get(key, key.replace(":", ", ")), "value": value}
        for key, value in found.items()
    ]
