"""What Anthropic's Messages wire owes: verbatim blocks, thinking, breakpoints, cached tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.llm.base import (
    Answer,
    AssistantMessage,
    ErrorKind,
    ProviderError,
    Request,
    StopReason,
    ToolMessage,
    ToolSchema,
    UserMessage,
)
from tests.agents.llm.conftest import LOOK, WRITE, Asker
from tests.support.script import Step, call

THINKING = Step(think="Look first.", say="Looking.", calls=[call("get_work_item", item="A-1")])
SPOT = {"type": "ephemeral"}


def result(answer: Answer) -> ToolMessage:
    """The result of its only call."""
    return ToolMessage(answer.calls[0].id, answer.calls[0].name, "open")


def blocks(body: dict[str, Any], role: str = "assistant") -> list[dict[str, Any]]:
    """The content of the first message of a role."""
    found: list[dict[str, Any]] = next(m for m in body["messages"] if m["role"] == role)["content"]
    return found


def test_the_same_models_blocks_go_back_byte_for_byte(claude: Asker) -> None:
    claude.server.says(THINKING, Step(say="Ok."))
    answer = claude.ask()

    claude.go_on(Answer.from_json(answer.to_json()), result(answer))

    start = answer.raw.index("[", answer.raw.index('"content"')) + 1
    end = answer.raw.index("}]", start) + 1
    sent = claude.server.seen[-1].raw.decode()
    assert [b["type"] for b in blocks(claude.body())] == ["thinking", "text", "tool_use"]
    for block in json.loads(f"[{answer.raw[start:end]}]"):
        assert block in blocks(claude.body())
    if claude.stream:
        assert answer.raw[start:end] in sent


def test_another_models_thinking_is_left_out(claude: Asker) -> None:
    """A signature verifies at its own model only."""
    claude.server.says(THINKING, Step(say="Ok."))
    answer = claude.ask()

    claude.settings = {"model": "scripted-2"}
    claude.go_on(answer, result(answer))

    assert [b["type"] for b in blocks(claude.body())] == ["text", "tool_use"]
    assert "sig-" not in claude.server.seen[-1].raw.decode()


@pytest.mark.covers("TURN-53")
def test_thinking_of_an_older_prompt_is_shed_once_the_model_refuses_it(claude: Asker) -> None:
    """Shed from the front when the tools changed, for models that verify it."""
    old = claude.request(tools=(LOOK,))
    refused = Step(status=400, error=("", "messages.1: Invalid `signature` in `thinking` block"))
    claude.server.says(THINKING, THINKING, refused, Step(say="Ok."))
    provider = claude.provider()
    first = provider.complete(old)
    tools = (LOOK, WRITE)
    asked = (UserMessage("Do ENG-1."), AssistantMessage(first), result(first))
    second = provider.complete(claude.request(*asked, tools=tools))

    provider.complete(claude.request(*asked, AssistantMessage(second), result(second), tools=tools))

    turns = [m["content"] for m in claude.body()["messages"] if m["role"] == "assistant"]
    kinds = [[block["type"] for block in turn] for turn in turns]
    assert kinds == [["text", "tool_use"], ["thinking", "text", "tool_use"]]


def test_all_thinking_is_shed_for_one_call_if_nothing_else_helps(claude: Asker) -> None:
    refused = Step(status=400, error=("", "messages.1: Invalid `signature` in `thinking` block"))
    claude.server.says(THINKING, refused, Step(say="Ok."), Step(say="Ok."))
    answer = claude.ask()

    claude.go_on(answer, result(answer))
    claude.go_on(answer, result(answer))

    assert [b["type"] for b in blocks(claude.body(2))] == ["text", "tool_use"]
    assert [b["type"] for b in blocks(claude.body(3))] == ["thinking", "text", "tool_use"]


@pytest.mark.covers("TURN-54")
def test_breakpoints_stand_on_system_last_tool_and_tail(claude: Asker) -> None:
    """Four are allowed; the fourth keeps the tail of the round before."""
    claude.server.says(THINKING, Step(say="Ok."))
    answer = claude.ask()

    claude.go_on(answer, result(answer), UserMessage("Hurry."))

    body = claude.body()
    assert body["system"][-1]["cache_control"] == SPOT
    assert "cache_control" not in body["tools"][0]
    assert body["tools"][-1]["cache_control"] == SPOT
    assert body["messages"][-1]["content"][-1] == {
        "type": "text",
        "text": "Hurry.",
        "cache_control": SPOT,
    }
    assert body["messages"][0]["content"][-1]["cache_control"] == SPOT
    assert json.dumps(body).count("cache_control") == 4


def test_input_tokens_mean_the_full_prompt(claude: Asker) -> None:
    claude.server.says(Step(say="Ok.", usage=(30, 7), cached=(900, 70)))

    usage = claude.ask().usage

    assert (usage.input, usage.cache_read, usage.cache_write, usage.output) == (1000, 900, 70, 7)


def test_a_stream_counts_its_last_usage(claude_stream: Asker) -> None:
    start = {"id": "m", "role": "assistant", "content": [], "usage": _counts(10, 1)}
    claude_stream.server.says(
        Step(
            chunks=[
                {"type": "message_start", "message": start},
                {"type": "content_block_start", "index": 0, "content_block": _text("")},
                {"type": "content_block_delta", "index": 0, "delta": _delta("Hi")},
                {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}},
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "end_turn"},
                    "usage": {"output_tokens": 9, "input_tokens": None},
                },
                {"type": "message_stop"},
            ]
        )
    )

    answer = claude_stream.ask()

    assert (answer.usage.input, answer.usage.output) == (10, 9)
    assert answer.text == "Hi"


def test_an_error_event_voids_the_calls_before_it(claude_stream: Asker) -> None:
    claude_stream.server.says(
        Step(calls=[call("write_page", body="x" * 60)], error_after=5, error=("api_error", "Boom"))
    )

    with pytest.raises(ProviderError) as caught:
        claude_stream.ask()

    assert caught.value.kind is ErrorKind.SERVER
    assert [delta.kind for delta in claude_stream.shown] == ["call", "restart"]


@pytest.mark.covers("TURN-47")
@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("pause_turn", StopReason.PAUSED),
        ("model_context_window_exceeded", StopReason.CONTEXT_EXCEEDED),
        ("max_tokens", StopReason.MAX_TOKENS),
    ],
)
def test_every_stop_reason_has_our_word(claude: Asker, word: str, stop: StopReason) -> None:
    claude.server.says(Step(say="Hm.", stop=word))

    assert claude.ask().stop is stop


def test_an_empty_answer_leaves_no_empty_message_behind(claude: Asker) -> None:
    claude.server.says(Step(say=""), Step(say="Ok."))
    silent = claude.ask()

    claude.ask(UserMessage("Do ENG-1."), AssistantMessage(silent), UserMessage("Use a tool."))

    assert silent.text == ""
    assert [m["role"] for m in claude.body()["messages"]] == ["user"]
    assert [b["text"] for b in blocks(claude.body(), "user")] == ["Do ENG-1.", "Use a tool."]


def test_the_limit_is_lowered_to_what_the_model_allows(claude: Asker) -> None:
    said = "max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens"
    claude.server.says(Step(status=400, error=("", said)), Step(say="Ok."), Step(say="Ok."))

    claude.ask()
    claude.ask(max_tokens=100)

    assert [claude.body(at)["max_tokens"] for at in (0, 1, 2)] == [16384, 4096, 100]


def test_a_gateway_without_breakpoints_gets_none(claude: Asker) -> None:
    said = "system.0.cache_control: Extra inputs are not permitted"
    claude.server.says(Step(status=400, error=("", said)), Step(say="Ok."))

    claude.ask()

    assert "cache_control" in claude.server.seen[0].raw.decode()
    assert "cache_control" not in claude.server.seen[1].raw.decode()


def test_reasoning_is_asked_for_as_the_model_knows_it(claude: Asker) -> None:
    said = "thinking.type: adaptive is not supported by this model"
    claude.settings = {"reasoning_effort": "high", "reasoning_budget_tokens": 2048}
    claude.server.says(Step(status=400, error=("", said)), Step(say="Ok."))

    claude.ask()

    first, second = claude.body(0), claude.body(1)
    assert first["thinking"] == {"type": "adaptive"}
    assert first["output_config"] == {"effort": "high"}
    assert second["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert "output_config" not in second


def test_a_seat_without_reasoning_sends_nothing_of_it(claude: Asker) -> None:
    claude.server.says(Step(say="Ok."))

    claude.ask()

    assert "thinking" not in claude.body()


def test_an_address_with_its_version_is_the_same_address(claude: Asker) -> None:
    claude.settings = {"base_url": f"{claude.server.url}/v1/"}
    claude.server.says(Step(say="Ok."))

    assert claude.ask().text == "Ok."


def test_a_schema_without_a_type_is_an_object(claude: Asker) -> None:
    claude.server.says(Step(say="Ok."))

    claude.ask(tools=(ToolSchema("my_work", "", {}),))

    assert claude.server.seen[-1].tools == {"my_work": {"type": "object"}}


def test_a_prompt_without_system_or_tools_is_sent_without_them(claude: Asker) -> None:
    claude.server.says(Step(say="Ok."))

    claude.provider().complete(Request("", (UserMessage("Hi"),), stream=claude.stream))

    assert set(claude.body()) - {"stream"} == {"model", "max_tokens", "messages"}


def _counts(prompt: int, output: int) -> dict[str, int]:
    return {"input_tokens": prompt, "output_tokens": output}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _delta(text: str) -> dict[str, str]:
    return {"type": "text_delta", "text": text}


def test_an_error_body_with_status_200_is_the_vendors_failure(claude: Asker) -> None:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}}
    claude.server.says(Step(response=body, ignore_stream=True))

    with pytest.raises(ProviderError) as caught:
        claude.ask()

    assert caught.value.kind is ErrorKind.RATE_LIMIT
    assert "Slow down" in caught.value.message
