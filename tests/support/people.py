"""People for tests: a person with a password, and a browser that is signed in as one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from django.test import Client

from crewlet.kernel import clock
from crewlet.kernel.authority import ALL_GRANTS, Grant
from orgs.models.people import Person, PersonStage
from orgs.models.seats import Seat, SeatKind
from orgs.people import links, passwords
from orgs.people.printed import path_of

PASSWORD = "four lucid otters climbing"
ORIGIN = "http://testserver"


@lru_cache(maxsize=1)
def encoded_password() -> str:
    """Returns the hash of `PASSWORD`, made once: argon2id is slow on purpose."""
    return passwords.encode(PASSWORD)


def a_person(
    login: str = "ana.silva",
    *,
    grants: Iterable[Grant] = ALL_GRANTS,
    seat: Seat | None = None,
    stage: PersonStage = PersonStage.ACTIVE,
) -> Person:
    """Stores a person with these grants (all by default) and the password `PASSWORD`."""
    return Person.objects.create(
        login=login,
        name=login.partition(".")[0].title(),
        stage=stage,
        grants=sorted(grant.value for grant in grants),
        seat=seat,
        password=encoded_password(),
        created_at=clock.now(),
    )


def a_seat(handle: str = "ana", kind: SeatKind = SeatKind.HUMAN, *, at_root: bool = False) -> Seat:
    """Stores a seat row of the projection."""
    return Seat.objects.create(
        handle=handle,
        origin_handle=handle,
        name=handle.title(),
        kind=kind,
        declared_at_root=at_root,
    )


def browser() -> Client:
    """Returns a client that says our own Origin, as a browser does."""
    return Client(headers={"origin": ORIGIN, "accept": "text/html"})


def signed_in(client: Client, person: Person) -> Client:
    """Signs a person in through a one-time link and returns the same client."""
    code = links.make(person, created_by="test")
    response = client.post(path_of(code), headers={"origin": ORIGIN})
    assert response.status_code == 303, response.content
    return client
