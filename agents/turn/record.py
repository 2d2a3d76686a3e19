"""What a turn has on record, in memory: the rows of the journal without the database.

The engine reads everything it decides from here, whether the rows were written a moment ago or by
a worker that died. The journal loads it and keeps it in step with what it writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from agents.llm.base import Answer
from agents.turn.machine import PhaseName
from agents.turn.storable import clean
from agents.turn.submissions import SUBMITTERS


class Effect(StrEnum):
    """What a call may change, which decides what a resume does with one that was cut off.

    | effect  | means                                  | cut off: the resume          |
    |---------|----------------------------------------|------------------------------|
    | own     | one of our actions                     | performs it under its old id |
    | read    | proved to change nothing               | reads again                  |
    | outside | somebody else's system                 | says it was not observed     |
    | control | ends a phase, answered by the engine   | answers it again             |
    | wait    | asks a person and hangs until they speak | asks under the same row       |
    """

    OWN = "own"
    READ = "read"
    OUTSIDE = "outside"
    CONTROL = "control"
    WAIT = "wait"


@dataclass(slots=True)
class CallRecord:
    """One call and, once it is `done`, its result."""

    id: UUID
    ord: int
    call_id: str
    name: str
    args: dict[str, Any] | None
    args_text: str
    origin: str = "builtin"
    server: str = ""
    read_only: str = "unknown"
    surface: str = ""
    op_id: str = ""
    status: str = "running"
    ok: bool | None = None
    result: str = ""
    refs: tuple[str, ...] = ()
    started_at: datetime | None = None
    ms: int | None = None

    @property
    def effect(self) -> Effect:
        if self.name in SUBMITTERS:
            return Effect.CONTROL
        if self.origin == Effect.WAIT:
            return Effect.WAIT
        if self.read_only == "yes":
            return Effect.READ
        return Effect.OWN if self.origin == "builtin" else Effect.OUTSIDE

    @property
    def done(self) -> bool:
        return self.status == "done"

    @property
    def wrote(self) -> bool:
        """Whether the call succeeded at something that may have changed the world."""
        return bool(self.ok) and self.effect in (Effect.OWN, Effect.OUTSIDE)


@dataclass(slots=True)
class RoundRecord:
    """One answer with its calls.

    `heard` is what people told the model right before it, `note` what the engine told it after.
    `full` tells that the conversation had nearly filled the model's context by then.
    """

    id: UUID
    n: int
    answer: Answer
    started_at: datetime
    ms: int
    calls: list[CallRecord] = field(default_factory=list)
    note: str = ""
    heard: str = ""
    full: bool = False


@dataclass(slots=True)
class PhaseRecord:
    """One phase of one iteration with the very prompts its model was given.

    A judge's has a `host_round`: how many rounds the pass had used that it was asked about.
    `max_rounds` and `round_ceiling` are the limits it began with.
    """

    id: UUID
    phase: PhaseName
    iteration: int
    system: str
    user: str
    system_outline: list[dict[str, Any]]
    user_outline: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    max_rounds: int
    started_at: datetime
    provider_key: str = ""
    model: str = ""
    status: str = "running"
    rescued: bool = False
    declined: int = 0
    submission: dict[str, Any] | None = None
    error_kind: str = ""
    error: str = ""
    ended_at: datetime | None = None
    host_round: int = 0
    round_ceiling: int = 0
    stored: bool = False
    gathering: dict[str, Any] = field(default_factory=dict)
    """How the reading of its opening's blocks went; told with its start, not stored."""
    widened: bool = False
    """Whether `tools` has grown since the phase was stored."""
    rounds: list[RoundRecord] = field(default_factory=list)

    def calls(self) -> Iterator[CallRecord]:
        for item in self.rounds:
            yield from item.calls

    @property
    def last_text(self) -> str:
        """The newest prose of the phase, empty when it only called tools."""
        for item in reversed(self.rounds):
            if item.answer.text.strip():
                return clean(item.answer.text.strip())
        return ""


@dataclass(frozen=True, slots=True)
class IterationRow:
    """What one pass claimed and got."""

    n: int
    outcome: str
    artifact: str
    artifact_hash: str
    intent: str = ""
    decision: str = ""
    notes: str = ""
    completed_work: str = ""
    engine_correction: str = ""


@dataclass(slots=True)
class Wait:
    """A call that hangs on a person, and what they said.

    kind: `answer` or `approval`; state: open, answered, taken, closed; decision: answer, approve,
    edit, deny, or empty while nobody has spoken.
    """

    id: UUID
    kind: str
    state: str
    until: datetime
    decision: str = ""
    words: str = ""
    edited_text: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class TurnHead:
    """What a turn was claimed with; none of it changes while it runs."""

    id: UUID
    seat_id: UUID
    work_key: str
    reply_kind: str
    reply_surface: str
    trigger: dict[str, Any]
    constituents: list[dict[str, Any]]
    batch_key: str
    conversation: str
    work_item: dict[str, Any] | None
    epoch: int
    depth: int
    chain: tuple[str, ...]
    parent_turn: UUID | None
    agent_caused: bool
    started_at: datetime
    attempt: int = 1

    @property
    def trace(self) -> str:
        """The trace of the letter it answers; empty for a turn of an earlier version."""
        return str(self.trigger.get("trace", ""))

    @property
    def work_item_key(self) -> str:
        return str(self.work_item.get("key", "")) if self.work_item else ""


@dataclass(slots=True)
class TurnRecord:
    """A turn with all its rows, oldest first."""

    head: TurnHead
    phases: list[PhaseRecord] = field(default_factory=list)
    iterations: list[IterationRow] = field(default_factory=list)
    waits: dict[UUID, Wait] = field(default_factory=dict)
    """What hangs or hung on a person, by the row of the call."""

    def phase(self, name: PhaseName, iteration: int, host_round: int = 0) -> PhaseRecord | None:
        for item in self.phases:
            if (item.phase, item.iteration, item.host_round) == (name, iteration, host_round):
                return item
        return None

    def calls(self) -> Iterator[CallRecord]:
        """Every call of the turn, in the order in which they were asked for."""
        for item in self.phases:
            yield from item.calls()

    def iteration(self, n: int) -> IterationRow | None:
        return next((row for row in self.iterations if row.n == n), None)

    @property
    def heard(self) -> tuple[str, ...]:
        """What people told its models while it ran, in the order in which they read it."""
        return tuple(item.heard for phase in self.phases for item in phase.rounds if item.heard)

    @property
    def answers(self) -> int:
        return sum(len(item.rounds) for item in self.phases)

    @property
    def submission(self) -> dict[str, Any] | None:
        """The newest submission of the executor."""
        for item in reversed(self.phases):
            if item.phase is PhaseName.EXECUTE:
                return item.submission
        return None
