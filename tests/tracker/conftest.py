"""A company with two projects, and who acts in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from crewlet.kernel.actors import Actor, ActorKind, TurnRef, engine_actor
from crewlet.kernel.authority import ALL_GRANTS
from crewlet.kernel.ids import new_id
from orgs import epochs
from orgs.epochs import Snapshot
from orgs.revisions import apply_document
from tests.tracker.company import ACTORS, COMPANY


@pytest.fixture
def company(db: None) -> Iterator[Snapshot]:
    """The test company, applied."""
    epochs.forget()
    apply_document(engine_actor("tests"), COMPANY, summary="for the tests")
    yield epochs.active()
    epochs.forget()


class Cast:
    """Actors of the test company by handle: `cast.swe`, `cast["agent-cto"]`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def __getitem__(self, handle: str) -> Actor:
        seat = self.snapshot.chart.seats[handle]
        agent = seat.kind == "agent"
        turn = TurnRef(new_id(), f"work-{handle}") if agent else None
        return Actor(
            kind=ActorKind.SEAT if agent else ActorKind.PERSON,
            login=handle if agent else f"{handle}.login",
            name=seat.name,
            grants=ALL_GRANTS,
            credential="test",
            seat_id=self.snapshot.seat_ids[handle],
            handle=handle,
            turn=turn,
        )

    def __getattr__(self, name: str) -> Actor:
        return self[ACTORS.get(name, name)]

    @property
    def operator(self) -> Actor:
        """A machine token of a person who holds no seat."""
        return replace(
            self["ana"], kind=ActorKind.MACHINE, login="ops.token", name="Ops", seat_id=None,
            handle=None,
        )  # fmt: skip


@pytest.fixture
def cast(company: Snapshot) -> Cast:
    """The actors of the test company."""
    return Cast(company)
