"""How a credential becomes an actor.

A person who holds a seat acts under the seat's handle, with the login beside it as credential; a
person without one acts under the login. Nobody names the seat to act as.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol
from uuid import UUID

from crewlet.kernel.actors import Actor, ActorKind, TurnRef
from crewlet.kernel.authority import ALL_GRANTS, Grant
from orgs.models.people import Person
from orgs.models.seats import SeatKind
from orgs.people.ceiling import cut

# What an agent's tools may rest on; what it may touch is decided by authority rules, per action.
SEAT_GRANTS = frozenset({Grant.STATE_READ, Grant.WORK_WRITE, Grant.KNOWLEDGE_WRITE})


class SeatLike(Protocol):
    """The part of a seat that an actor is made of: a row of the projection has it."""

    @property
    def id(self) -> UUID: ...

    @property
    def handle(self) -> str: ...

    @property
    def name(self) -> str: ...


def grants_of(names: Iterable[str]) -> frozenset[Grant]:
    """Returns stored grant names as grants; a name that a newer build wrote counts for nothing."""
    return frozenset(Grant(name) for name in names if name in ALL_GRANTS)


def person_actor(
    person: Person, *, credential: str, at_most: frozenset[Grant] = ALL_GRANTS
) -> Actor:
    """Returns a person acting, as the seat where one is bound, with at most these grants."""
    seat = person.seat
    if seat is not None and (seat.removed_at is not None or seat.kind != SeatKind.HUMAN):
        seat = None  # a seat that left the chart or became an agent's speaks for nobody
    return Actor(
        kind=ActorKind.PERSON,
        login=person.login,
        name=person.name,
        grants=cut(grants_of(person.grants) & at_most),
        credential=credential,
        person_id=person.id,
        seat_id=seat.id if seat else None,
        handle=seat.handle if seat else None,
    )


def session_actor(person: Person) -> Actor:
    """Returns a person acting through a signed-in browser."""
    return person_actor(person, credential=f"session:{person.login}")


def seat_actor(
    seat: SeatLike, turn: TurnRef | None = None, grants: frozenset[Grant] = SEAT_GRANTS
) -> Actor:
    """Returns an agent seat acting in a turn."""
    return Actor(
        kind=ActorKind.SEAT,
        login=seat.handle,
        name=seat.name,
        grants=cut(grants),
        credential=f"turn:{turn.turn_id}" if turn else f"seat:{seat.handle}",
        seat_id=seat.id,
        handle=seat.handle,
        turn=turn,
    )
