"""Lists of items: the grammar of `tracker.filters` as one query, keyset pages, capped totals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import (
    Aggregate,
    Avg,
    Case,
    Count,
    F,
    FloatField,
    IntegerField,
    Max,
    Min,
    OrderBy,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)

from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Invalid, NotFound
from tracker.filters import Filters, Sort, write_cursor
from tracker.models.items import WorkItem
from tracker.queries.conditions import PRESENT, Asker, condition
from tracker.queries.lookup import as_id
from tracker.queries.rows import items
from tracker.query_values import Total
from tracker.statuses import PRIORITY_WEIGHT, Priority

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

COUNT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Page:
    """One page of items. `total` counts the whole set, up to `COUNT_MOST`."""

    rows: list[WorkItem]
    next_cursor: str
    total: int


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where an item stands in a list: its place from 1, and the keys right before and after it.

    `total` counts the list, up to `COUNT_MOST`.
    """

    position: int
    previous: str
    next: str
    total: int


_COLUMNS = {
    "rank": "rank", "updated": "updated_at", "created": "created_at", "due": "due_at",
    "finished": "finished_at", "status_entered": "status_entered_at", "title": "title",
    "priority": "weight", "tokens": "tokens", "removed": "removed_at",
}  # fmt: skip
_WITH_EMPTY = frozenset({"due_at", "finished_at", "removed_at"})


def filtered(filters: Filters, asker: Asker) -> QuerySet[WorkItem]:
    """Returns the items that a query means, unordered; raises `Invalid` for a name nobody has."""
    return WorkItem.objects.filter(condition(filters, asker))


def page(filters: Filters, snapshot: Snapshot, actor: Actor) -> Page:
    """Returns one page of a query: three statements, whatever it holds."""
    return page_of(filters, filtered(filters, Asker.now(actor, snapshot)))


def page_of(filters: Filters, found: QuerySet[WorkItem]) -> Page:
    """Returns one page of a set of items in the order of a query."""
    total = found.order_by()[:COUNT_MOST].count()
    order = _order(filters.sort)
    # The rows are chosen before anything is joined to them or counted for them.
    chosen = _after(_measured(found), filters).order_by(*order).values("pk")[: filters.limit + 1]
    rows = list(_measured(items().filter(pk__in=chosen)).order_by(*order))
    more = len(rows) > filters.limit
    rows = rows[: filters.limit]
    return Page(rows, cursor_behind(rows[-1], filters.sort) if more else "", total)


def ordered_by(found: QuerySet[WorkItem], sort: Sort) -> QuerySet[WorkItem]:
    """Returns a set of items in an order; empty values last both ways, then by id."""
    return _measured(found).order_by(*_order(sort))


def neighbours(filters: Filters, asker: Asker) -> Neighbours:
    """Returns where the item of `around` stands; raises `NotFound` when it is not in the list.

    Five statements, and none brings more than a row, however long the list is.
    """
    found, sort = _measured(filtered(filters, asker)), filters.sort
    item = found.filter(key=filters.around).first()
    if item is None:
        raise NotFound(f"around: {filters.around} is not in this list.", field="around")
    edge = _edge(_column(sort), _value_of(item, sort))
    before = found.filter(_ahead_of(sort, edge, item.pk))
    behind = found.filter(_beyond(sort, edge, item.pk)).order_by(*_order(sort))
    return Neighbours(
        before.order_by()[:COUNT_MOST].count() + 1,
        before.order_by(*_backwards(sort)).values_list("key", flat=True).first() or "",
        behind.values_list("key", flat=True).first() or "",
        found.order_by()[:COUNT_MOST].count(),
    )


class _Percentile(Aggregate):
    """The value below which a share of the set lies."""

    function = "PERCENTILE_CONT"
    template = "PERCENTILE_CONT(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


def totals(filters: Filters, asker: Asker) -> dict[str, float]:
    """Returns the asked figures over the whole set; none of an empty one. One statement."""
    found = _measured(filtered(filters, asker)).order_by()
    figures = found.aggregate(**{f"t{n}": _figure(total) for n, total in enumerate(filters.totals)})
    return {
        str(total): round(float(value), 2)
        for n, total in enumerate(filters.totals)
        if (value := figures[f"t{n}"]) is not None and (total.kind != "count" or value)
    }


