"""How much work lies with each seat."""

from __future__ import annotations

from django.db.models import Count, F

from tracker.models.items import WorkItem
from tracker.queries.conditions import PRESENT
from tracker.statuses import OPEN_GROUPS


def open_by_assignee() -> dict[str, int]:
    """Returns how many open items each seat is assigned; seats without any are absent."""
    found = (
        WorkItem.objects.filter(PRESENT, group__in=OPEN_GROUPS, assignee__isnull=False)
        .values(handle=F("assignee__handle"))
        .annotate(count=Count("id"))
    )
    return {row["handle"]: row["count"] for row in found}
