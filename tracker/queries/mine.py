"""My work: what is on somebody now, in sections with full counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

from crewlet.kernel.actors import Actor
from tracker.models.comments import Comment
from tracker.models.items import ParticipantRole, WorkItem
from tracker.queries.asks import open_asks_to
from tracker.queries.conditions import PRESENT
from tracker.queries.rows import items
from tracker.statuses import OPEN_GROUPS

if TYPE_CHECKING:
    from uuid import UUID

SECTION = 20
_OPEN = [group.value for group in OPEN_GROUPS]


def assigned(seat_id: UUID | None) -> QuerySet[WorkItem]:
    """Returns the open items on a seat, the ones in work first, then by manual order."""
    if seat_id is None:
        return WorkItem.objects.none()
    return (
        items()
        .filter(PRESENT, assignee_id=seat_id, group__in=_OPEN)
        .order_by("group", "rank", "id")
    )


def filed(actor: Actor) -> QuerySet[WorkItem]:
    """Returns the open items that somebody filed and that are on somebody else."""
    mine = Q(reporter_id=actor.seat_id) if actor.seat_id else Q(reporter_person_id=actor.person_id)
    if actor.seat_id is None and actor.person_id is None:
        mine = Q(reporter_author=actor.author)
    others = items().filter(PRESENT, mine, group__in=_OPEN)
    if actor.seat_id is not None:
        others = others.exclude(assignee_id=actor.seat_id)
    return others.order_by("-updated_at", "id")


def watched(seat_id: UUID | None) -> QuerySet[WorkItem]:
    """Returns the items that a seat watches, the most recently changed first."""
    if seat_id is None:
        return WorkItem.objects.none()
    return (
        items()
        .filter(PRESENT, participants__seat_id=seat_id, participants__role=ParticipantRole.WATCHER)
        .order_by("-updated_at", "id")
    )


def asked_by(actor: Actor) -> QuerySet[Comment]:
    """Returns the open asks that somebody waits on."""
    if actor.seat_id is None:
        return Comment.objects.none()
    return (
        Comment.objects.filter(
            author_seat_id=actor.seat_id,
            asked__isnull=False,
            answered_at=None,
            item__removed_at=None,
        )
        .select_related("item", "asked")
        .order_by("created_at", "id")
    )


def my_work(actor: Actor) -> dict[str, Any]:
    """Returns the sections of somebody's day: `rows` up to `SECTION` each, `total` of all."""
    return {
        name: {"rows": list(found[:SECTION]), "total": found.count()}
        for name, found in (
            ("assigned", assigned(actor.seat_id)),
            ("asked_of_me", open_asks_to(actor)),
            ("asked_by_me", asked_by(actor)),
            ("filed", filed(actor)),
            ("watching", watched(actor.seat_id)),
        )
    }
