"""Who may do what to which seat: the authority rules of the organization, and fetch or not found.

A rule raises `Forbidden` when it does not hold. When the company cannot be read the rule cannot
tell, and `Unavailable` (503) comes out of it instead: never a refusal that may be wrong.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import Grant, authority_rule
from crewlet.kernel.errors import ErrorCode, Forbidden, NotFound
from crewlet.kernel.nearest import nearest
from orgs import epochs
from orgs.models.people import Credential, CredentialKind, Person, SessionRecord
from orgs.models.seats import Seat

# -- fetch or not found --------------------------------------------------------------------------


def seat_by_handle(handle: str) -> Seat:
    """Returns a living seat; raises `NotFound` with the nearest handles."""
    wanted = handle.strip().removeprefix("@")
    seat = Seat.objects.select_related("unit").filter(handle=wanted, removed_at=None).first()
    if seat is None:
        known = list(Seat.objects.filter(removed_at=None).values_list("handle", flat=True))
        raise NotFound(f"There is no seat '{wanted}'.{_did_you_mean(wanted, known)}", field="seat")
    return seat


def person_by_login(login: str) -> Person:
    """Returns a person; raises `NotFound` with the nearest logins."""
    person = Person.objects.select_related("seat").filter(login=login.strip().lower()).first()
    if person is None:
        known = list(Person.objects.values_list("login", flat=True))
        raise NotFound(f"There is no person '{login}'.{_did_you_mean(login, known)}", field="login")
    return person


def own_person(actor: Actor) -> Person:
    """Returns the person who acts; raises `Forbidden` (unbound) for a token or an agent."""
    people = Person.objects.select_related("seat").filter(id=person_id_of(actor))
    person = people.first()
    if person is None:
        raise unbound(actor)
    return person


def person_id_of(actor: Actor) -> UUID:
    """Returns the id of the person who acts; raises `Forbidden` (unbound) for anybody else.

    Asking first matters: a lookup by None would find what belongs to nobody.
    """
    if actor.person_id is None:
        raise unbound(actor)
    return actor.person_id


def session_by_id(actor: Actor, ident: UUID) -> SessionRecord:
    """Returns a session of one's own, or of anybody for who manages people."""
    records = SessionRecord.objects.select_related("person").filter(id=ident)
    if Grant.PEOPLE_MANAGE not in actor.grants:
        records = records.filter(person_id=person_id_of(actor))
    record = records.first()
    if record is None:
        raise NotFound("There is no such session.", field="session")
    return record


def token_by_label(actor: Actor, login: str, label: str) -> Credential:
    """Returns a live token by whose it is and its label; others' only for who manages people."""
    tokens = Credential.objects.select_related("person").filter(
        kind=CredentialKind.TOKEN, label=label, revoked_at=None
    )
    tokens = tokens.filter(person__login=login) if login else tokens.filter(person=None)
    if Grant.PEOPLE_MANAGE not in actor.grants:
        tokens = tokens.filter(person_id=person_id_of(actor))
    token = tokens.first()
    if token is None:
        whose = f" of {login}" if login else ""
        raise NotFound(f"There is no live token '{label}'{whose}.", field="label")
    return token


def unbound(actor: Actor) -> Forbidden:
    """Returns the refusal of somebody who is neither a person nor holds a seat, with the remedy."""
    return Forbidden(
        f"{actor.name} is no person, so nothing waits for it here. Sign in as a person; "
        "`manage.py people list` shows who there is.",
        code=ErrorCode.UNBOUND,
        reason="unbound",
    )


def _did_you_mean(wanted: str, known: list[str]) -> str:
    hint = nearest(wanted, known)
    return f" Did you mean {hint}?" if hint else ""


# -- authority rules ------------------------------------------------------------------------------


@authority_rule("not_agent")
def not_agent(actor: Actor, args: Any, target: Any) -> None:
    """A person, a token or the engine acts: no agent seat."""
    if actor.kind is ActorKind.SEAT:
        raise Forbidden("An agent seat may not do this; ask a person.", reason="not_agent")


