"""What a letter is: the shape in which mail is posted, and the shape in which it is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

ReplyKind = Literal["none", "tool", "engine"]


@dataclass(frozen=True, slots=True)
class WorkRef:
    """The work item that a letter is about, in whatever tracker it lives."""

    backend: str
    id: str
    key: str
    project: str = ""
    basis: str = "trigger"

    def as_json(self) -> dict[str, Any]:
        """Returns the form in which rows keep it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Mail:
    """One letter to a seat.

    `batch_key` says what it merges with (`tracker:ENG-4`; `event:<uuid>` never merges),
    `conversation` what is remembered as one talk. `payload` always has `summary` (one line),
    `sender` ({handle, name, kind}) and `text` (markdown, what the prompt shows). `reply_kind` is
    what is owed: nothing, an answer by a tool on `reply_surface`, or one that the engine carries.
    `trace` is the sender's turn's (32 hex digits); a letter without one begins a trace of its own.
    """

    event_id: UUID
    kind: str
    source: str
    batch_key: str
    conversation: str
    ts: datetime
    payload: Mapping[str, Any]
    reply_kind: ReplyKind
    reply_surface: str = ""
    depth: int = 0
    chain: tuple[str, ...] = ()
    work_item: WorkRef | None = None
    parent_turn: UUID | None = None
    agent_caused: bool = False
    lane: Literal["inbox", "control"] = "inbox"
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter as it waits in the mailbox; `seq` is its row, `attempts` how often it failed."""

    seq: int
    event_id: UUID
    kind: str
    source: str
    batch_key: str
    conversation: str
    ts: datetime
    payload: Mapping[str, Any] = field(default_factory=dict)
    reply_kind: ReplyKind = "none"
    reply_surface: str = ""
    depth: int = 0
    chain: tuple[str, ...] = ()
    work_item: Mapping[str, Any] | None = None
    parent_turn: UUID | None = None
    agent_caused: bool = False
    attempts: int = 0
    trace: str = ""

    @property
    def summary(self) -> str:
        """One line that says what it is."""
        return str(self.payload.get("summary", ""))

    @property
    def text(self) -> str:
        """What it says, in markdown; the summary where nothing more was said."""
        return str(self.payload.get("text") or self.summary)

    @property
    def sender(self) -> Mapping[str, Any]:
        """Who sent it: {handle, name, kind}; empty for the engine's own letters."""
        sender = self.payload.get("sender")
        return sender if isinstance(sender, Mapping) else {}
