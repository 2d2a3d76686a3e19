"""The words of the turn's machine: where a turn stands, what it is told, what it asks for. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Position(StrEnum):
    """Where a turn stands.

    | position | means                                               | leaves by                      |
    |----------|-----------------------------------------------------|--------------------------------|
    | opening  | the row exists, nothing was checked                  | Opened, StopAsked, Broke       |
    | asking   | the current phase wants a model answer               | Answered, ProviderDown, BudgetRefused, StopAsked, Broke |
    | calling  | the last answer's calls run, one by one, in order    | Called, BudgetRefused, StopAsked, Broke |
    | checking | work was submitted; the engine compares it with the record | Checked, BudgetRefused, StopAsked, Broke |
    | weighing | the reviewer has spoken or ran out of rounds         | Weighed, BudgetRefused, StopAsked, Broke |
    | looping  | another iteration is due; this one is to be closed   | LoopedBack, BudgetRefused, StopAsked, Broke |
    | parked   | a budget or a provider has no room; the rows wait    | Resumed                        |
    | ended    | an outcome is settled; nothing may follow            | nobody                         |
    """  # noqa: E501 - a table row is one line

    OPENING = "opening"
    ASKING = "asking"
    CALLING = "calling"
    CHECKING = "checking"
    WEIGHING = "weighing"
    LOOPING = "looping"
    PARKED = "parked"
    ENDED = "ended"


class PhaseName(StrEnum):
    """Which model pass is running: the executor does the work, the reviewer judges it."""

    EXECUTE = "execute"
    REVIEW = "review"


class Outcome(StrEnum):
    """How a turn ended.

    | outcome   | means                                                                |
    |-----------|----------------------------------------------------------------------|
    | completed | the reviewer said done and the record agrees                          |
    | failed    | it ended for a reason of its own, named by `error_kind`               |
    | skipped   | nobody asked for anything and nothing was done                        |
    | stopped   | a person stopped it                                                   |
    """

    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    STOPPED = "stopped"


GUARDS = frozenset({"stall", "max_iter", "depth_cap", "scheduled_timeout", "unhandled_exception"})


@dataclass(frozen=True)
class Limits:
    """The ceilings of one turn (calls are model answers)."""

    iterations: int = 3
    executor_rounds: int = 24
    reviewer_rounds: int = 4
    re_asks: int = 2
    depth: int = 3

    def rounds(self, phase: PhaseName) -> int:
        return self.executor_rounds if phase is PhaseName.EXECUTE else self.reviewer_rounds


@dataclass(frozen=True)
class End:
    """The settled result of a turn."""

    outcome: Outcome
    error_kind: str = ""
    error: str = ""
    decision: str = ""

    @property
    def guard(self) -> str:
        """The name of the guard that ended the turn, empty when none did."""
        return self.error_kind if self.error_kind in GUARDS else ""


@dataclass(frozen=True)
class State:
    """Everything the rules need to know about one turn."""

    reply_kind: str
    limits: Limits = field(default_factory=Limits)
    position: Position = Position.OPENING
    phase: PhaseName = PhaseName.EXECUTE
    iteration: int = 1
    answers: int = 0
    rounds: int = 0
    callless: int = 0
    calls: int = 0
    next_call: int = 0
    submitted: bool = False
    rescued: bool = False
    notes: str = ""
    correction: str = ""
    hashes: tuple[str, ...] = ()
    parked_from: Position | None = None
    park_reason: str = ""
    wake_at: datetime | None = None
    release: str = ""
    end: End | None = None


# --- facts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Opened:
    """The turn's row was read: how deep in a chain of asks it stands."""

    depth: int = 0


@dataclass(frozen=True)
class Answered:
    """A model answer is journalled: why it stopped and how many calls it asks for."""

    stop: str
    calls: int
    explanation: str = ""


@dataclass(frozen=True)
class Called:
    """Call number `order` of the last answer has its result; `submitted` ends the phase."""

    order: int
    submitted: bool = False


@dataclass(frozen=True)
class Checked:
    """The engine compared a submission with the record: `review`, `correct` or `skip`."""

    result: str
    correction: str = ""


@dataclass(frozen=True)
class Weighed:
    """A verdict with what the record says about it.

    `decision` is empty when the reviewer never submitted. `reached` tells whether a call of this
    turn landed where the asker waits.
    """

    decision: str
    notes: str
    artifact_hash: str
    reached: bool


@dataclass(frozen=True)
class LoopedBack:
    """The iteration's record is stored and the next one may open."""


@dataclass(frozen=True)
class BudgetRefused:
    """A token window has no room; it will have at `until`."""

    until: datetime
    message: str = ""


@dataclass(frozen=True)
class ProviderDown:
    """Every model of the chain is down or cooling; try again at `until`."""

    until: datetime
    message: str = ""


@dataclass(frozen=True)
class Resumed:
    """A parked turn was taken up again."""


@dataclass(frozen=True)
class StopAsked:
    """A person stopped the turn."""

    by: str
    reason: str = ""


@dataclass(frozen=True)
class Broke:
    """Something unexpected happened. `final` breaks settle even when nothing was answered yet."""

    error_kind: str
    message: str
    final: bool = False


Fact = (
    Opened
    | Answered
    | Called
    | Checked
    | Weighed
    | LoopedBack
    | BudgetRefused
    | ProviderDown
    | Resumed
    | StopAsked
    | Broke
)


# --- commands ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Open:
    """Check what a turn may be started for."""


@dataclass(frozen=True)
class Ask:
    """Ask the phase's model for answer number `round`; `corrective` re-asks for a call."""

    phase: PhaseName
    iteration: int
    round: int
    limit: int
    corrective: bool = False
    correction: str = ""


@dataclass(frozen=True)
class RunCall:
    """Run call `order` of the phase's newest answer."""

    phase: PhaseName
    iteration: int
    order: int


@dataclass(frozen=True)
class Check:
    """Compare the submission of this iteration with the record."""

    iteration: int


@dataclass(frozen=True)
class Weigh:
    """Read the reviewer's verdict and what the record says about it."""

    iteration: int


@dataclass(frozen=True)
class LoopBack:
    """Store this iteration's record; the next opens with `correction`."""

    iteration: int
    notes: str
    correction: str


@dataclass(frozen=True)
class Park:
    """Put the turn to sleep until `until` (reason `budget` or `provider`)."""

    reason: str
    until: datetime


@dataclass(frozen=True)
class Release:
    """Hand the mail back unworked: nothing was journalled, so it may be tried again."""

    error: str


@dataclass(frozen=True)
class Settle:
    """Write the outcome and let go of the mail."""

    end: End


Command = Open | Ask | RunCall | Check | Weigh | LoopBack | Park | Release | Settle
