"""What one run of a turn holds in its hands: the record, the pen, the tools and the host."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from agents.tools.registry import surface
from agents.tools.tool import Tool
from agents.turn import approvals
from agents.turn.delivery import Held
from agents.turn.frames import Frames
from agents.turn.journal import Journal
from agents.turn.limits import limits_for
from agents.turn.machine import Limits, State
from agents.turn.record import TurnRecord
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor, TurnRef
from orgs.people.actors import seat_actor

if TYPE_CHECKING:
    from orgs.chart import ChartSeat
    from orgs.epochs import Snapshot


class StopAsk(Protocol):
    """A person's wish that the turn ends: who and why."""

    @property
    def by(self) -> str: ...

    @property
    def reason(self) -> str: ...


class HostContext(Protocol):
    """What the host of a seat tells a turn while it runs."""

    def should_stop(self) -> StopAsk | None:
        """Returns the wish to stop, if there is one."""
        ...

    def lease_fresh(self) -> bool:
        """Returns whether the lease was renewed lately, by this process's own clock."""
        ...


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a run of a turn ended.

    kind: completed, failed, skipped, stopped, parked (it goes on at `wake_at`), suspended (it goes
    on when a person has spoken) or released (its mail waits to be tried again).
    """

    kind: str
    outcome: str = ""
    error_kind: str = ""
    error: str = ""
    wake_at: datetime | None = None


@dataclass(slots=True)
class _SeatFace:
    id: UUID
    handle: str
    name: str


@dataclass(slots=True)
class Running:
    """One run of a turn on this worker."""

    record: TurnRecord
    journal: Journal
    snapshot: Snapshot
    handle: str
    seat: ChartSeat
    actor: Actor
    tools: tuple[Tool, ...]
    live: Frames
    host: HostContext
    detail: dict[str, Any]
    limits: Limits
    ambiguous: UUID | None = None
    started: float = field(default_factory=clock.monotonic)
    finished: TurnEnd | None = None
    marks: list[str] = field(default_factory=list)

    @classmethod
    def open(
        cls,
        record: TurnRecord,
        *,
        lease_epoch: int,
        snapshot: Snapshot,
        host: HostContext,
        detail: dict[str, Any],
    ) -> Running:
        """Gathers what the turn needs under the epoch that it pinned."""
        head = record.head
        handle = snapshot.handles[head.seat_id]
        seat = snapshot.chart.seats[handle]
        turn = TurnRef(
            head.id, head.work_key, head.depth, head.chain, head.work_item_key, head.trace
        )
        return cls(
            record=record,
            journal=Journal(record, lease_epoch),
            snapshot=snapshot,
            handle=handle,
            seat=seat,
            actor=seat_actor(_SeatFace(head.seat_id, handle, seat.name), turn),
            tools=tuple(surface(snapshot, handle, "execute")),
            live=Frames(head, handle),
            host=host,
            detail=detail,
            limits=limits_for(record, snapshot.document),
        )

    @property
    def held(self) -> Held:
        """The delivering tools that the seat holds now."""
        return Held(tuple((tool.name, tool.surface or "") for tool in self.tools))

    @property
    def opening_tools(self) -> tuple[Tool, ...]:
        """The tools that a phase begins with; those of servers are shown once activated."""
        return tuple(tool for tool in self.tools if not tool.server)

    def look_again(self) -> None:
        """Takes the tools as they are now, after a server was asked for its own."""
        self.tools = surface(self.snapshot, self.handle, "execute")

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    @property
    def gates(self) -> frozenset[str]:
        """What this seat may call only with a person's leave."""
        return approvals.gates(self.snapshot, self.handle)

    def name_of(self, author: str) -> str:
        """Returns an author as a model reads it: a seat's name with its handle, else the login."""
        seat = self.snapshot.chart.seats.get(author)
        return f"{seat.name} (@{author})" if seat else author

    @property
    def ms(self) -> int:
        """Milliseconds worked in this run."""
        return round((clock.monotonic() - self.started) * 1000)

    def detail_for(self, state: State, message: str) -> dict[str, Any]:
        """What the next park leaves behind: how often in a row nothing could be asked."""
        before = self.detail if self.detail.get("answers") == state.answers else {}
        return {
            "answers": state.answers,
            "tries": int(before.get("tries", 0)) + 1,
            "message": message,
        }
