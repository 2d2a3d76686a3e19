"""What a person is told: one notice per person and event, whoever tells it and how often.

A notice belongs to the human seat where there is one, so that it stays with the seat's holder,
and to the person otherwise. Nobody is told of what they did themselves.
"""

from __future__ import annotations

from uuid import UUID

from crewlet.kernel import clock, live
from crewlet.kernel.redact import clean
from orgs.models.notices import Notice
from orgs.models.people import Person
from orgs.models.seats import Seat, SeatKind

# Why somebody is told, strongest first, in the words that the inbox shows.
REASONS = {
    "mention": "You were mentioned",
    "prioritised": "It is in your queue",
    "asked": "You were asked",
    "answered": "Your question was answered",
    "blocking": "It now blocks something",
    "assignee": "It is assigned to you",
    "unassigned": "It was assigned to you",
    "reporter": "You reported it",
    "thread": "You are in the thread",
    "unblocked": "It is no longer blocked",
    "routed_to": "It was routed to your unit",
    "parent_assignee": "It is part of your item",
    "checklist": "A line of it is yours",
    "collaborator": "You work on it with others",
    "watcher": "You watch it",
    "unwatched": "You watched it",
    "purged": "You lead where it was",
    "lead_fallback": "You lead the unit",
    "turn_failed": "You were waiting for it",
    "dead_letter": "You lead the seat",
    "budget": "You lead the seat",
    "colleague": "A colleague wrote to you",
}
PRIMARY = frozenset(
    {
        "mention", "prioritised", "asked", "answered", "blocking", "assignee", "unblocked",
        "routed_to", "checklist", "lead_fallback", "turn_failed", "dead_letter", "budget",
        "colleague",
    }
)  # fmt: skip


def notify(
    recipient: UUID | Person,
    kind: str,
    *,
    reason: str,
    title: str,
    body: str,
    ref: str,
    event_id: UUID,
    actor: str = "",
    primary: bool | None = None,
) -> Notice | None:
    """Tells the holder of a human seat (by the seat's id) or a person about an event, once.

    Runs in the caller's transaction. Returns the notice, also when it was there already; None for
    an agent's or a removed seat, and for what the recipient did. `reason` is a key of `REASONS`;
    `actor` the author who caused it; `primary` counts it in the badge (by its reason otherwise).
    """
    seat, person = _resolve(recipient)
    if seat is None and person is None:
        return None
    if actor and actor in {seat.handle if seat else "", person.login if person else ""}:
        return None
    notice, created = Notice.objects.get_or_create(
        seat=seat,
        person=None if seat else person,
        event_id=event_id,
        defaults={
            "kind": kind,
            "reason": reason,
            "primary": reason in PRIMARY if primary is None else primary,
            "actor": actor,
            "title": clean(title)[:300],
            "body": clean(body),
            "ref": ref,
            "at": clock.now(),
        },
    )
    if created and person is not None:
        live.changed(f"inbox:{person.login}")
    return notice


def _resolve(recipient: UUID | Person) -> tuple[Seat | None, Person | None]:
    """Returns the human seat to tell and its holder; the person alone where no seat is held."""
    if isinstance(recipient, Person):
        seat = recipient.seat
        return (seat if seat is not None and _speaks(seat) else None), recipient
    seat = Seat.objects.filter(id=recipient).first()
    if seat is None or not _speaks(seat):
        return None, None
    return seat, Person.objects.filter(seat=seat).first()


def _speaks(seat: Seat) -> bool:
    return seat.kind == SeatKind.HUMAN and seat.removed_at is None
