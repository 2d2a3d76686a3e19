"""Who acts. An actor travels from the door to the row; nobody passes a handle to act as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from crewlet.kernel.authority import ALL_GRANTS, Grant
from crewlet.kernel.registry import Registry


class ActorKind(StrEnum):
    """The four kinds of actor."""

    PERSON = "person"
    SEAT = "seat"
    MACHINE = "machine"
    ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class TurnRef:
    """The turn in which an agent seat acts: what its writes are keyed and charged by.

    `trace` names the chain of letters and turns that one cause set off.
    """

    turn_id: UUID
    work_key: str
    depth: int = 0
    chain: tuple[str, ...] = ()
    work_item: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something, with what credential and with which grants.

    `seat_id` is the seat that an agent is or that a person holds; `handle` its address.
    """

    kind: ActorKind
    login: str
    name: str
    grants: frozenset[Grant] = frozenset()
    credential: str = ""
    person_id: UUID | None = None
    seat_id: UUID | None = None
    handle: str | None = None
    turn: TurnRef | None = field(default=None, compare=False)

    @property
    def author(self) -> str:
        """The name under which a row records the actor: the seat's handle, else the login."""
        return self.handle or self.login

    @property
    def is_agent(self) -> bool:
        """Whether an agent seat acts, in a turn."""
        return self.kind is ActorKind.SEAT


def engine_actor(part: str) -> Actor:
    """Returns the engine itself acting, named by its part: `engine:beat`."""
    return Actor(
        kind=ActorKind.ENGINE,
        login=f"engine:{part}",
        name=f"Engine ({part})",
        grants=ALL_GRANTS,
        credential="engine",
    )


WayIn = Callable[[Any], "Actor | None"]
WAYS: Registry[WayIn] = Registry("ways to an actor")
"""How a request (`http`) or a socket's scope (`socket`) becomes an actor; orgs registers both."""
