"""Lists of items: the grammar of `tracker.filters` as one query, keyset pages, capped totals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Count, F, IntegerField, OrderBy, Q, QuerySet, Value, When

from crewlet.kernel.actors import Actor
from tracker.filters import Choice, Filters, Sort, write_cursor
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.queries.rows import items
from tracker.roster import NOBODY, handle_for
from tracker.statuses import OPEN_GROUPS, PRIORITY_WEIGHT

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

COUNT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Page:
    """One page of items. `total` counts the whole set, up to `COUNT_MOST`."""

    rows: list[WorkItem]
    next_cursor: str
    total: int


_COLUMNS = {"rank": "rank", "updated": "updated_at", "created": "created_at", "due": "due_at"}


def filtered(filters: Filters, snapshot: Snapshot, actor: Actor) -> QuerySet[WorkItem]:
    """Returns the items that a query means, unordered; raises `Invalid` for a name nobody has."""
    found = WorkItem.objects.all()
    for column, choice in (
        ("status", filters.status), ("group", filters.status_group), ("priority", filters.priority),
    ):  # fmt: skip
        if choice is not None:
            found = _chosen(found, Q(**{f"{column}__in": choice.values}), choice)
    if filters.open_only:
        found = found.filter(group__in=[group.value for group in OPEN_GROUPS])
    for column, choice in (("assignee", filters.assignee), ("reporter", filters.reporter)):
        if choice is not None:
            found = _chosen(found, _people(column, choice, snapshot, actor), choice)
    if filters.project is not None:
        keys = [key.upper() for key in filters.project.values]
        found = _chosen(found, Q(project__key__in=keys), filters.project)
    if filters.unit:
        found = found.filter(project__unit_key__iexact=filters.unit)
    if filters.parent:
        found = _children(found, filters.parent)
    if filters.q:
        found = found.filter(Q(title__icontains=filters.q) | Q(key__istartswith=filters.q))
    return found


def _chosen(found: QuerySet[WorkItem], test: Q, choice: Choice) -> QuerySet[WorkItem]:
    return found.exclude(test) if choice.negated else found.filter(test)


def _people(column: str, choice: Choice, snapshot: Snapshot, actor: Actor) -> Q:
    tests = []
    for word in choice.values:
        if word.casefold() in NOBODY:
            tests.append(Q(**{f"{column}": None}))
        elif word.casefold() == "me" and actor.seat_id is None:
            tests.append(Q(reporter_person=actor.person_id) if column == "reporter" else Q(pk=None))
        else:
            handle = handle_for(word, snapshot, actor, field=column)
            tests.append(Q(**{f"{column}_id": snapshot.seat_ids[handle]}))
    return reduce(or_, tests)


def _children(found: QuerySet[WorkItem], word: str) -> QuerySet[WorkItem]:
    if word.casefold() in NOBODY:
        return found.filter(parent=None)
    return found.filter(parent__keys__key=word)


def page(filters: Filters, snapshot: Snapshot, actor: Actor) -> Page:
    """Returns one page of a query: three statements, whatever it holds."""
    found = filtered(filters, snapshot, actor)
    total = found.order_by()[:COUNT_MOST].count()
    ordered = items().filter(pk__in=found.values("pk"))
    ordered = _after(ordered, filters).order_by(*_order(filters.sort))
    rows = list(ordered[: filters.limit + 1])
    more = len(rows) > filters.limit
    rows = rows[: filters.limit]
    return Page(rows, _cursor_behind(rows[-1], filters.sort) if more else "", total)


def _weighed(found: QuerySet[WorkItem]) -> QuerySet[WorkItem]:
    whens = [When(priority=name.value, then=Value(w)) for name, w in PRIORITY_WEIGHT.items()]
    return found.annotate(weight=Case(*whens, default=Value(0), output_field=IntegerField()))


def _column(sort: Sort) -> str:
    return _COLUMNS.get(sort.name, "weight")


def _order(sort: Sort) -> tuple[OrderBy | str, ...]:
    column = F(_column(sort))
    ordered = column.desc(nulls_last=True) if sort.descending else column.asc(nulls_last=True)
    return (ordered, "id")


def _after(found: QuerySet[WorkItem], filters: Filters) -> QuerySet[WorkItem]:
    """Keeps what comes behind a cursor: rows of equal value by id, empty values last both ways."""
    found = _weighed(found)
    if filters.cursor is None:
        return found
    _, value, item_id = filters.cursor
    column = _column(filters.sort)
    if value is None:
        return found.filter(Q(**{f"{column}__isnull": True}), id__gt=item_id)
    edge: Any = datetime.fromisoformat(value) if column.endswith("_at") else value
    beyond = "lt" if filters.sort.descending else "gt"
    test = Q(**{f"{column}__{beyond}": edge}) | Q(**{column: edge}, id__gt=item_id)
    if column == "due_at":
        test |= Q(due_at=None)
    return found.filter(test)


def _cursor_behind(item: WorkItem, sort: Sort) -> str:
    value = getattr(item, _column(sort))
    if isinstance(value, datetime):
        value = value.isoformat()
    return write_cursor(sort, value, str(item.pk))


def find_by_words(words: str, limit: int) -> list[WorkItem]:
    """Returns items whose key begins with, or whose title contains, the words; newest first."""
    text = words.strip()
    if not text:
        return []
    found = items().filter(Q(title__icontains=text) | Q(key__istartswith=text))
    return list(found.order_by("-updated_at", "id")[:limit])


def project_rows(*, with_left: bool = True) -> QuerySet[Project]:
    """Returns the projects with their counts by group, in one statement."""
    found = Project.objects.select_related("owner_seat", "lead").annotate(
        todo=Count("items", filter=Q(items__group="not_started")),
        active=Count("items", filter=Q(items__group="active")),
        done=Count("items", filter=Q(items__group="done")),
        closed=Count("items", filter=Q(items__group="closed")),
    )
    return (found if with_left else found.filter(left_chart_at=None)).order_by("key")
