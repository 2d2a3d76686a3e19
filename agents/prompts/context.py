"""What the prompt builders are told. Plain data: the engine gathers it, the builders only write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agents.prompts.outline import Section
from agents.tools.tool import Tool

if TYPE_CHECKING:
    from orgs.epochs import Snapshot


@dataclass(frozen=True, slots=True)
class TriggerText:
    """One message that the turn answers, as it was delivered."""

    kind: str
    source: str
    ts: datetime
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExecutorContext:
    """The executor's situation. `trigger` is oldest first, the newest last.

    `blocks` are what was read for the opening of the turn, by key.
    """

    snapshot: Snapshot
    handle: str
    tools: tuple[Tool, ...]
    reply_kind: str
    reply_surface: str
    trigger: tuple[TriggerText, ...]
    prior_work: str
    correction: str
    now: datetime
    work_item: str = ""
    conversation: str = ""
    heard: tuple[str, ...] = ()
    blocks: Mapping[str, Section] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """The reviewer's situation: what was asked, what was claimed and what the record shows."""

    snapshot: Snapshot
    handle: str
    reply_kind: str
    reply_surface: str
    trigger: tuple[TriggerText, ...]
    outcome: str
    summary: str
    evidence: str
    open_questions: tuple[str, ...]
    tool_log: str
    produced: str
    earlier_rounds: str
    blocked_by: str
    now: datetime
    heard: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """What the judge of an extension reads: the ask, the newest calls, the last words."""

    snapshot: Snapshot
    handle: str
    reply_kind: str
    reply_surface: str
    trigger: tuple[TriggerText, ...]
    used: int
    step: int
    calls: str
    last_text: str
