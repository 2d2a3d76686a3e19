"""The verbs over people and what proves who they are.

A secret never travels through an action: whoever makes a link, a token or a password keeps the
value and sends its digest (or its argon2id hash), so neither the stored operation nor the audit
holds anything that opens a door. Nobody gives a grant they lack; taking away is always allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from crewlet.kernel import clock
from crewlet.kernel.actions import Args, Door, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Conflict, Forbidden, Invalid
from crewlet.kernel.events import EventType, publish
from orgs import access
from orgs.models.people import Credential, CredentialKind, Person, PersonStage, SessionRecord
from orgs.models.seats import Seat, SeatKind
from orgs.people import links, passwords, sessions
from orgs.people.actors import grants_of
from orgs.people.tokens import NEVER_IN_A_TOKEN

TOKEN_DAYS = 90
LONGEST_TOKEN_DAYS = 365


def _a_login(text: str) -> str:
    # A dot tells a login from a handle, a colon a machine from both.
    if not re.fullmatch(r"[a-z0-9][a-z0-9_@+.-]*", text) or "." not in text.strip("."):
        raise ValueError(
            "a login has lower-case letters, digits and at least one dot, such as ana.silva"
        )
    return text


Login = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True, min_length=3, max_length=64),
    AfterValidator(_a_login),
]
KnownLogin = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, max_length=64)]
Label = Annotated[
    str, StringConstraints(strip_whitespace=True, pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=128)
]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


# -- people ---------------------------------------------------------------------------------------


class CreatePerson(Args):
    """Who is to be able to sign in."""

    login: Login
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    grants: tuple[Grant, ...] = ()
    seat: str | None = None


@action("create_person", args=CreatePerson, doors=Doors.PEOPLE, grant=Grant.PEOPLE_MANAGE,
        rules=("not_agent",), label="Created {login}")  # fmt: skip
def create_person(actor: Actor, args: CreatePerson, target: None) -> Result:
    """Creates a person who may be invited to sign in, with these grants and this human seat."""
    _may_confer(actor, args.grants)
    if Person.objects.filter(login=args.login).exists():
        raise Conflict(f"The login {args.login} is taken; choose another.", field="login")
    person = Person.objects.create(
        login=args.login,
        name=args.name,
        stage=PersonStage.INVITED,
        grants=_sorted(args.grants),
        seat=_free_human_seat(args.seat, None) if args.seat else None,
        created_at=clock.now(),
    )
    _grants_changed(actor, person, "created")
    return Result(f"Created {person.name} ({person.login}).", (f"person:{person.login}",))


class InvitePerson(Args):
    """Whom to invite, and the SHA-256 of the code that the inviter made and keeps."""

    login: KnownLogin
    digest: Digest


@action("invite_person", args=InvitePerson, doors={Door.REST, Door.FORM, Door.CLI},
        grant=Grant.PEOPLE_MANAGE, rules=("not_agent",),
        fetch=lambda actor, args: access.person_by_login(args.login),
        label="Invited {login}")  # fmt: skip
def invite_person(actor: Actor, args: InvitePerson, target: Person) -> Result:
    """Stores a one-time sign-in link, good for 24 hours; an earlier unused one stops working."""
    if target.stage == PersonStage.SUSPENDED:
        raise Conflict(f"{target.name} is suspended; activate {target.login} first.")
    # A link signs in as the person with all they may do: that is conferring their grants.
    _may_confer(actor, grants_of(target.grants))
    links.withdraw(target)
    links.store(target, args.digest, created_by=actor.author)
    return Result(
        f"The link signs {target.name} in once, within 24 hours.", (f"person:{target.login}",)
    )


class BindPerson(Args):
    """Which human seat a person holds; none with an empty handle."""

    login: KnownLogin
    seat: str = ""


@action("bind_person", args=BindPerson, doors=Doors.PEOPLE, grant=Grant.PEOPLE_MANAGE,
        rules=("not_agent",), fetch=lambda actor, args: access.person_by_login(args.login),
        idempotent=True, label="Bound {login} to {seat}")  # fmt: skip
def bind_person(actor: Actor, args: BindPerson, target: Person) -> Result:
    """Gives a person a human seat, or takes it away; grants do not change by it."""
    target.seat = _free_human_seat(args.seat, target) if args.seat else None
    target.save(update_fields=["seat"])
    words = f"now holds the seat {target.seat.handle}" if target.seat else "holds no seat now"
    return Result(f"{target.name} {words}.", (f"person:{target.login}",))


class SetGrants(Args):
    """Everything a person may do from now on."""

    login: KnownLogin
    grants: tuple[Grant, ...]


@action("set_grants", args=SetGrants, doors=Doors.PEOPLE, grant=Grant.PEOPLE_MANAGE,
        rules=("not_agent",), fetch=lambda actor, args: access.person_by_login(args.login),
        idempotent=True, label="Set the grants of {login}")  # fmt: skip
def set_grants(actor: Actor, args: SetGrants, target: Person) -> Result:
    """Replaces the grants of a person; one that the actor lacks may be kept or taken, not given."""
    _may_confer(actor, frozenset(args.grants) - grants_of(target.grants))
    _keep_somebody_in_charge(target, frozenset(args.grants))
    target.grants = _sorted(args.grants)
    target.save(update_fields=["grants"])
    _grants_changed(actor, target, "changed")
    return Result(f"{target.name} holds {', '.join(target.grants) or 'no grants'}.",
                  (f"person:{target.login}",))  # fmt: skip


class SuspendPerson(Args):
    """Who is to be kept out."""

    login: KnownLogin


@action("suspend_person", args=SuspendPerson, doors=Doors.PEOPLE, grant=Grant.PEOPLE_MANAGE,
        rules=("not_agent",), fetch=lambda actor, args: access.person_by_login(args.login),
        destructive=True, idempotent=True, label="Suspended {login}")  # fmt: skip
def suspend_person(actor: Actor, args: SuspendPerson, target: Person) -> Result:
    """Keeps a person out at once: sessions end, links and tokens stop. The seat stays theirs."""
    if target.id == actor.person_id:
        raise Conflict("Nobody suspends themselves; ask somebody else who manages people.")
    _keep_somebody_in_charge(target, frozenset())
    Person.objects.filter(id=target.id).update(stage=PersonStage.SUSPENDED)
    ended = sessions.end_all(target, by=actor.author)
    Credential.objects.filter(person=target, revoked_at=None).exclude(
        kind=CredentialKind.LINK, used_at__isnull=False
    ).update(revoked_at=clock.now())
    return Result(
        f"{target.name} is suspended; {ended} session(s) ended.", (f"person:{target.login}",)
    )


class ActivatePerson(Args):
    """Who may come in again."""

    login: KnownLogin


@action("activate_person", args=ActivatePerson, doors=Doors.PEOPLE, grant=Grant.PEOPLE_MANAGE,
        rules=("not_agent",), fetch=lambda actor, args: access.person_by_login(args.login),
        idempotent=True, label="Activated {login}")  # fmt: skip
def activate_person(actor: Actor, args: ActivatePerson, target: Person) -> Result:
    """Lets a suspended person sign in again; revoked tokens stay revoked."""
    _may_confer(actor, grants_of(target.grants))
    Person.objects.filter(id=target.id, stage=PersonStage.SUSPENDED).update(
        stage=PersonStage.ACTIVE
    )
    return Result(f"{target.name} may sign in again.", (f"person:{target.login}",))


# -- proofs ---------------------------------------------------------------------------------------


class SetPassword(Args):
    """The argon2id hash of the new password: the password itself is not an argument."""

    encoded: Annotated[str, StringConstraints(max_length=256)]


@action("set_password", args=SetPassword, doors={Door.FORM}, rules=("person_only",),
        fetch=lambda actor, args: access.own_person(actor), label="Set a password")  # fmt: skip
def set_password(actor: Actor, args: SetPassword, target: Person) -> Result:
    """Sets the actor's own password and ends every session that was signed in before."""
    if _by_token(actor):
        # Else a token with one grant would become a sign-in with all of its person's.
        raise Forbidden("A token sets no passwords; sign in and set it as a person.")
    if not passwords.is_encoded(args.encoded):
        raise Invalid("This is no argon2id hash; send the page's form instead.", field="encoded")
    Person.objects.filter(id=target.id).update(password=args.encoded)
    sessions.end_all(target, by=actor.author)
    return Result("Your password is set. Other browsers are signed out.")


