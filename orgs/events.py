"""Facts of the company that other apps may react to inside the same transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from orgs.epochs import Snapshot


@dataclass(frozen=True, slots=True)
class CompanyApplied:
    """A document became the running company. `before` is None for the first one."""

    epoch: int
    before: Snapshot | None
    after: Snapshot


@dataclass(frozen=True, slots=True)
class DemoCreated:
    """The demo company was created, and this is the first goal its founder files."""

    epoch: int
    founder_seat_id: UUID
    goal_title: str
    goal_body: str
    project: str
    assignee: str
