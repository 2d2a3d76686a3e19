"""The query grammar: one flat set of keys for URL, REST and tool. Pure.

Lists are comma-separated, a leading `!` turns one round (`status=!done`). A key or a value that is
not understood is refused by name: a filter that is silently dropped answers another question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from crewlet.kernel.errors import Invalid
from crewlet.kernel.nearest import nearest
from tracker.days import DateTest, read_date_test
from tracker.presets import PRESET_WORDS, expanded
from tracker.query_values import (
    AXES,
    CLOSED_VALUES,
    Choice,
    Sort,
    TagTest,
    Total,
    read_choice,
    read_cursor,
    read_sort,
    read_tags,
    read_totals,
    write_cursor,
)

__all__ = ["AXES", "KEYS", "Choice", "Filters", "Sort", "parse_filters", "write_cursor"]

PAGE = 50
PAGE_MOST = 200
GROUP_PAGE = 20
GROUP_MOST = 100
QUERY_MOST = 400
BRANCHES_MOST = 8
LISTS = (
    "assignee", "key", "priority", "project", "reporter", "status", "status_group", "unit",
    "watcher",
)  # fmt: skip
DATES = ("closed", "created", "due", "finished", "status_entered", "updated")
FLAGS = ("has_children", "has_open_asks", "has_parent", "open_only")
TESTS = ("closed_since", "container", "parent", "q", "root", "show_closed", "tag")
SHAPING = (
    "any", "around", "cursor", "group", "group_by", "group_by2", "group_limit", "limit", "preset",
    "sort", "totals",
)  # fmt: skip
WHOLE = ("removed",)
"""What says of which items the whole query is, and is no test within it."""
KEYS = tuple(sorted((*LISTS, *DATES, *FLAGS, *TESTS, *SHAPING, *WHOLE)))
IN_BRANCH = tuple(sorted((*LISTS, *DATES, *FLAGS, *TESTS)))
NEEDS_MORE = {
    "blocked": "items have no dependencies here",
    "blocking": "items have no dependencies here",
    "type": "items have no types here",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """A parsed query. Handles, keys and units are still words: the store knows who they are."""

    status: Choice | None = None
    status_group: Choice | None = None
    priority: Choice | None = None
    assignee: Choice | None = None
    reporter: Choice | None = None
    watcher: Choice | None = None
    project: Choice | None = None
    unit: Choice | None = None
    key: Choice | None = None
    tag: TagTest | None = None
    parent: str = ""
    root: str = ""
    q: str = ""
    due: DateTest | None = None
    created: DateTest | None = None
    updated: DateTest | None = None
    finished: DateTest | None = None
    closed: DateTest | None = None
    status_entered: DateTest | None = None
    closed_since: DateTest | None = None
    show_closed: str = ""
    open_only: bool = False
    removed: bool = False
    has_children: bool | None = None
    has_parent: bool | None = None
    has_open_asks: bool | None = None
    any: tuple[Filters, ...] = ()
    group_by: str = ""
    group_by2: str = ""
    group: str | None = None
    group_limit: int = GROUP_PAGE
    totals: tuple[Total, ...] = ()
    around: str = ""
    sort: Sort = field(default_factory=lambda: Sort("updated", descending=True))
    limit: int = PAGE
    cursor: tuple[Any, ...] | None = None


def parse_filters(given: Mapping[str, Any]) -> Filters:
    """Returns the filters of a query; raises `Invalid` naming the key or value that is wrong."""
    words = {key: _text(key, raw) for key, raw in given.items()}
    _check_keys(words, KEYS)
    typed = {key: value for key, value in words.items() if value != "" or key == "group"}
    preset = typed.pop("preset", "")
    if preset:
        typed = expanded(preset, typed)
    filters = _read(typed)
    if filters.cursor is not None and filters.cursor[0] != str(filters.sort):
        raise Invalid("cursor belongs to another sort order; start without it.", field="cursor")
    _check_groups(filters, typed)
    return filters


def _check_keys(words: Mapping[str, str], allowed: tuple[str, ...]) -> None:
    for key in words:
        if key in allowed:
            continue
        if key in NEEDS_MORE:
            raise Invalid(f"There is no filter '{key}': {NEEDS_MORE[key]}.", field=key)
        hint = nearest(key, allowed)
        raise Invalid(
            f"There is no filter '{key}'."
            + (f" Did you mean {hint}?" if hint else f" There are: {', '.join(allowed)}."),
            field=key,
            allowed=list(allowed),
        )


def _check_groups(filters: Filters, typed: Mapping[str, str]) -> None:
    if filters.group_by2 and not filters.group_by:
        raise Invalid("group_by2 needs group_by, the columns it lies across.", field="group_by2")
    if filters.group_by2 and filters.group_by2 == filters.group_by:
        raise Invalid(f"group_by2 is {filters.group_by}, as group_by is.", field="group_by2")
    if "group" in typed and not filters.group_by:
        raise Invalid("group names one column of group_by; say which.", field="group")


def _text(key: str, raw: Any) -> str:
    if raw is None:
        return ""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if key == "any" and not isinstance(raw, str):
        return json.dumps(raw)
    if isinstance(raw, list | tuple):
        return ",".join(str(part) for part in raw)
    return str(raw).strip()


def _read(words: Mapping[str, str]) -> Filters:
    filters = Filters()
    for key, value in words.items():
        if key == "container":
            filters = _in_container(filters, value)
        elif key in LISTS:
            filters = _set(filters, key, read_choice(key, value))
        elif key in DATES:
            filters = _set(filters, key, read_date_test(key, value))
        elif key in (*FLAGS, *WHOLE):
            filters = _set(filters, key, _flag(key, value))
        else:
            filters = _set(filters, key, _SINGLE[key](value))
    return filters


def _set(filters: Filters, key: str, value: Any) -> Filters:
    return replace(filters, **{key: value})


def _in_container(filters: Filters, value: str) -> Filters:
    kind, _, name = value.partition(":")
    if kind == "workspace" and not name:
        return filters
    if kind == "project" and name:
        return replace(filters, project=read_choice("project", name))
    if kind == "unit" and name:
        return replace(filters, unit=read_choice("unit", name))
    raise Invalid(
        f"container '{value}' is not understood; write workspace, project:KEY or unit:KEY.",
        field="container",
    )


def _number(key: str, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit()) or not 1 <= int(value) <= most:
            raise Invalid(f"{key} is a number from 1 to {most}.", field=key)
        return int(value)

    return read


def _flag(key: str, value: str) -> bool:
    if value.casefold() not in {"true", "false", "1", "0"}:
        raise Invalid(f"{key} is true or false, not '{value}'.", field=key)
    return value.casefold() in {"true", "1"}


def _query(value: str) -> str:
    if len(value.encode()) > QUERY_MOST:
        raise Invalid(f"q is longer than {QUERY_MOST} bytes; use fewer words.", field="q")
    return value


def _axis(key: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in AXES:
            raise Invalid(
                f"{key} knows no '{value}'; it takes {', '.join(AXES)}.",
                field=key,
                allowed=list(AXES),
            )
        return value

    return read


def _show_closed(value: str) -> str:
    word = value.casefold()
    amount, unit = word.removeprefix("recent:")[:-1], word[-1:]
    recent = word.startswith("recent:") and unit in {"d", "w"}
    if word in {"true", "false"} or (
        recent and amount.isascii() and amount.isdigit() and len(amount) <= 3  # noqa: PLR2004  # years
    ):
        return word
    raise Invalid(
        f"show_closed is true, false or recent:7d (d or w), not '{value}'.", field="show_closed"
    )


def _branches(value: str) -> tuple[Filters, ...]:
    try:
        read = json.loads(value)
    except ValueError:
        read = None
    fits = isinstance(read, list) and 1 <= len(read) <= BRANCHES_MOST
    if not fits or not all(isinstance(branch, dict) and branch for branch in read):
        raise Invalid(
            f"any is a JSON list of 1 to {BRANCHES_MOST} objects of filters, such as "
            '[{"assignee":"me"},{"due":"overdue"}].',
            field="any",
        )
    return tuple(_branch(branch) for branch in read)


def _branch(branch: Mapping[str, Any]) -> Filters:
    words = {key: _text(key, raw) for key, raw in branch.items()}
    try:
        _check_keys(words, IN_BRANCH)
        return _read({key: value for key, value in words.items() if value != ""})
    except Invalid as refusal:
        raise Invalid(f"any: {refusal.message}", field="any") from None


def _day(value: str) -> DateTest:
    test = read_date_test("closed_since", value)
    if test.op != "on":
        raise Invalid("closed_since is one day, such as sow or -7d.", field="closed_since")
    return test


_SINGLE: dict[str, Callable[[str], Any]] = {
    "any": _branches,
    "around": str.upper,
    "closed_since": _day,
    "cursor": read_cursor,
    "group": str,
    "group_by": _axis("group_by"),
    "group_by2": _axis("group_by2"),
    "group_limit": _number("group_limit", GROUP_MOST),
    "limit": _number("limit", PAGE_MOST),
    "parent": str.upper,
    "q": _query,
    "root": str.upper,
    "show_closed": _show_closed,
    "sort": read_sort,
    "tag": read_tags,
    "totals": read_totals,
}


def write_filters(filters: Filters) -> dict[str, str]:
    """Returns a query as words again; `parse_filters` reads the same query from them."""
    plain = Filters()
    return {
        part.name: _written(part.name, value)
        for part in fields(Filters)
        if (value := getattr(filters, part.name)) != getattr(plain, part.name)
    }


def _written(key: str, value: Any) -> str:
    if key == "any":
        return json.dumps([write_filters(branch) for branch in value])
    if key == "cursor":
        return write_cursor(filters_sort(value), value[1], value[2])
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value)
    return str(value)


def filters_sort(cursor: tuple[Any, ...]) -> Sort:
    """Returns the order that a cursor belongs to."""
    return read_sort(str(cursor[0]))


VALUES = {**{key: tuple(values) for key, values in CLOSED_VALUES.items()}, "preset": PRESET_WORDS}
"""The keys whose values are a closed set, with them."""
