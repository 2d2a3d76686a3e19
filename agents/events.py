"""Facts of the runtime, for receivers in the transaction that makes them true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from crewlet.kernel.ids import derived_id


@dataclass(frozen=True, slots=True)
class SpendAdded:
    """A turn is settled and its tokens belong to a work item.

    `op_id` is the same whenever the same segment is charged again, so a receiver adds it once.
    `basis` of the work item says why it is charged: trigger, asked_by, resume or sole_write.
    """

    work_item: Mapping[str, Any]
    turn_id: UUID
    seat_id: UUID
    handle: str
    op_id: str
    tokens_in: int
    tokens_out: int
    calls: int


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """A turn failed or was stopped; whoever waits is to be told, in words.

    `message` says what happened and what to do. A receiver that owns `reply_surface` answers
    there; the runtime itself tells a waiting colleague and the people above the seat. All tell it
    under the one `event_id`, so that whoever waits and also leads the seat is woken once.
    `stopped_by` is who stopped the turn and needs no telling; empty when it failed.
    """

    turn_id: UUID
    seat_id: UUID
    handle: str
    name: str
    error_kind: str
    message: str
    reply_kind: str
    reply_surface: str
    trigger: Mapping[str, Any]
    work_item: Mapping[str, Any] | None
    stopped_by: str = ""

    @property
    def event_id(self) -> UUID:
        """The event under which everybody hears of this end."""
        return derived_id("turn_failed", str(self.turn_id))


@dataclass(frozen=True, slots=True)
class TurnSettled:
    """A turn is over, however it ended. `learns` tells whether it did work worth remembering."""

    turn_id: UUID
    seat_id: UUID
    handle: str
    work_key: str
    outcome: str
    result: str
    learns: bool
