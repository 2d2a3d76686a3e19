"""Most of a long phase is read from the vendor's cache, by a simulation of that cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agents.llm.base import AssistantMessage, Message, ToolMessage, ToolSchema, UserMessage
from tests.agents.llm.conftest import Asker
from tests.support.model_cache import anthropic_shares, openai_shares
from tests.support.model_server import ModelServer
from tests.support.script import Step, call

TOOLS = tuple(
    ToolSchema(f"tool_{n}", f"Does the {n}th thing. " * 12, {"type": "object", "properties": {}})
    for n in range(25)
)
SYSTEM = "You are Ada, who keeps the lamps of the harbour burning. " * 300
Shares = Callable[[Sequence[dict[str, Any]]], list[float]]


@pytest.mark.covers("TURN-54")
@pytest.mark.parametrize(
    ("vendor", "shares", "calls"),
    [
        ("anthropic", anthropic_shares, 1),
        ("anthropic", anthropic_shares, 12),
        ("openai", openai_shares, 1),
    ],
)
def test_nine_tenths_of_each_later_round_are_read_from_the_cache(
    model_server: ModelServer, vendor: str, shares: Shares, calls: int
) -> None:
    asker = Asker(model_server, vendor, stream=True)
    step = Step(say="On it.", calls=[call("tool_1", item=str(n)) for n in range(calls)])
    model_server.says(*[step] * 8)
    messages: list[Message] = [UserMessage("Do ENG-1.")]
    for _ in range(8):
        answer = asker.ask(*messages, system=SYSTEM, tools=TOOLS)
        messages.append(AssistantMessage(answer))
        messages += [ToolMessage(one.id, one.name, "Done, it burns.") for one in answer.calls]
    found = shares([seen.body for seen in model_server.seen])
    assert found[0] == 0
    assert min(found[1:]) >= 0.9


def test_a_system_prompt_that_changes_each_round_would_be_seen(model_server: ModelServer) -> None:
    asker = Asker(model_server, "anthropic", stream=True)
    model_server.says(Step(say="a"), Step(say="b"))
    for n in range(2):
        asker.ask(UserMessage("Hi"), system=f"It is minute {n}. {SYSTEM}", tools=TOOLS)
    assert anthropic_shares([seen.body for seen in model_server.seen])[1] < 0.9
