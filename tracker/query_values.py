"""The values that the query grammar takes, besides dates: lists, tags, orders, totals, cursors."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

from crewlet.kernel.errors import Invalid
from crewlet.kernel.nearest import nearest
from tracker.statuses import Priority, Status, StatusGroup

VALUES_MOST = 16
TOTALS_MOST = 8
SORTS = (
    "rank", "updated", "created", "due", "finished", "priority", "status_entered", "title",
    "tokens", "removed",
)  # fmt: skip
AXES = (
    "status", "status_group", "priority", "assignee", "tag", "project", "unit", "parent",
    "due:bucket", "due:day",
)  # fmt: skip
TOTAL_COLUMNS = ("tokens", "turns")
TOTAL_KINDS = ("sum", "avg", "min", "max", "count", "median", "p90")
TAG_MODES = ("any", "all", "none")
CLOSED_VALUES: dict[str, tuple[str, ...]] = {
    "status": tuple(Status),
    "status_group": tuple(StatusGroup),
    "priority": tuple(Priority),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A set of allowed (or, negated, forbidden) values."""

    values: tuple[str, ...]
    negated: bool = False

    def __str__(self) -> str:
        return f"{'!' if self.negated else ''}{','.join(self.values)}"


@dataclass(frozen=True, slots=True)
class TagTest:
    """Items that bear any, all or none of some tags."""

    mode: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.mode}:{','.join(self.values)}"


@dataclass(frozen=True, slots=True)
class Sort:
    """An order: its name and direction. Rows without a value come last both ways."""

    name: str
    descending: bool = False

    def __str__(self) -> str:
        return f"-{self.name}" if self.descending else self.name


@dataclass(frozen=True, slots=True)
class Total:
    """One figure over the whole set: a column and how it is summed up."""

    column: str
    kind: str

    def __str__(self) -> str:
        return f"{self.column}:{self.kind}"


def read_choice(key: str, value: str) -> Choice:
    """Returns a list of values; raises `Invalid` naming the one that a closed set does not have."""
    negated = value.startswith("!")
    values = _values(key, value.removeprefix("!"))
    allowed = CLOSED_VALUES.get(key)
    for part in values if allowed else ():
        if part not in (allowed or ()):
            hint = nearest(part, allowed or ())
            raise Invalid(
                f"{key} knows no '{part}'; it takes {', '.join(allowed or ())}."
                + (f" Did you mean {hint}?" if hint else ""),
                field=key,
                allowed=list(allowed or ()),
            )
    return Choice(values, negated)


def _values(key: str, value: str) -> tuple[str, ...]:
    parts = (part.strip().removeprefix("@") for part in value.split(","))
    values = tuple(part for part in parts if part)
    if not values or len(values) > VALUES_MOST:
        raise Invalid(f"{key} takes 1 to {VALUES_MOST} values, separated by commas.", field=key)
    return values


def read_tags(value: str) -> TagTest:
    """Returns a test of tags; a bare list means any of them."""
    mode, colon, rest = value.partition(":")
    if not colon:
        return TagTest("any", _values("tag", value))
    if mode not in TAG_MODES:
        raise Invalid(
            f"tag knows no '{mode}:'; it takes any:, all: and none:.",
            field="tag",
            allowed=list(TAG_MODES),
        )
    return TagTest(mode, _values("tag", rest))


def read_sort(value: str) -> Sort:
    """Returns an order; raises `Invalid` naming one that there is not."""
    name = value.removeprefix("-")
    if name not in SORTS:
        hint = nearest(name, SORTS)
        raise Invalid(
            f"sort knows no '{name}'; it takes {', '.join(SORTS)}, with - to turn it round."
            + (f" Did you mean {hint}?" if hint else ""),
            field="sort",
            allowed=list(SORTS),
        )
    return Sort(name, value.startswith("-"))


def read_totals(value: str) -> tuple[Total, ...]:
    """Returns the figures that `column:kind` pairs ask for."""
    pairs = _values("totals", value)
    if len(pairs) > TOTALS_MOST:
        raise Invalid(f"totals takes at most {TOTALS_MOST} figures.", field="totals")
    return tuple(_total(pair) for pair in dict.fromkeys(pairs))


def _total(pair: str) -> Total:
    column, _, kind = pair.partition(":")
    if column not in TOTAL_COLUMNS or kind not in TOTAL_KINDS:
        raise Invalid(
            f"totals knows no '{pair}'; write column:kind, of {', '.join(TOTAL_COLUMNS)} and "
            f"{', '.join(TOTAL_KINDS)}.",
            field="totals",
        )
    return Total(column, kind)


def write_cursor(sort: Sort, value: str | int | None, item_id: str) -> str:
    """Returns the mark behind a row: its sort value (None for an empty one) and its id."""
    body = json.dumps([str(sort), value, item_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")


def read_cursor(value: str) -> tuple[Any, ...]:
    """Returns the order, the value and the id of a cursor; raises `Invalid` for a foreign text."""
    try:
        padded = value + "=" * (-len(value) % 4)
        body = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, binascii.Error):
        body = None
    match body:
        case [str(), None | int() | str(), str()]:
            return tuple(body)
    raise Invalid("cursor is not one that this list gave; start without it.", field="cursor")