def _figure(total: Total) -> Aggregate:
    plain: dict[str, type[Aggregate]] = {
        "sum": Sum, "avg": Avg, "min": Min, "max": Max, "count": Count,
    }  # fmt: skip
    if total.kind in plain:
        return plain[total.kind](total.column)
    return _Percentile(total.column, share="0.9" if total.kind == "p90" else "0.5")


def _measured(found: QuerySet[WorkItem]) -> QuerySet[WorkItem]:
    whens = [When(priority=name.value, then=Value(w)) for name, w in PRIORITY_WEIGHT.items()]
    return found.annotate(
        weight=Case(*whens, default=Value(0), output_field=IntegerField()),
        tokens=F("tokens_in") + F("tokens_out"),
    )


def _column(sort: Sort) -> str:
    return _COLUMNS[sort.name]


def _order(sort: Sort) -> tuple[OrderBy | str, ...]:
    column = F(_column(sort))
    ordered = column.desc(nulls_last=True) if sort.descending else column.asc(nulls_last=True)
    return (ordered, "id")


def _backwards(sort: Sort) -> tuple[OrderBy | str, ...]:
    """Returns the same order from its end: the empty values come first."""
    column = F(_column(sort))
    turned = column.asc(nulls_first=True) if sort.descending else column.desc(nulls_first=True)
    return (turned, "-id")


def _after(found: QuerySet[WorkItem], filters: Filters) -> QuerySet[WorkItem]:
    """Keeps what comes behind a cursor: rows of equal value by id, empty values last both ways."""
    if filters.cursor is None:
        return found
    _, value, word = filters.cursor
    item_id = as_id(word)
    edge = _edge(_column(filters.sort), value)
    if item_id is None:
        raise Invalid("cursor is not one that this list gave; start without it.", field="cursor")
    return found.filter(_beyond(filters.sort, edge, item_id))


def _beyond(sort: Sort, edge: Any, item_id: UUID) -> Q:
    """Tests for what comes behind an item in an order; the empty values (edge None) come last."""
    column = _column(sort)
    if edge is None:
        return Q(**{f"{column}__isnull": True}, id__gt=item_id)
    beyond = "lt" if sort.descending else "gt"
    test = Q(**{f"{column}__{beyond}": edge}) | Q(**{column: edge}, id__gt=item_id)
    if column in _WITH_EMPTY:
        test |= Q(**{f"{column}__isnull": True})
    return test


def _ahead_of(sort: Sort, edge: Any, item_id: UUID) -> Q:
    """Tests for what comes before an item in an order."""
    column = _column(sort)
    if edge is None:
        there = Q(**{f"{column}__isnull": False})
        return there | Q(**{f"{column}__isnull": True}, id__lt=item_id)
    ahead = "gt" if sort.descending else "lt"
    return Q(**{f"{column}__{ahead}": edge}) | Q(**{column: edge}, id__lt=item_id)


def _edge(column: str, value: Any) -> Any:
    numeric = column in {"weight", "tokens"}
    if value is None and column in _WITH_EMPTY:
        return None
    if isinstance(value, int) == numeric and value is not None:
        try:
            return datetime.fromisoformat(value) if column.endswith("_at") else value
        except ValueError:
            pass  # refused below, with every other foreign value
    raise Invalid("cursor is not one that this list gave; start without it.", field="cursor")


def cursor_behind(item: WorkItem, sort: Sort) -> str:
    """Returns the cursor that goes on behind an item in an order."""
    return write_cursor(sort, _value_of(item, sort), str(item.pk))


def _value_of(item: WorkItem, sort: Sort) -> Any:
    """Returns what an item is sorted by, as a cursor writes it."""
    column = _column(sort)
    if column == "weight":
        return PRIORITY_WEIGHT[Priority(item.priority)]
    if column == "tokens":
        return item.tokens_in + item.tokens_out
    value = getattr(item, column)
    return value.isoformat() if isinstance(value, datetime) else value


def find_by_words(words: str, limit: int) -> list[WorkItem]:
    """Returns items whose key begins with, or whose title contains, the words; newest first."""
    text = words.strip()
    if not text:
        return []
    found = items().filter(PRESENT, Q(title__icontains=text) | Q(key__istartswith=text))
    return list(found.order_by("-updated_at", "id")[:limit])
