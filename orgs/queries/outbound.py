"""Where a person's e-mail goes and what became of it, as plain data."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Unavailable
from orgs import epochs
from orgs.document.variables import is_reference
from orgs.models.outbound import EmailLevel, OutboundMail, OutboundState
from orgs.models.people import Person

EMAIL_LEVELS = tuple((level.value, level.label) for level in EmailLevel)


def configured() -> bool:
    """Tells whether this deployment has a mail server."""
    return bool(settings.EMAIL_HOST)


def company_name() -> str:
    """Returns the name that stands before a subject."""
    try:
        return str(epochs.active().document.name)
    except Unavailable:
        return "Crewlet"


def address_of(person: Person) -> str:
    """Returns where a person's e-mail goes: their own choice, else the address of their seat in
    the document, else nowhere."""
    choice = getattr(person, "email_choice", None)
    return (choice.address if choice else "") or seat_address(person)


def seat_address(person: Person) -> str:
    """Returns the address that the document gives the person's seat; nothing for a `${NAME}`."""
    if person.seat is None or person.seat.removed_at is not None:
        return ""
    try:
        seat = epochs.active().chart.seats.get(person.seat.handle)
    except Unavailable:
        return ""
    email = seat.role.email if seat is not None and seat.role is not None else None
    return "" if email is None or is_reference(email) else str(email)


def email_of(actor: Actor) -> dict[str, Any]:
    """Returns the actor's choice, where their mail goes, and what came of it lately."""
    people = Person.objects.select_related("seat", "email_choice")
    person = people.filter(id=actor.person_id).first() if actor.person_id else None
    if person is None:
        return {"configured": configured(), "level": EmailLevel.OFF.value, "address": "",
                "goes_to": "", "seat_address": "", "sent_at": None, "error": "", "given_up": 0,
                "waiting": 0}  # fmt: skip
    choice, mine = getattr(person, "email_choice", None), OutboundMail.objects.filter(person=person)
    sent = mine.filter(state=OutboundState.SENT).order_by("-ended_at").first()
    waiting = mine.filter(state__in=(OutboundState.WAITING, OutboundState.SENDING))
    given_up = mine.filter(state=OutboundState.DEAD)
    # A message that left after the trouble says that the trouble is over.
    since = given_up.filter(ended_at__gt=sent.ended_at) if sent and sent.ended_at else given_up
    troubled = (waiting | since).exclude(error="").order_by("-due_at").first()
    return {
        "configured": configured(),
        "level": str(choice.level if choice else EmailLevel.DECISIONS),
        "address": choice.address if choice else "",
        "goes_to": address_of(person),
        "seat_address": seat_address(person),
        "sent_at": sent.ended_at if sent else None,
        "error": troubled.error if troubled else "",
        "given_up": given_up.count(),
        "waiting": waiting.count(),
    }
