"""The grammar of `tracker.filters` as conditions of the store. Every test of a row is one `Q`.

A test over another table is an `EXISTS`, never a join: a join would count an item twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from tracker.days import DateTest, Span, day, span
from tracker.filters import Choice, Filters
from tracker.models.comments import Comment
from tracker.models.items import Participant, ParticipantRole, WorkItem
from tracker.models.projects import ItemKey
from tracker.query_values import TagTest
from tracker.roster import NOBODY, handle_for
from tracker.statuses import FINISHED_GROUPS, OPEN_GROUPS

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

OPEN = [group.value for group in OPEN_GROUPS]
FINISHED = [group.value for group in FINISHED_GROUPS]
PRESENT = Q(removed_at__isnull=True)
"""What is in sight: every reader but the trash asks for it."""
_ONE_DAY = timedelta(days=1)
_DATE_COLUMNS = {
    "created": "created_at", "updated": "updated_at", "finished": "finished_at",
    "closed": "finished_at", "status_entered": "status_entered_at",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, of which company, on which of the company's days."""

    actor: Actor
    snapshot: Snapshot
    today: date

    @classmethod
    def now(cls, actor: Actor, snapshot: Snapshot) -> Asker:
        """Returns the asker with the company's present day, read once for the whole query."""
        return cls(actor, snapshot, clock.now().astimezone(snapshot.timezone).date())


def condition(filters: Filters, asker: Asker) -> Q:
    """Returns what an item must be; raises `Invalid` for a name nobody has. What was removed is in
    no answer but in that to `removed`, which holds nothing else.
    """
    return (~PRESENT if filters.removed else PRESENT) & _test(filters, asker)


def _test(filters: Filters, asker: Asker) -> Q:
    test = _words(filters) & _people(filters, asker) & _dates(filters, asker)
    test &= _tree(filters) & _closed(filters, asker)
    if filters.tag is not None:
        test &= tagged(filters.tag)
    if filters.project is not None:
        test &= _turned(_projects(filters.project, asker), filters.project)
    if filters.unit is not None:
        test &= _turned(_units(filters.unit), filters.unit)
    if filters.any:
        test &= reduce(or_, (_test(branch, asker) for branch in filters.any))
    return test


def _turned(test: Q, choice: Choice) -> Q:
    return ~test if choice.negated else test


def _words(filters: Filters) -> Q:
    test = Q()
    for column, choice in (
        ("status", filters.status), ("group", filters.status_group), ("priority", filters.priority),
    ):  # fmt: skip
        if choice is not None:
            test &= _turned(Q(**{f"{column}__in": choice.values}), choice)
    if filters.key is not None:
        words = [word.upper() for word in filters.key.values]
        named = ItemKey.objects.filter(key__in=words, item=OuterRef("pk"))
        test &= _turned(Q(Exists(named)), filters.key)
    if filters.q:
        test &= Q(title__icontains=filters.q) | Q(key__istartswith=filters.q)
    return test


def _people(filters: Filters, asker: Asker) -> Q:
    test = Q()
    for column, choice in (("assignee", filters.assignee), ("reporter", filters.reporter)):
        if choice is not None:
            words = (_person(column, word, asker) for word in choice.values)
            test &= _turned(reduce(or_, words), choice)
    if filters.watcher is not None:
        words = (_watcher(word, asker) for word in filters.watcher.values)
        test &= _turned(reduce(or_, words), filters.watcher)
    return test


def _person(column: str, word: str, asker: Asker) -> Q:
    actor, snapshot = asker.actor, asker.snapshot
    if word.casefold() in NOBODY:
        return Q(**{f"{column}__isnull": True})
    if word.casefold() == "me" and actor.seat_id is None:
        mine = column == "reporter" and actor.person_id is not None
        return Q(reporter_person=actor.person_id) if mine else Q(pk__in=[])
    handle = handle_for(word, snapshot, actor, field=column)
    # Also null-safe when it is turned round: an item on nobody is on none of these.
    return Q(**{f"{column}__isnull": False, f"{column}_id": snapshot.seat_ids[handle]})


def _watcher(word: str, asker: Asker) -> Q:
    if word.casefold() == "me" and asker.actor.seat_id is None:
        return Q(pk__in=[])
    handle = handle_for(word, asker.snapshot, asker.actor, field="watcher")
    rows = Participant.objects.filter(
        item=OuterRef("pk"),
        seat_id=asker.snapshot.seat_ids[handle],
        role=ParticipantRole.WATCHER,
    )
    return Q(Exists(rows))


