"""Who there is: people, their sessions and tokens, and how an author is shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from orgs.models.people import Credential, CredentialKind, Person
from orgs.models.seats import Seat, SeatKind
from orgs.people import sessions

Party = dict[str, str]


def people_rows(actor: Actor) -> list[dict[str, Any]]:
    """Returns everybody who may sign in, by login; asks for `people:manage`."""
    require(actor, Grant.PEOPLE_MANAGE)
    return [
        person_row(person) for person in Person.objects.select_related("seat").order_by("login")
    ]


def person_row(person: Person) -> dict[str, Any]:
    """Returns one person without anything that proves who they are."""
    return {
        "login": person.login,
        "name": person.name,
        "stage": person.stage,
        "grants": sorted(person.grants),
        "seat": person.seat.handle if person.seat else None,
        "has_password": bool(person.password),
        "created_at": person.created_at,
        "last_seen_at": person.last_seen_at,
    }


def me(actor: Actor) -> dict[str, Any]:
    """Returns who the caller is: kind, login, name, seat, grants, credential."""
    return {
        "kind": actor.kind.value,
        "login": actor.login,
        "name": actor.name,
        "handle": actor.handle,
        "author": actor.author,
        "credential": actor.credential,
        "grants": sorted(grant.value for grant in actor.grants),
    }


def session_rows(person: Person) -> list[dict[str, Any]]:
    """Returns the live sessions of a person, the newest first."""
    return [
        {
            "id": str(record.id),
            "started_at": record.started_at,
            "seen_at": record.seen_at,
            "source": record.source,
            "browser": browser_name(record.agent),
        }
        for record in sessions.live_sessions(person)
    ]


# A later name also claims the earlier ones: Edge says Chrome, Chrome says Safari.
_BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"),
             ("Safari/", "Safari"))  # fmt: skip
_SYSTEMS = (("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
            ("Mac OS", "macOS"), ("Linux", "Linux"))  # fmt: skip


def browser_name(agent: str) -> str:
    """Returns what a person calls the browser that sent a User-Agent: "Chrome on Linux"."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    if not browser:
        return "An unknown program"
    return f"{browser} on {system}" if system else browser


def token_rows(actor: Actor) -> list[dict[str, Any]]:
    """Returns live stored tokens: one's own, or all for who manages people. Never a value."""
    now = clock.now()
    tokens = Credential.objects.select_related("person").filter(
        kind=CredentialKind.TOKEN, revoked_at=None, expires_at__gt=now
    )
    if Grant.PEOPLE_MANAGE not in actor.grants:
        if actor.person_id is None:
            return []  # machines own nothing; a lookup by None would show all of theirs
        tokens = tokens.filter(person_id=actor.person_id)
    return [
        {
            "label": token.label,
            "login": token.person.login if token.person else None,
            "grants": sorted(token.grants),
            "created_at": token.created_at,
            "created_by": token.created_by,
            "expires_at": token.expires_at,
            "first_used_at": token.used_at,
        }
        for token in tokens.order_by("label", "created_at")
    ]


def free_human_seats() -> list[dict[str, str]]:
    """Returns the human seats that nobody holds, by name."""
    seats = Seat.objects.filter(kind=SeatKind.HUMAN, removed_at=None, person=None)
    return [{"handle": seat.handle, "name": seat.name} for seat in seats.order_by("name")]


def parties(authors: Iterable[str]) -> dict[str, Party]:
    """Returns how each author is shown, by author: a seat, a person, a token or the engine."""
    wanted = {author for author in authors if author}
    found: dict[str, Party] = {}
    for seat in Seat.objects.filter(handle__in=wanted).order_by("-removed_at"):
        kind = "human" if seat.kind == SeatKind.HUMAN else "agent"
        url = "" if seat.removed_at else f"/agents/seats/{seat.handle}"
        found[seat.handle] = {"handle": seat.handle, "name": seat.name, "kind": kind, "url": url}
    left = wanted - found.keys()
    for login, name in Person.objects.filter(login__in=left).values_list("login", "name"):
        found[login] = {"handle": login, "name": name, "kind": "person", "url": ""}
    for author in left - found.keys():
        kind = "engine" if author.startswith("engine:") else "person"
        found[author] = {"handle": author, "name": author, "kind": kind, "url": ""}
    return found