@authority_rule("person_only")
def person_only(actor: Actor, args: Any, target: Any) -> None:
    """Somebody who is signed in acts, in their own name: no agent, token or engine."""
    if actor.kind is not ActorKind.PERSON:
        raise Forbidden(
            f"{actor.name} is no person, and only a person may do this.", reason="person_only"
        )


@authority_rule("has_inbox")
def has_inbox(actor: Actor, args: Any, target: Any) -> None:
    """The actor is a person, who alone has an inbox."""
    if actor.person_id is None:
        raise unbound(actor)


@authority_rule("own_seat")
def own_seat(actor: Actor, args: Any, target: Any) -> None:
    """The target is the actor's own seat."""
    handle = seat_of(args, target)
    if actor.handle is None or actor.handle != handle:
        raise Forbidden(f"Only {handle} may do this to its own seat.", reason="own_seat")


@authority_rule("not_own_seat")
def not_own_seat(actor: Actor, args: Any, target: Any) -> None:
    """The target is another seat: no seat changes itself."""
    handle = seat_of(args, target)
    if actor.handle == handle:
        raise Forbidden(f"No seat changes itself; somebody above {handle} may.", reason="own_seat")


@authority_rule("leads_seat")
def leads_seat(actor: Actor, args: Any, target: Any) -> None:
    """The actor's seat stands above the target's, directly or through others."""
    handle = seat_of(args, target)
    if not leads(actor, handle):
        raise Forbidden(
            f"{actor.name} does not lead {handle}. {_who_does(handle)}", reason="leads_seat"
        )


@authority_rule("leads_seat_or_operates")
def leads_seat_or_operates(actor: Actor, args: Any, target: Any) -> None:
    """The actor leads the target's seat, or is no agent and holds `fleet:operate`."""
    if not actor.is_agent and Grant.FLEET_OPERATE in actor.grants:
        return
    handle = seat_of(args, target)
    if not leads(actor, handle):
        raise Forbidden(
            f"{actor.name} does not lead {handle} and lacks the grant {Grant.FLEET_OPERATE.value}. "
            f"{_who_does(handle)}",
            reason="leads_seat",
            grants=[Grant.FLEET_OPERATE.value],
        )


@authority_rule("leads_or_own_seat")
def leads_or_own_seat(actor: Actor, args: Any, target: Any) -> None:
    """The target is the actor's own seat or one below it."""
    handle = seat_of(args, target)
    if actor.handle != handle and not leads(actor, handle):
        raise Forbidden(
            f"Only {handle} and whoever leads it may do this. {_who_does(handle)}",
            reason="leads_seat",
        )


def leads(actor: Actor, handle: str) -> bool:
    """Returns whether the actor's seat is above another, at any distance.

    Raises `Unavailable` when no company can be read.
    """
    if actor.handle is None:
        return False
    chart = epochs.active().chart
    return (
        actor.handle in chart.seats
        and handle in chart.seats
        and chart.is_above(actor.handle, handle)
    )


def seat_of(args: Any, target: Any) -> str:
    """Returns the handle of the seat that a rule is about: the target's, else the argument's.

    Raises TypeError when an action asks for a seat's rule and names no seat: that is a bug.
    """
    for holder in (target, getattr(target, "seat", None)):
        handle = getattr(holder, "handle", None)
        if isinstance(handle, str):
            return handle
    for name in ("seat", "handle"):
        handle = getattr(args, name, None)
        if isinstance(handle, str):
            return handle.strip().removeprefix("@")
    raise TypeError(f"No seat in {type(args).__name__} or {type(target).__name__}.")


def _who_does(handle: str) -> str:
    managers = epochs.active().chart.managers(handle)
    return f"Ask {' or '.join(managers)}." if managers else "Nobody in the chart leads it."