def _projects(choice: Choice, asker: Asker) -> Q:
    keys = []
    for word in choice.values:
        if word.casefold() == "mine":
            handle, chart = asker.actor.handle, asker.snapshot.chart
            home = chart.home_project(handle) if handle and handle in chart.seats else None
            keys += [home] if home else []
        else:
            keys.append(word.upper())
    return Q(project__key__in=keys)


def _units(choice: Choice) -> Q:
    """Every spelling of a unit, its id or its name, means the one unit."""
    return reduce(
        or_,
        (Q(project__unit_key__iexact=word) | Q(project__unit_name__iexact=word)
         for word in choice.values),
    )  # fmt: skip


def _tree(filters: Filters) -> Q:
    test = Q()
    if filters.parent.casefold() in NOBODY - {""}:
        test &= Q(parent__isnull=True)
    elif filters.parent:
        held = ItemKey.objects.filter(key=filters.parent, item=OuterRef("parent_id"))
        test &= Q(parent__isnull=False) & Q(Exists(held))
    if filters.root:
        named = ItemKey.objects.filter(key=filters.root)
        test &= Q(Exists(named.filter(item=OuterRef("root_id")))) | Q(
            Exists(named.filter(item=OuterRef("pk")))
        )
    if filters.has_parent is not None:
        test &= Q(parent__isnull=not filters.has_parent)
    if filters.has_children is not None:
        children = Q(Exists(WorkItem.objects.filter(PRESENT, parent=OuterRef("pk"))))
        test &= children if filters.has_children else ~children
    if filters.has_open_asks is not None:
        asks = Comment.objects.filter(
            item=OuterRef("pk"), asked__isnull=False, answered_at__isnull=True
        )
        test &= Q(Exists(asks)) if filters.has_open_asks else ~Q(Exists(asks))
    return test


def tagged(tag: TagTest) -> Q:
    """Returns the test of tags."""
    values = list(tag.values)
    if tag.mode == "all":
        return Q(tags__contains=values)
    overlap = Q(tags__overlap=values)
    return ~overlap if tag.mode == "none" else overlap


def _closed(filters: Filters, asker: Asker) -> Q:
    test = Q()
    if filters.open_only or filters.show_closed == "false":
        test &= Q(group__in=OPEN)
    since = None
    if filters.show_closed.startswith("recent:"):
        since = day(f"-{filters.show_closed.removeprefix('recent:')}", asker.today)
    if filters.closed_since is not None:
        named = day(filters.closed_since.first, asker.today)
        since = max(since, named) if since else named
    if since is not None:
        test &= Q(group__in=OPEN) | Q(finished_at__gte=_start(since, asker))
    return test


def _dates(filters: Filters, asker: Asker) -> Q:
    test = Q()
    for name, column in _DATE_COLUMNS.items():
        wanted = getattr(filters, name)
        if wanted is not None:
            test &= _instants(column, wanted, asker)
    if filters.due is not None:
        test &= _due(filters.due, asker)
    return test


def _instants(column: str, wanted: DateTest, asker: Asker) -> Q:
    if wanted.op in {"null", "not_null"}:
        return Q(**{f"{column}__isnull": wanted.op == "null"})
    days = span(wanted, asker.today)
    test = Q(**{f"{column}__isnull": False})
    if days.first is not None:
        test &= Q(**{f"{column}__gte": _start(days.first, asker)})
    if days.last is not None:
        test &= Q(**{f"{column}__lt": _start(days.last + _ONE_DAY, asker)})
    return test


def _start(at: date, asker: Asker) -> datetime:
    """Returns the first instant of a company day, also where the clocks skip midnight."""
    return datetime.combine(at, time(0), tzinfo=asker.snapshot.timezone).astimezone(UTC)


def _due(wanted: DateTest, asker: Asker) -> Q:
    if wanted.op in {"null", "not_null"}:
        return Q(due_at__isnull=wanted.op == "null")
    test = due_within(span(wanted, asker.today), asker)
    if wanted.op == "overdue":
        test &= Q(group__in=OPEN)
    if wanted.op == "earlier":
        test &= Q(group__in=FINISHED)
    return test


def due_within(days: Span, asker: Asker) -> Q:
    """Returns the items due on the company's days of a span; a whole day is kept as noon UTC."""
    whole, instant = Q(due_all_day=True), Q(due_all_day=False)
    if days.first is not None:
        whole &= Q(due_at__gte=datetime.combine(days.first, time(0), tzinfo=UTC))
        instant &= Q(due_at__gte=_start(days.first, asker))
    if days.last is not None:
        after = days.last + _ONE_DAY
        whole &= Q(due_at__lt=datetime.combine(after, time(0), tzinfo=UTC))
        instant &= Q(due_at__lt=_start(after, asker))
    return Q(due_at__isnull=False) & (whole | instant)
