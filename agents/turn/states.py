"""The words of the turn's machine: where a turn stands, what it is told, what it asks for. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from agents.turn.repeats import Repeats


class Position(StrEnum):
    """Where a turn stands.

    | position | means                                               | leaves by                      |
    |----------|-----------------------------------------------------|--------------------------------|
    | opening  | the row exists, nothing was checked                  | Opened, StopAsked, Broke       |
    | asking   | the current phase wants a model answer               | Answered, ProviderDown, BudgetRefused, StopAsked, Broke |
    | calling  | the last answer's calls run, one by one, in order    | Called, Suspended, BudgetRefused, StopAsked, Broke |
    | judging  | the rounds are used up; a judge may grant more       | Judged, BudgetRefused, StopAsked, Broke |
    | checking | work was submitted; the engine compares it with the record | Checked, BudgetRefused, StopAsked, Broke |
    | weighing | the reviewer has spoken or ran out of rounds         | Weighed, BudgetRefused, StopAsked, Broke |
    | looping  | another iteration is due; this one is to be closed   | LoopedBack, BudgetRefused, StopAsked, Broke |
    | parked   | a budget, a provider or a person; the rows wait       | Resumed                        |
    | ended    | an outcome is settled; nothing may follow            | nobody                         |
    """  # noqa: E501 - a table row is one line

    OPENING = "opening"
    ASKING = "asking"
    CALLING = "calling"
    JUDGING = "judging"
    CHECKING = "checking"
    WEIGHING = "weighing"
    LOOPING = "looping"
    PARKED = "parked"
    ENDED = "ended"


class PhaseName(StrEnum):
    """Which model pass is running: the executor does the work, the reviewer judges it.

    The judge only says whether the executor may have more rounds.
    """

    EXECUTE = "execute"
    REVIEW = "review"
    JUDGE = "judge"


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
    """The ceilings of one turn (rounds are model answers).

    `ceiling` is the most that extension may reach, `step` rounds at a time; where it is no higher
    than `executor_rounds` nothing is ever added.
    """

    iterations: int = 3
    executor_rounds: int = 24
    ceiling: int = 0
    step: int = 8
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
    """Everything the rules need to know about one turn.

    `granted` rounds were added to those of the executor's pass. `handovers` passes in a row ended
    because the model's context was `full`; `spared` of them do not count as iterations.
    """

    reply_kind: str
    limits: Limits = field(default_factory=Limits)
    position: Position = Position.OPENING
    phase: PhaseName = PhaseName.EXECUTE
    iteration: int = 1
    answers: int = 0
    rounds: int = 0
    granted: int = 0
    callless: int = 0
    calls: int = 0
    next_call: int = 0
    submitted: bool = False
    rescued: bool = False
    full: bool = False
    handovers: int = 0
    spared: int = 0
    repeats: Repeats = field(default_factory=Repeats)
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
    """A model answer is journalled: why it stopped and how many calls it asks for.

    `full` says that the conversation has nearly filled the model's context.
    """

    stop: str
    calls: int
    explanation: str = ""
    full: bool = False


@dataclass(frozen=True)
class Called:
    """Call number `order` of the last answer has its result; `submitted` ends the phase.

    `digest` stands for the call with its arguments and its result.
    """

    order: int
    submitted: bool = False
    digest: str = ""


@dataclass(frozen=True)
class Judged:
    """The judge has spoken, or could not: how many rounds the executor gets past its own."""

    rounds: int = 0


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
class Suspended:
    """The call that is due hangs on `reason` (a person), at the longest until `until`."""

    reason: str
    until: datetime


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
    | Judged
    | Checked
    | Weighed
    | LoopedBack
    | BudgetRefused
    | ProviderDown
    | Suspended
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
class Judge:
    """Ask the judge whether a pass that used `round` rounds may have `step` more."""

    iteration: int
    round: int
    step: int


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
    """Put the turn to sleep until `until` (reason `budget`, `provider` or `person`)."""

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


Command = Open | Ask | RunCall | Judge | Check | Weigh | LoopBack | Park | Release | Settle
