"""The company that is measured: agent seats under a founder, and letters that start turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import connection

from agents.dispatch.dispatcher import Dispatcher
from agents.dispatch.turns import JournalledTurns
from agents.dispatch.worker import TurnRunner
from agents.seats.host import HostSettings, SeatHost
from agents.seats.presence import register
from bench.place import BenchProblem, Place
from bench.plan import IN_FLIGHT
from crewlet.kernel import db
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import Actor, engine_actor
from orgs import epochs
from orgs.people import founder
from orgs.people.actors import session_actor
from orgs.revisions import apply_document

QUICK, SLOW = "quick", "slow"
SOLO: Final = "solo"
"""The seat of the turns that are worked one after another, by the model that answers at once."""
LEASE_SECONDS: Final = 900.0
PROJECT: Final = "BEN"


def fast_seats() -> tuple[str, ...]:
    """Returns the handles of the seats that are woken on the idle node."""
    return tuple(f"near-{n:02}" for n in range(1, IN_FLIGHT + 1))


def slow_seats() -> tuple[str, ...]:
    """Returns the handles of the seats whose model takes its time."""
    return tuple(f"far-{n:02}" for n in range(1, IN_FLIGHT + 1))


def document(place: Place) -> dict[str, Any]:
    """Returns the company document."""

    def role(handle: str, llm: str) -> dict[str, Any]:
        goal = "Do what the item asks, and say on it what was done"
        return {"name": handle.title(), "handle": handle, "goal": goal, "llm": llm}

    def model(url: str) -> dict[str, Any]:
        return {"type": "openai-compatible", "model": "scripted", "base_url": url}

    seats = [{**role(SOLO, QUICK), "project": PROJECT}]
    seats += [role(handle, QUICK) for handle in fast_seats()]
    seats += [role(handle, SLOW) for handle in slow_seats()]
    founder_role = {
        "name": "Ana Bench", "handle": "ana", "kind": "human", "goal": "See what a turn costs",
        "manages": [str(seat["handle"]) for seat in seats],
    }  # fmt: skip
    return {
        "name": "The Bench",
        "mission": "Measure honestly, on the machine at hand.",
        "providers": {
            "llm": {QUICK: model(place.quick.openai_url), SLOW: model(place.slow.openai_url)}
        },
        "roles": [founder_role, *seats],
    }


@dataclass
class Company:
    """An applied company and who files its work."""

    actor: Actor
    seats: dict[str, UUID] = field(default_factory=dict)

    def file(self, handle: str, count: int = 1) -> None:
        """Files items for a seat, through the door that a person uses; each is one letter."""
        for n in range(count):
            args = {
                "title": f"Count what came in, part {n + 1}",
                "body": "Look at yesterday's figures, say what changed, and why it matters.",
                "project": PROJECT,
                "assignee": handle,
            }
            perform(self.actor, "create_work_item", args, op_id=None, door=Door.FORM).unwrap()

    def waiting(self) -> int:
        """Returns how many letters wait or are being worked."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM agents_delivery")
            return int(cursor.fetchone()[0])

    def outcomes(self) -> dict[str, int]:
        """Returns how many turns ended how."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT coalesce(nullif(outcome, ''), stage), count(*) FROM agents_turn GROUP BY 1"
            )
            return dict(cursor.fetchall())


def applied(place: Place) -> Company:
    """Creates the company on an empty store."""
    apply_document(engine_actor("bench"), document(place), summary="The company that is measured")
    person = founder.ensure_founder()
    if person is None:
        raise BenchProblem("The company came up without a founder, so nobody can file its work.")
    return Company(session_actor(person), dict(epochs.active().seat_ids))


def all_completed(company: Company) -> None:
    """Raises BenchProblem unless every turn so far ended well: a failed turn is a cheap one."""
    found = company.outcomes()
    if set(found) - {"completed"} or company.waiting():
        raise BenchProblem(
            f"Not every turn completed: {found}, {company.waiting()} letters wait. "
            "What was measured is not a reviewed turn."
        )


@dataclass
class Node:
    """A seat host of this very process, without threads of its own until turns are poked."""

    host: SeatHost
    dispatcher: Dispatcher
    runner: TurnRunner

    def work(self, seat_id: UUID) -> None:
        """Works one letter of a seat on this thread, by the one entrance to a turn."""
        self.dispatcher.look(seat_id)

    def work_all(self, seats: Sequence[UUID]) -> None:
        """Pokes seats through the gate: a thread each, up to the node's ceiling."""
        for seat_id in seats:
            self.runner.poke(seat_id)


def node() -> Node:
    """Takes every seat for this process, by the lease that workers take."""
    host = SeatHost(HostSettings("bench", LEASE_SECONDS, 5.0, 2 * IN_FLIGHT + 1))
    register(
        host.incarnation,
        "bench",
        roles=host.settings.roles,
        capacity=host.settings.capacity,
        ttl=LEASE_SECONDS,
    )
    host.renew_once()
    host.sweep_once()
    wanted = 2 * IN_FLIGHT + 1
    if len(host.seats()) != wanted:
        raise BenchProblem(f"This process took {len(host.seats())} of {wanted} seats.")
    host.runner = runner = TurnRunner(host, JournalledTurns(), IN_FLIGHT)
    db.release()
    return Node(host, Dispatcher(host, JournalledTurns()), runner)
