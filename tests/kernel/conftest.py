"""Verbs that exist for the tests of the ground floor alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from django.db import transaction

from crewlet.kernel import actions
from crewlet.kernel.actions import ACTIONS, Args, Doors, Result, action
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import RULES, Grant, authority_rule
from crewlet.kernel.errors import Conflict, Forbidden
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.registry import thawed


class ProbeArgs(Args):
    """Arguments of the probe verb."""

    note: str
    times: int = 1


class LookArgs(Args):
    """Arguments of the reading verb."""


@dataclass
class Probe:
    """What the probe verb saw and did."""

    ran: list[str] = field(default_factory=list)
    committed: list[str] = field(default_factory=list)
    fail_with: Exception | None = None
    hook: Callable[[], None] = lambda: None


@pytest.fixture
def probe() -> Iterator[Probe]:
    """Registers `probe` (a guarded write) and `look` (a read) for one test."""
    seen = Probe()
    models = dict(actions._argument_models)
    with thawed(ACTIONS, RULES):

        @authority_rule("probe_rule")
        def probe_rule(actor: Actor, args: ProbeArgs, target: None) -> None:
            if getattr(args, "note", "") == "forbidden":
                raise Forbidden("This note is not for you.")

        @action(
            "probe", args=ProbeArgs, doors=Doors.ALL, grant=Grant.WORK_WRITE, rules=("probe_rule",)
        )
        def run_probe(actor: Actor, args: ProbeArgs, target: None) -> Result:
            """Writes an event and remembers that it ran."""
            seen.ran.append(args.note)
            publish(EventType.PROJECT_UPDATED, summary=args.note, actor=actor.author)
            transaction.on_commit(lambda: seen.committed.append(args.note))
            seen.hook()
            if seen.fail_with is not None:
                raise seen.fail_with
            return Result(f"Noted {args.note}", refs=(f"note:{args.note}",), data={"n": args.times})

        @action("look", args=LookArgs, grant=Grant.STATE_READ, reads=True)
        def look(actor: Actor, args: LookArgs, target: None) -> Result:
            """Looks."""
            return Result("Seen")

        yield seen
    actions._argument_models.clear()
    actions._argument_models.update(models)


def person(*grants: Grant, login: str = "ana") -> Actor:
    """Returns a person with exactly these grants."""
    return Actor(ActorKind.PERSON, login, login.title(), frozenset(grants), "session:test")


def seat(handle: str = "kofi") -> Actor:
    """Returns an agent seat."""
    return Actor(ActorKind.SEAT, handle, handle.title(), seat_id=UUID(int=7), handle=handle)


REFUSAL = Conflict("It moved on.", current_version=3)