class EndSession(Args):
    """Which signed-in browser."""

    session: UUID


@action("end_session", args=EndSession, doors=Doors.PEOPLE, rules=("not_agent",),
        fetch=lambda actor, args: access.session_by_id(actor, args.session),
        idempotent=True, label="Ended a session")  # fmt: skip
def end_session(actor: Actor, args: EndSession, target: SessionRecord) -> Result:
    """Signs one browser out: one's own, or anybody's for who manages people."""
    sessions.end(target, by=actor.author)
    return Result(f"That session of {target.person.name} is ended.")


class EndAllSessions(Args):
    """Whose sessions; one's own without a login."""

    login: KnownLogin = ""


def _whose_sessions(actor: Actor, args: EndAllSessions) -> Person:
    if not args.login or args.login == actor.login:
        return access.own_person(actor)
    if Grant.PEOPLE_MANAGE not in actor.grants:
        raise Forbidden(
            "Only who manages people ends the sessions of others.",
            grants=[Grant.PEOPLE_MANAGE.value],
        )
    return access.person_by_login(args.login)


@action("end_all_sessions", args=EndAllSessions, doors=Doors.PEOPLE, rules=("not_agent",),
        fetch=_whose_sessions, destructive=True, idempotent=True,
        label="Ended all sessions of {login}")  # fmt: skip
