"""The company in which every action is called: its seats, its people, and who may do nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from django.test import Client

from crewlet.kernel import drain
from crewlet.kernel.actors import Actor, ActorKind, TurnRef, engine_actor
from crewlet.kernel.authority import ALL_GRANTS
from crewlet.kernel.ids import new_id
from orgs import epochs
from orgs.epochs import Snapshot
from orgs.models.people import Person
from orgs.models.seats import Seat
from orgs.revisions import apply_document
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import COMPANY

ANA, KIM, NOBODY = "ana.silva", "kim.cho", "no.body"


@dataclass(frozen=True)
class World:
    """`ana` may do everything and holds a seat, `kim` is another person, `nobody` has no grant."""

    snapshot: Snapshot
    ana: Person
    kim: Person
    nobody: Person
    browsers: dict[str, Client] = field(default_factory=dict)

    def seat(self, handle: str) -> UUID:
        """The id of a seat."""
        return self.snapshot.seat_ids[handle]

    def agent(self, handle: str) -> Actor:
        """An agent seat in a turn of its own."""
        return Actor(
            kind=ActorKind.SEAT,
            login=handle,
            name=self.snapshot.chart.seats[handle].name,
            grants=ALL_GRANTS,
            credential="turn",
            seat_id=self.seat(handle),
            handle=handle,
            turn=TurnRef(new_id(), f"work-{handle}"),
        )

    def browser(self, person: Person) -> Client:
        """The browser in which a person is signed in, as htmx asks from it."""
        return self.browsers[person.login]

    def sign_in(self, person: Person) -> None:
        """Signs a person in anew: in another browser, or after a call that signed them out."""
        client = Client(headers={"origin": ORIGIN, "hx-request": "true"})
        self.browsers[person.login] = signed_in(client, person)

    def ready(self) -> None:
        """Warms what a process remembers, so that counting queries sees the call alone."""
        if epochs.current() is not None:
            epochs.active()
        drain.is_draining()


def make_world() -> World:
    """Applies the company and stores its people."""
    apply_document(engine_actor("tests"), COMPANY, summary="for the contract")
    world = World(
        snapshot=epochs.active(),
        ana=a_person(ANA, seat=Seat.objects.get(handle="ana")),
        kim=a_person(KIM),
        nobody=a_person(NOBODY, grants=()),
    )
    for person in (world.ana, world.nobody):
        world.sign_in(person)
    return world
