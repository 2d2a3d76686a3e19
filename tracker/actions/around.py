"""Loads who stands around an item when a change happens to it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from crewlet.kernel.actors import Actor
from tracker.actions.telling import lead_of
from tracker.models.items import Participant, ParticipantRole, WorkItem
from tracker.roster import party_of, seat_party
from tracker.wakes import Around, Party

if TYPE_CHECKING:
    from orgs.epochs import Snapshot


def around(item: WorkItem, actor: Actor, snapshot: Snapshot, *, new: bool = False) -> Around:
    """Returns the standing roles around an item; what a change adds comes from its writer.

    Nobody watches a `new` item yet, so nobody is asked for.
    """
    lead = lead_of(item, snapshot)
    return Around(
        actor=party_of(actor),
        by_agent=actor.is_agent,
        assignee=seat_party(item.assignee_id),
        reporter=reporter_of(item),
        parent_assignee=seat_party(item.parent.assignee_id) if item.parent else None,
        watchers=() if new else tuple(Party(seat_id=seat_id) for seat_id in _watchers(item)),
        leads=(Party(seat_id=snapshot.seat_ids[lead]),) if lead else (),
    )


def reporter_of(item: WorkItem) -> Party | None:
    """Returns who filed an item: a seat, a person without one, or nobody (the engine)."""
    if item.reporter_id is not None:
        return Party(seat_id=item.reporter_id)
    if item.reporter_person_id is not None:
        return Party(person_id=item.reporter_person_id)
    return None


def _watchers(item: WorkItem) -> list[UUID]:
    return list(
        Participant.objects.filter(item=item, role=ParticipantRole.WATCHER)
        .order_by("since", "id")
        .values_list("seat_id", flat=True)
    )