def end_all_sessions(actor: Actor, args: EndAllSessions, target: Person) -> Result:
    """Signs a person out everywhere."""
    ended = sessions.end_all(target, by=actor.author)
    return Result(f"{ended} session(s) of {target.name} ended.", (f"person:{target.login}",))


class CreateToken(Args):
    """A token by the SHA-256 of its value: whose, what it may do, for how many days."""

    label: Label
    digest: Digest
    grants: tuple[Grant, ...]
    login: KnownLogin = ""
    days: int = Field(default=TOKEN_DAYS, ge=1, le=LONGEST_TOKEN_DAYS)


@action("create_token", args=CreateToken, doors={Door.REST, Door.FORM, Door.CLI},
        rules=("not_agent",), label="Created the token {label}")  # fmt: skip
def create_token(actor: Actor, args: CreateToken, target: None) -> Result:
    """Stores a bearer token: a personal one for a login, a machine's own without one."""
    if _by_token(actor):
        raise Forbidden("A token makes no tokens; sign in and make it as a person.")
    owner = _token_owner(actor, args.login)
    _may_confer(actor, args.grants)
    beyond = frozenset(args.grants) & NEVER_IN_A_TOKEN
    if owner is not None:
        beyond |= frozenset(args.grants) - grants_of(owner.grants)
    if beyond:
        raise Forbidden(
            f"This token cannot carry {', '.join(_sorted(beyond))}: a stored token never reads "
            "secrets or manages people, and a personal one has at most its person's grants.",
            grants=_sorted(beyond),
        )
    if Credential.objects.filter(
        kind=CredentialKind.TOKEN, person=owner, label=args.label, revoked_at=None
    ).exists():
        raise Conflict(f"There is a live token '{args.label}' already; revoke it or choose another "
                       "label.", field="label")  # fmt: skip
    now = clock.now()
    Credential.objects.create(
        kind=CredentialKind.TOKEN,
        label=args.label,
        person=owner,
        digest=args.digest,
        grants=_sorted(args.grants),
        created_at=now,
        created_by=actor.author,
        expires_at=now + timedelta(days=args.days),
    )
    return Result(f"The token '{args.label}' works for {args.days} days.")


