"""Items counted for Home: what is being worked on, and what was finished on which company day."""

from __future__ import annotations

from datetime import date, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Count, Q
from django.db.models.functions import TruncDate

from agents.budgets.windows import midnight
from tracker.models.items import WorkItem
from tracker.queries.conditions import PRESENT


def in_progress() -> tuple[int, int]:
    """Returns how many items are active, and how many of those are in review."""
    found = WorkItem.objects.filter(PRESENT, group="active").aggregate(
        active=Count("id"), review=Count("id", filter=Q(status="in_review"))
    )
    return found["active"], found["review"]


def finished_by_day(first: date, last: date, zone: ZoneInfo) -> dict[date, int]:
    """Returns the done items of each company day from `first` to `last`; empty days are missing."""
    begin, end = midnight(first, zone), midnight(last + timedelta(days=1), zone)
    # An item is touched when it ends, and later or never again: `updated_at` has the index.
    rows = (
        WorkItem.objects.filter(
            PRESENT,
            group="done",
            updated_at__gte=begin,
            finished_at__gte=begin,
            finished_at__lt=end,
        )
        .annotate(day=TruncDate("finished_at", tzinfo=zone))
        .values_list("day")
        .annotate(count=Count("id"))
    )
    return dict(rows)
