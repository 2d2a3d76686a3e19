"""The query grammar: one flat set of keys for URL, REST and tool. Pure.

Lists are comma-separated, a leading `!` turns one round (`status=!done`). A key or a value that is
not understood is refused by name: a filter that is silently dropped answers another question.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from crewlet.kernel.errors import Invalid
from crewlet.kernel.nearest import nearest
from tracker.statuses import Priority, Status, StatusGroup

PAGE = 50
PAGE_MOST = 200
QUERY_MOST = 400
VALUES_MOST = 16
SORTS = ("rank", "updated", "created", "due", "priority")
KEYS = (
    "assignee", "container", "cursor", "limit", "open_only", "parent", "priority", "project", "q",
    "reporter", "sort", "status", "status_group",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """A set of allowed (or, negated, forbidden) values."""

    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Sort:
    """An order: its name and direction. Rows without a value come last both ways."""

    name: str
    descending: bool = False

    def __str__(self) -> str:
        return f"-{self.name}" if self.descending else self.name


@dataclass(frozen=True, slots=True)
class Filters:
    """A parsed query. Handles, keys and units are still words: the store knows who they are."""

    status: Choice | None = None
    status_group: Choice | None = None
    priority: Choice | None = None
    assignee: Choice | None = None
    reporter: Choice | None = None
    project: Choice | None = None
    unit: str = ""
    parent: str = ""
    q: str = ""
    open_only: bool = False
    sort: Sort = field(default_factory=lambda: Sort("updated", descending=True))
    limit: int = PAGE
    cursor: tuple[Any, ...] | None = None


def parse_filters(given: Mapping[str, Any]) -> Filters:
    """Returns the filters of a query; raises `Invalid` naming the key or value that is wrong."""
    filters = Filters()
    for key, raw in given.items():
        if key not in KEYS:
            hint = nearest(key, KEYS)
            raise Invalid(
                f"There is no filter '{key}'."
                + (f" Did you mean {hint}?" if hint else f" There are: {', '.join(KEYS)}."),
                field=key,
                allowed=list(KEYS),
            )
        value = _text(raw)
        if value != "":
            filters = _with(filters, key, value)
    if filters.cursor is not None and filters.cursor[0] != str(filters.sort):
        raise Invalid("cursor belongs to another sort order; start without it.", field="cursor")
    return filters


def _text(raw: Any) -> str:
    if raw is None:
        return ""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, list | tuple):
        return ",".join(str(part) for part in raw)
    return str(raw).strip()


_CLOSED: dict[str, tuple[str, ...]] = {
    "status": tuple(Status),
    "status_group": tuple(StatusGroup),
    "priority": tuple(Priority),
}


def _with(filters: Filters, key: str, value: str) -> Filters:
    if key in _CLOSED or key in {"assignee", "reporter", "project"}:
        chosen: dict[str, Any] = {key: _choice(key, value)}
        return replace(filters, **chosen)
    if key == "container":
        return _in_container(filters, value)
    return replace(filters, **{key: _SINGLE[key](value)})


def _choice(key: str, value: str) -> Choice:
    negated = value.startswith("!")
    values = tuple(part.strip().removeprefix("@") for part in value.removeprefix("!").split(","))
    values = tuple(part for part in values if part)
    if not values or len(values) > VALUES_MOST:
        raise Invalid(f"{key} takes 1 to {VALUES_MOST} values, separated by commas.", field=key)
    allowed = _CLOSED.get(key)
    for part in values if allowed else ():
        if part not in (allowed or ()):
            raise Invalid(
                f"{key} knows no '{part}'; it takes {', '.join(allowed or ())}.",
                field=key,
                allowed=list(allowed or ()),
            )
    return Choice(values, negated)


def _in_container(filters: Filters, value: str) -> Filters:
    kind, _, name = value.partition(":")
    if kind == "workspace" and not name:
        return filters
    if kind == "project" and name:
        return replace(filters, project=Choice((name,)))
    if kind == "unit" and name:
        return replace(filters, unit=name)
    raise Invalid(
        f"container '{value}' is not understood; write workspace, project:KEY or unit:KEY.",
        field="container",
    )


def _sort(value: str) -> Sort:
    name = value.removeprefix("-")
    if name not in SORTS:
        raise Invalid(
            f"sort knows no '{name}'; it takes {', '.join(SORTS)}, with - to turn it round.",
            field="sort",
            allowed=list(SORTS),
        )
    return Sort(name, value.startswith("-"))


def _limit(value: str) -> int:
    if not value.isdigit() or not 1 <= int(value) <= PAGE_MOST:
        raise Invalid(f"limit is a number from 1 to {PAGE_MOST}.", field="limit")
    return int(value)


def _flag(value: str) -> bool:
    if value.casefold() not in {"true", "false", "1", "0"}:
        raise Invalid("open_only is true or false.", field="open_only")
    return value.casefold() in {"true", "1"}


def _query(value: str) -> str:
    if len(value.encode()) > QUERY_MOST:
        raise Invalid(f"q is longer than {QUERY_MOST} bytes; use fewer words.", field="q")
    return value


def write_cursor(sort: Sort, value: str | int | None, item_id: str) -> str:
    """Returns the mark behind a row: its sort value (None for an empty one) and its id."""
    body = json.dumps([str(sort), value, item_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")


def _cursor(value: str) -> tuple[Any, ...]:
    try:
        padded = value + "=" * (-len(value) % 4)
        body = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, binascii.Error):
        body = None
    match body:
        case [str(), None | int() | str(), str()]:
            return tuple(body)
    raise Invalid("cursor is not one that this list gave; start without it.", field="cursor")


_SINGLE = {
    "cursor": _cursor,
    "limit": _limit,
    "open_only": _flag,
    "parent": lambda value: value.upper(),
    "q": _query,
    "sort": _sort,
}