class RevokeToken(Args):
    """Which token: its label, and whose it is unless it is a machine's."""

    label: Label
    login: KnownLogin = ""


@action("revoke_token", args=RevokeToken, doors=Doors.PEOPLE, rules=("not_agent",),
        fetch=lambda actor, args: access.token_by_label(actor, args.login, args.label),
        destructive=True, idempotent=True, label="Revoked the token {label}")  # fmt: skip
def revoke_token(actor: Actor, args: RevokeToken, target: Credential) -> Result:
    """Ends a token at once: one's own, or any for who manages people."""
    Credential.objects.filter(id=target.id, revoked_at=None).update(revoked_at=clock.now())
    return Result(f"The token '{target.label}' no longer works.")


# -- shared ---------------------------------------------------------------------------------------


def _by_token(actor: Actor) -> bool:
    return actor.credential.startswith(("token:", "pat:"))


def _sorted(grants: Iterable[Grant]) -> list[str]:
    return sorted({grant.value for grant in grants})


def _may_confer(actor: Actor, grants: Iterable[Grant]) -> None:
    beyond = _sorted(frozenset(grants) - actor.grants)
    if beyond:
        raise Forbidden(
            f"{actor.name} cannot give what {actor.name} lacks: {', '.join(beyond)}.",
            grants=beyond,
            reason="grant_beyond_own",
        )


def _free_human_seat(handle: str, holder: Person | None) -> Seat:
    seat = access.seat_by_handle(handle)
    if seat.kind != SeatKind.HUMAN:
        raise Conflict(f"{seat.handle} is an agent's seat; only a human seat is held by a person.",
                       field="seat")  # fmt: skip
    # The unique column is the promise; asking first only gives the better sentence.
    other = Person.objects.filter(seat=seat).first()
    if other is not None and other != holder:
        raise Conflict(f"{other.name} ({other.login}) holds {seat.handle}; unbind them first.",
                       field="seat", reason="seat_held")  # fmt: skip
    return seat


def _keep_somebody_in_charge(person: Person, left: frozenset[Grant]) -> None:
    """Refuses to take `people:manage` from the last person who has it and may sign in."""
    if Grant.PEOPLE_MANAGE in left or Grant.PEOPLE_MANAGE.value not in person.grants:
        return
    # Locked in id order: two who take it from each other at once must not both succeed.
    others = [
        one.id
        for one in Person.objects.select_for_update(no_key=True)
        .filter(grants__contains=[Grant.PEOPLE_MANAGE.value])
        .exclude(stage=PersonStage.SUSPENDED)
        .order_by("id")
        if one.id != person.id
    ]
    if not others:
        raise Conflict(
            f"{person.name} is the last who manages people; give {Grant.PEOPLE_MANAGE.value} to "
            "somebody else first."
        )


def _token_owner(actor: Actor, login: str) -> Person | None:
    if login and login == actor.login:
        return access.own_person(actor)
    if Grant.PEOPLE_MANAGE not in actor.grants:
        raise Forbidden(
            "Only who manages people makes tokens for machines and for others.",
            grants=[Grant.PEOPLE_MANAGE.value],
        )
    return access.person_by_login(login) if login else None


def _grants_changed(actor: Actor, person: Person, what: str) -> None:
    publish(
        EventType.IAM_GRANTS_CHANGED,
        summary=f"{actor.author} {what} {person.login}: {', '.join(person.grants) or 'no grants'}",
        actor=actor.author,
        payload={"login": person.login, "grants": list(person.grants)},
    )
