"""The executor: the phase in which a seat does the work, with its tools, as itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agents.llm.base import ToolSchema
from agents.memory import sessions
from agents.prompts import build, prefetch
from agents.prompts.build import CONVERSATION
from agents.prompts.context import ExecutorContext, TriggerText
from agents.prompts.outline import Prompt, fitting
from agents.turn import ledger
from agents.turn.machine import Ask, PhaseName
from agents.turn.record import PhaseRecord, TurnHead
from agents.turn.running import Running
from agents.turn.storable import clean
from agents.turn.submissions import SUBMIT_WORK, schema_of
from crewlet.kernel import clock
from crewlet.kernel.ids import new_id


def open_phase(running: Running, ask: Ask) -> PhaseRecord:
    """Builds the executor's prompts and tools; they ride with its first answer."""
    head = running.record.head
    gathered = _gathered(running)
    system, user = build.executor(
        ExecutorContext(
            snapshot=running.snapshot,
            handle=running.handle,
            tools=running.opening_tools,
            reply_kind=head.reply_kind,
            reply_surface=head.reply_surface,
            trigger=trigger_texts(head),
            prior_work=ledger.prior_work(running.record, ask.iteration),
            correction=ask.correction,
            now=clock.now(),
            work_item=head.work_item_key,
            conversation=_earlier(running),
            blocks=gathered.sections,
            heard=running.record.heard,
        )
    )
    tools = [tool.for_model() for tool in running.opening_tools]
    phase = new_phase(ask, system, user, [*tools, schema_of(SUBMIT_WORK)])
    phase.gathering = gathered.report
    return phase


def _gathered(running: Running) -> prefetch.Gathered:
    """Reads the blocks of the opening; a later pass has those of the first, word for word."""
    first = running.record.phase(PhaseName.EXECUTE, 1)
    if first is not None:
        return prefetch.frozen(first.system, first.system_outline)
    return prefetch.gather(
        prefetch.Opening(
            snapshot=running.snapshot,
            handle=running.handle,
            now=clock.now(),
            trigger=trigger_texts(running.record.head),
            tools=frozenset(tool.name for tool in running.tools),
        )
    )


def _earlier(running: Running) -> str:
    """Returns what the conversation was about before; every pass of a turn opens with the same."""
    first = running.record.phase(PhaseName.EXECUTE, 1)
    if first is not None:
        return Prompt(first.user, tuple(first.user_outline)).find(CONVERSATION)  # type: ignore[arg-type]
    head = running.record.head
    return sessions.earlier(head.seat_id, head.conversation, head.work_key, clock.now())


def trigger_texts(head: TurnHead) -> tuple[TriggerText, ...]:
    """Returns the messages that the turn answers, as they were delivered, oldest first."""
    return tuple(
        TriggerText(
            kind=str(item["kind"]),
            source=str(item["source"]),
            ts=datetime.fromisoformat(item["ts"]),
            payload=item["payload"],
        )
        for item in head.constituents
    )


def new_phase(ask: Ask, system: Prompt, user: Prompt, tools: list[ToolSchema]) -> PhaseRecord:
    """Returns a phase that has asked nothing yet. Its tool list is stored as it is shown."""
    system_text, user_text = clean(system.text), clean(user.text)
    return PhaseRecord(
        id=new_id(),
        phase=PhaseName(ask.phase),
        iteration=ask.iteration,
        system=system_text,
        user=user_text,
        system_outline=[dict(part) for part in fitting(system.outline, system_text)],
        user_outline=[dict(part) for part in fitting(user.outline, user_text)],
        tools=[shown(tool) for tool in tools],
        max_rounds=ask.limit,
        started_at=clock.now(),
    )


def shown(tool: ToolSchema) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
