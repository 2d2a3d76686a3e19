"""Lists in columns: counts of the whole set and the first items of each column.

One statement reads the set in its order with the values it is grouped by; columns, counts and
slices are cut from that, so a count never depends on what was loaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from crewlet.kernel.errors import Invalid
from orgs.models.seats import Seat
from tracker.dates import day_of
from tracker.days import Span, day
from tracker.filters import Filters, Sort
from tracker.models.items import WorkItem
from tracker.models.projects import ItemKey
from tracker.queries.conditions import FINISHED, OPEN, Asker, due_within
from tracker.queries.items import cursor_behind, filtered, ordered_by
from tracker.queries.rows import PRIORITIES, STATUSES, items
from tracker.roster import NOBODY, handle_for

SET_MOST = 20_000
COLUMNS_MOST = 100
NO_VALUE = ""
BANDS = {
    "overdue": "Overdue",
    "earlier": "Earlier",
    "today": "Today",
    "week": "This week",
    "later": "Later",
    NO_VALUE: "No due date",
}
_CLOSED_AXES: dict[str, dict[str, str]] = {
    "status": {row["id"]: row["name"] for row in STATUSES},
    "status_group": {
        "not_started": "Not started", "active": "Active", "done": "Done", "closed": "Closed",
    },
    "priority": {row["id"]: row["name"] for row in PRIORITIES},
    "due:bucket": BANDS,
}  # fmt: skip
_NOTHING = {
    "assignee": "Nobody", "tag": "No tag", "unit": "No unit", "parent": "Part of nothing",
    "due:day": "No due date",
}  # fmt: skip
_COLUMNS = (
    "pk", "status", "group", "priority", "assignee_id", "tags", "project__key",
    "project__unit_key", "project__unit_name", "parent__key", "due_at", "due_all_day",
)  # fmt: skip
Record = dict[str, Any]


@dataclass(slots=True)
class Column:
    """One column: its value, its name, how many items it has in all, and the first of them."""

    value: str
    label: str
    total: int = 0
    ids: list[UUID] = field(default_factory=list)
    rows: list[WorkItem] = field(default_factory=list)

    def next_cursor(self, sort: Sort) -> str:
        """The cursor of `group=` that goes on behind what is loaded; empty when that is all."""
        return (
            cursor_behind(self.rows[-1], sort) if self.rows and self.total > len(self.rows) else ""
        )


@dataclass(frozen=True, slots=True)
class Lane:
    """One swimlane: its value, its name and its columns."""

    value: str
    label: str
    columns: list[Column]


@dataclass(frozen=True, slots=True)
class Grouped:
    """A grouped list. `total` counts items once; `overlap` says that columns may share some."""

    columns: list[Column]
    lanes: list[Lane]
    total: int
    overlap: bool


def grouped(filters: Filters, asker: Asker) -> Grouped:
    """Returns a query in columns, and in swimlanes with `group_by2`; three statements at most."""
    found = filtered(filters, asker)
    records = list(ordered_by(found, filters.sort).values(*_COLUMNS)[: SET_MOST + 1])
    if len(records) > SET_MOST:
        raise Invalid(
            f"More than {SET_MOST} items cannot be grouped at once; narrow the list, by project "
            "or show_closed=false.",
            field="group_by",
        )
    columns = _cut(records, filters.group_by, filters, asker)
    lanes = []
    if filters.group_by2:
        keyed = _keyed(records, filters.group_by2, asker)
        names = _names(filters.group_by2, keyed)
        across = [column.value for column in columns]
        for value in _values_of(filters.group_by2, keyed, filters):
            cut = _cut(keyed.get(value, []), filters.group_by, filters, asker, only=across)
            lanes.append(Lane(value, names[value], cut))
    _load([column for column in columns if not lanes], [c for lane in lanes for c in lane.columns])
    axes = {filters.group_by, filters.group_by2}
    return Grouped(columns, lanes, len(records), "tag" in axes)


def _cut(
    records: list[Record],
    axis: str,
    filters: Filters,
    asker: Asker,
    only: list[str] | None = None,
) -> list[Column]:
    keyed = _keyed(records, axis, asker)
    values = only if only is not None else _values_of(axis, keyed, filters)
    if len(values) > COLUMNS_MOST:
        raise Invalid(
            f"group_by={axis} would make {len(values)} columns, more than {COLUMNS_MOST}; narrow "
            "the list or group it by something else.",
            field="group_by",
        )
    names = _names(axis, keyed)
    return [
        Column(
            value,
            names.get(value, value),
            len(keyed.get(value, [])),
            [record["pk"] for record in keyed.get(value, [])[: filters.group_limit]],
        )
        for value in values
    ]


def _keyed(records: list[Record], axis: str, asker: Asker) -> dict[str, list[Record]]:
    keyed: dict[str, list[Record]] = {}
    for record in records:
        for value in values_of(record, axis, asker):
            keyed.setdefault(value, []).append(record)
    return keyed


def values_of(record: Record, axis: str, asker: Asker) -> list[str]:
    """Returns the columns that an item stands in: one, but for tags."""
    if axis == "tag":
        return list(record["tags"]) or [NO_VALUE]
    if axis in {"due:bucket", "due:day"}:
        return [_due_value(record, axis, asker)]
    column = {
        "status_group": "group", "assignee": "assignee_id", "project": "project__key",
        "unit": "project__unit_key", "parent": "parent__key",
    }.get(axis, axis)  # fmt: skip
    value = record[column]
    if axis == "assignee" and value is not None:
        return [asker.snapshot.handles.get(value, str(value))]
    return [str(value) if value is not None else NO_VALUE]


def _due_value(record: Record, axis: str, asker: Asker) -> str:
    if record["due_at"] is None:
        return NO_VALUE
    due = day_of(record["due_at"], all_day=record["due_all_day"], zone=asker.snapshot.timezone)
    if axis == "due:day":
        return due.isoformat()
    return band_of(due, asker.today, is_open=record["group"] in OPEN)


def band_of(due: date | None, today: date, *, is_open: bool) -> str:
    """Returns the band of a due day: the one rule that boards, lists and My work share."""
    if due is None:
        return NO_VALUE
    if due < today:
        return "overdue" if is_open else "earlier"
    if due == today:
        return "today"
    return "week" if due <= day("eow", today) else "later"


def _values_of(axis: str, keyed: dict[str, list[Record]], filters: Filters) -> list[str]:
    """A closed axis shows every column that the filters admit, an open one those with items."""
    closed = _CLOSED_AXES.get(axis)
    if closed is None:
        named = sorted((value for value in keyed if value != NO_VALUE), key=str.casefold)
        return [*named, *([NO_VALUE] if NO_VALUE in keyed else [])]
    choice = {
        "status": filters.status, "status_group": filters.status_group,
        "priority": filters.priority,
    }.get(axis)  # fmt: skip
    if choice is None:
        return list(closed)
    return [value for value in closed if (value in choice.values) is not choice.negated]


def _names(axis: str, keyed: dict[str, list[Record]]) -> dict[str, str]:
    if axis in _CLOSED_AXES:
        return _CLOSED_AXES[axis]
    names = {value: value for value in keyed} | {NO_VALUE: _NOTHING.get(axis, "None")}
    if axis == "unit":
        for value, records in keyed.items():
            names[value] = records[0]["project__unit_name"] or names[value]
    if axis == "assignee":
        ids = [record["assignee_id"] for records in keyed.values() for record in records[:1]]
        for seat in Seat.objects.filter(pk__in=[one for one in ids if one]):
            for word in (seat.handle, str(seat.pk)):
                if word in names:
                    names[word] = seat.name
    return names


def _load(*parts: list[Column]) -> None:
    columns = [column for part in parts for column in part]
    wanted = {item_id for column in columns for item_id in column.ids}
    loaded = {item.pk: item for item in items().filter(pk__in=wanted)} if wanted else {}
    for column in columns:
        column.rows = [loaded[item_id] for item_id in column.ids if item_id in loaded]


def in_column(found: QuerySet[WorkItem], filters: Filters, asker: Asker) -> QuerySet[WorkItem]:
    """Returns the items of the one column that `group` names; the empty word is "no value"."""
    value = filters.group
    return found if value is None else found.filter(_column_test(filters.group_by, value, asker))


def _column_test(axis: str, value: str, asker: Asker) -> Q:
    if axis in _CLOSED_AXES and value not in _CLOSED_AXES[axis]:
        known = ", ".join(word for word in _CLOSED_AXES[axis] if word)
        raise Invalid(f"group: {axis} has no column '{value}'; it has {known}.", field="group")
    if axis == "tag":
        return Q(tags__contains=[value]) if value else Q(tags=[])
    if axis == "assignee":
        return _of_assignee(value, asker)
    if axis == "parent":
        held = ItemKey.objects.filter(key=value.upper()).values("item_id")
        return Q(parent_id__in=held) if value else Q(parent__isnull=True)
    if axis.startswith("due:"):
        return _of_due(axis, value, asker)
    column = {"status_group": "group", "project": "project__key", "unit": "project__unit_key"}
    return Q(**{column.get(axis, axis): value.upper() if axis == "project" else value})


def _of_assignee(value: str, asker: Asker) -> Q:
    if value.casefold() in NOBODY:
        return Q(assignee__isnull=True)
    try:
        return Q(assignee_id=UUID(value))  # a seat that left keeps its column under its id
    except ValueError:
        handle = handle_for(value, asker.snapshot, asker.actor, field="group")
        return Q(assignee_id=asker.snapshot.seat_ids[handle])


def _of_due(axis: str, value: str, asker: Asker) -> Q:
    if not value:
        return Q(due_at__isnull=True)
    today, one = asker.today, timedelta(days=1)
    if axis == "due:day":
        try:
            on = date.fromisoformat(value)
        except ValueError:
            raise Invalid(f"group: '{value}' is not a day.", field="group") from None
        return due_within(Span(on, on), asker)
    sunday = day("eow", today)
    spans = {
        "overdue": Span(None, today - one),
        "earlier": Span(None, today - one),
        "today": Span(today, today),
        "week": Span(today + one, sunday),
        "later": Span(max(sunday, today) + one, None),
    }
    test = due_within(spans[value], asker)
    if value == "overdue":
        test &= Q(group__in=OPEN)
    return test & Q(group__in=FINISHED) if value == "earlier" else test
