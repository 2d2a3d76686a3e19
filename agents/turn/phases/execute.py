"""The executor: the phase in which a seat does the work, with its tools, as itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agents.llm.base import ToolSchema
from agents.prompts import build
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
    system, user = build.executor(
        ExecutorContext(
            snapshot=running.snapshot,
            handle=running.handle,
            tools=running.tools,
            reply_kind=head.reply_kind,
            reply_surface=head.reply_surface,
            trigger=trigger_texts(head),
            prior_work=ledger.prior_work(running.record, ask.iteration),
            correction=ask.correction,
            now=clock.now(),
            work_item=head.work_item_key,
        )
    )
    tools = [tool.for_model() for tool in running.tools]
    return new_phase(ask, system, user, [*tools, schema_of(SUBMIT_WORK)])


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
