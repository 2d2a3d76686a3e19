"""The turn as the dispatcher sees it: opened, taken over, given up, run.

The protocol is the whole of it, so that dispatch is tested without a model; `JournalledTurns` is
the one that the product runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.db.backends.utils import CursorWrapper

from agents.mail.conversations import Merged
from agents.seats.lease import Lease
from agents.turn import engine, journal


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """The turn of a seat that has not ended."""

    id: UUID
    stage: str
    park_reason: str
    wake_at: datetime | None
    epoch: int


@dataclass(frozen=True, slots=True)
class Stop:
    """A person's wish that a running turn ends at its next fence."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What a running turn may ask of its host, at any time and from its own thread."""

    should_stop: Callable[[], Stop | None]
    lease_fresh: Callable[[], bool]


class Turns(Protocol):
    """Opens, takes over, gives up and runs turns. The first three write on the given cursor."""

    def open(
        self, cursor: CursorWrapper, turn_id: UUID, merged: Merged, lease: Lease, epoch: int
    ) -> None:
        """Writes a new turn that answers `merged` under the company's `epoch`."""

    def adopt(self, cursor: CursorWrapper, turn_id: UUID, lease: Lease, *, lost: bool) -> int:
        """Takes a parked or orphaned turn over; returns how often its worker was lost."""

    def abandon(self, cursor: CursorWrapper, turn_id: UUID, error_kind: str, error: str) -> None:
        """Ends a turn that will not be tried again."""

    def run(self, turn_id: UUID, lease: Lease, context: TurnContext, *, resumed: bool) -> str:
        """Runs it until it ends, parks, or is fenced; returns which (`completed`, `parked`, …)."""


class JournalledTurns:
    """Turns of the real engine, on the real journal."""

    def open(
        self, cursor: CursorWrapper, turn_id: UUID, merged: Merged, lease: Lease, epoch: int
    ) -> None:
        """Writes a new turn."""
        journal.open_turn(
            cursor,
            turn_id=turn_id,
            seat_id=lease.seat_id,
            merged=merged,
            epoch=epoch,
            lease_epoch=lease.epoch,
            node=lease.owner,
        )

    def adopt(self, cursor: CursorWrapper, turn_id: UUID, lease: Lease, *, lost: bool) -> int:
        """Takes a turn over."""
        return journal.adopt(cursor, turn_id, lease_epoch=lease.epoch, node=lease.owner, lost=lost)

    def abandon(self, cursor: CursorWrapper, turn_id: UUID, error_kind: str, error: str) -> None:
        """Ends a turn for good."""
        journal.abandon(cursor, turn_id, error_kind=error_kind, error=error)

    def run(self, turn_id: UUID, lease: Lease, context: TurnContext, *, resumed: bool) -> str:
        """Runs a turn."""
        end = engine.run(
            engine.ClaimedTurn(
                turn_id=turn_id,
                seat_id=lease.seat_id,
                lease_epoch=lease.epoch,
                node=lease.owner,
                resumed=resumed,
            ),
            context,
        )
        return end.kind
