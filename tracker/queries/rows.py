"""How items, seats and projects look in every answer: plain dicts."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from orgs.models.seats import Seat
from tracker.dates import day_of
from tracker.models.comments import Comment
from tracker.models.items import WorkItem
from tracker.queries.conditions import PRESENT
from tracker.queries.tags import labels_of_tags
from tracker.statuses import (
    FINISHED_GROUPS,
    OPEN_GROUPS,
    STATUS_LABELS,
    Priority,
    Status,
    StatusGroup,
)

Party = dict[str, Any]
Row = dict[str, Any]

STATUSES = [
    {"id": status.value, "name": STATUS_LABELS[status], "group": group}
    for status, group in (
        (Status.TODO, StatusGroup.NOT_STARTED.value),
        (Status.IN_PROGRESS, StatusGroup.ACTIVE.value),
        (Status.IN_REVIEW, StatusGroup.ACTIVE.value),
        (Status.DONE, StatusGroup.DONE.value),
        (Status.CANCELLED, StatusGroup.CLOSED.value),
    )
]
PRIORITIES = [
    {"id": priority.value, "name": priority.value.capitalize()} for priority in reversed(Priority)
]


def items() -> QuerySet[WorkItem]:
    """Returns every item with what a row shows of it joined or counted in the same query."""
    children = WorkItem.objects.filter(PRESENT, parent=OuterRef("pk"))
    finished = [group.value for group in FINISHED_GROUPS]
    return WorkItem.objects.select_related("project", "assignee", "reporter", "parent").annotate(
        comment_count=_number(
            Comment.objects.filter(item=OuterRef("pk"), kind="comment"), by="item"
        ),
        sub_total=_number(children, by="parent"),
        sub_done=_number(children.filter(group__in=finished), by="parent"),
        tag_labels=labels_of_tags(),
    )


def _number(rows: QuerySet[Any], by: str) -> Coalesce:
    """Counts in a subquery of its own: joined, every comment would meet every child."""
    counted = rows.order_by().values(by).annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def seat_party(seat: Seat | None) -> Party | None:
    """Returns a seat as somebody on a page; None for nobody. Whoever left has no page."""
    if seat is None:
        return None
    url = "" if seat.removed_at else f"/agents/seats/{seat.handle}"
    return {"handle": seat.handle, "name": seat.name, "kind": seat.kind, "url": url}


def author_party(handle: str, name: str, kind: str, seat: Seat | None = None) -> Party:
    """Returns the author of something said or done, as it was recorded."""
    if seat is not None:
        return seat_party(seat) or {}
    shown = {"system": "engine", "agent": "agent", "human": "human"}.get(kind, "person")
    return {"handle": handle, "name": name, "kind": shown, "url": ""}


def item_url(key: str) -> str:
    """Returns where an item opens."""
    return f"/work/{key}"


def brief(item: WorkItem) -> Row:
    """Returns an item as a link."""
    return {"key": item.key, "title": item.title, "url": item_url(item.key)}


def item_row(item: WorkItem, zone: ZoneInfo, today: date) -> Row:
    """Returns one item of `items()` as every list shows it."""
    due = day_of(item.due_at, all_day=item.due_all_day, zone=zone) if item.due_at else None
    is_open = item.group in {group.value for group in OPEN_GROUPS}
    total = getattr(item, "sub_total", 0)
    return {
        "key": item.key,
        "id": str(item.pk),
        "url": item_url(item.key),
        "title": item.title,
        "project": item.project.key,
        "type": "task",
        "status": item.status,
        "status_name": STATUS_LABELS[Status(item.status)],
        "group": item.group,
        "priority": item.priority,
        "assignee": seat_party(item.assignee),
        "reporter": reporter(item),
        "parent": item.parent.key if item.parent else None,
        "tags": list(item.tags),
        "labels": list(getattr(item, "tag_labels", item.tags)),
        "due": due,
        "due_at": item.due_at,
        "due_all_day": item.due_all_day,
        "overdue": bool(due is not None and is_open and due < today),
        "comments": getattr(item, "comment_count", 0),
        "subs": {"done": getattr(item, "sub_done", 0), "total": total} if total else None,
        "rank": item.rank,
        "version": item.version,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
        "finished_at": item.finished_at,
        "removed_at": item.removed_at,
        "removed_by": item.removed_by_name,
        "waiting": "",
        "blocked": "",
        "live": None,
    }


def reporter(item: WorkItem) -> Party:
    """Returns who filed an item, as it was recorded."""
    kind = "operator" if item.reporter is None else ""
    return author_party(item.reporter_author, item.reporter_name, kind, item.reporter)


def age(at: datetime, now: datetime) -> str:
    """Returns how long ago an instant was, in its largest unit: `18 min`, `3 h`, `just now`."""
    minutes = max(0, int((now - at).total_seconds() // 60))
    if minutes < 60:  # noqa: PLR2004  # minutes of an hour
        return f"{minutes} min" if minutes else "just now"
    hours = minutes // 60
    return f"{hours} h" if hours < 48 else f"{hours // 24} d"  # noqa: PLR2004  # two days in hours
