"""What servers that speak Chat Completions really send. Inputs are our own."""

from __future__ import annotations

from typing import Any

import pytest

from agents.llm.base import ErrorKind, ProviderError, StopReason, ToolMessage, ToolSchema
from tests.agents.llm.conftest import LOOK, Asker
from tests.support.script import ScriptedCall, Step, call

USAGE = {"prompt_tokens": 40, "completion_tokens": 6, "total_tokens": 46}


def chunk(delta: dict[str, Any] | None, reason: str | None = None, **parts: Any) -> dict[str, Any]:
    """A stream chunk; no delta = no choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": reason}]
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": choices, **parts}


def function(call_id: str, name: str, arguments: Any, **parts: Any) -> dict[str, Any]:
    """A tool call as it is sent."""
    written = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": written, **parts}


def response(message: dict[str, Any], reason: str | None = "stop", **parts: Any) -> dict[str, Any]:
    """A unary response."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"id": "c", "model": "m", "choices": [choice], "usage": USAGE, **parts}


def test_chunks_without_choices_add_nothing_and_their_usage_counts_once(
    compatible: Asker,
) -> None:
    chunks = [
        chunk(None, prompt_filter_results=[{"prompt_index": 0}]),
        chunk({"role": "assistant", "content": "Good"}),
        chunk({"content": " day"}, "stop"),
        chunk(None, usage=USAGE),
        "[DONE]",
    ]
    compatible.server.says(Step(chunks=chunks, response=response({"content": "Good day"})))

    answer = compatible.ask()

    assert (answer.stop, answer.text) == (StopReason.END, "Good day")
    assert (answer.usage.input, answer.usage.output) == (40, 6)


def test_an_answer_without_any_choice_is_the_servers_fault(compatible: Asker) -> None:
    empty = {"id": "c", "choices": [], "usage": USAGE}
    compatible.server.says(Step(response=empty, ignore_stream=True))

    with pytest.raises(ProviderError) as caught:
        compatible.ask()

    assert caught.value.kind is ErrorKind.SERVER
    assert "no Chat Completions response" in caught.value.message


def test_running_totals_in_a_stream_are_not_summed(compatible_stream: Asker) -> None:
    totals = [{"prompt_tokens": 40, "completion_tokens": n} for n in (2, 5, 9)]
    pieces = [
        chunk({"content": text}, usage=total) for text, total in zip("abc", totals, strict=True)
    ]
    compatible_stream.server.says(Step(chunks=[*pieces, chunk({}, "stop"), "[DONE]"]))

    usage = compatible_stream.ask().usage

    assert (usage.input, usage.output) == (40, 9)


def test_a_whole_call_without_a_finish_reason_runs(compatible: Asker) -> None:
    part = function("a", "get_work_item", '{"item":"ENG-7"}')
    compatible.server.says(
        Step(
            chunks=[chunk({"tool_calls": [{"index": 0, **part}]}), chunk({}), "[DONE]"],
            response=response({"content": None, "tool_calls": [part]}, None),
        )
    )

    answer = compatible.ask()

    assert answer.stop is StopReason.TOOL_USE
    assert [c.arguments for c in answer.calls] == [{"item": "ENG-7"}]


def test_the_finish_reason_error_is_the_servers_fault(compatible: Asker) -> None:
    failed = response({"content": ""}, "error", error={"message": "upstream gone", "code": 502})
    compatible.server.says(
        Step(chunks=[chunk({"content": "I "}), chunk({}, "error"), "[DONE]"], response=failed)
    )

    with pytest.raises(ProviderError) as caught:
        compatible.ask()

    assert caught.value.kind is ErrorKind.SERVER


def test_an_error_with_status_200_keeps_its_own_code(compatible: Asker) -> None:
    limited = {"error": {"message": "slow down", "code": 429}}
    compatible.server.says(Step(chunks=[limited], response=limited))

    with pytest.raises(ProviderError) as caught:
        compatible.ask()

    assert caught.value.kind is ErrorKind.RATE_LIMIT
    assert "slow down" in caught.value.message


def test_a_stream_that_just_ends_is_no_answer(compatible_stream: Asker) -> None:
    compatible_stream.server.says(Step(chunks=[chunk({"content": "I will now"})]))

    with pytest.raises(ProviderError) as caught:
        compatible_stream.ask()

    assert caught.value.kind is ErrorKind.SERVER
    assert "ended before the answer did" in caught.value.message


def test_parallel_calls_under_one_index_stay_apart(compatible: Asker) -> None:
    parts = [function(f"id{n}", "get_work_item", f'{{"item":"OPS-{n}"}}') for n in (1, 2, 3)]
    chunks = [chunk({"tool_calls": [{"index": 0, **part}]}) for part in parts]
    compatible.server.says(
        Step(
            chunks=[*chunks, chunk({}, "tool_calls"), "[DONE]"],
            response=response({"tool_calls": parts}, "tool_calls"),
        )
    )

    answer = compatible.ask()

    assert [(c.id, c.arguments) for c in answer.calls] == [
        (f"id{n}", {"item": f"OPS-{n}"}) for n in (1, 2, 3)
    ]


def test_a_repeated_id_goes_on_with_its_call(compatible_stream: Asker) -> None:
    pieces = ['{"item":', '"OPS', '-4"}']
    chunks = [
        chunk({"tool_calls": [{"index": 0, **function("same", "get_work_item", piece)}]})
        for piece in pieces
    ]
    compatible_stream.server.says(Step(chunks=[*chunks, chunk({}, "tool_calls"), "[DONE]"]))

    answer = compatible_stream.ask()

    assert [(c.id, c.arguments) for c in answer.calls] == [("same", {"item": "OPS-4"})]


def test_pieces_without_an_index_belong_to_the_call_before(compatible_stream: Asker) -> None:
    first = {"tool_calls": [function("a", "get_work_item", '{"item":')]}
    rest = {"tool_calls": [{"function": {"arguments": '"OPS-4"}'}}]}
    compatible_stream.server.says(
        Step(chunks=[chunk(first), chunk(rest), chunk({}, "stop"), "[DONE]"])
    )

    answer = compatible_stream.ask()

    assert [c.arguments for c in answer.calls] == [{"item": "OPS-4"}]
    assert answer.stop is StopReason.TOOL_USE, "a call decides, whatever the finish reason says"


def test_arguments_sent_as_an_object_are_used_and_go_back_as_text(compatible: Asker) -> None:
    compatible.server.says(
        Step(calls=[ScriptedCall("get_work_item", raw_arguments={"item": "HR-2"})]), Step(say="Ok.")
    )

    answer = compatible.ask()
    compatible.go_on(answer, ToolMessage(answer.calls[0].id, "get_work_item", "open"))

    assert answer.calls[0].arguments == {"item": "HR-2"}
    assert compatible.server.seen[-1].calls()[0].arguments == {"item": "HR-2"}


def test_arguments_that_are_null_mean_an_empty_object(compatible: Asker) -> None:
    part = function("a", "write_page", None)
    compatible.server.says(
        Step(
            chunks=[chunk({"tool_calls": [{"index": 0, **part}]}, "tool_calls"), "[DONE]"],
            response=response({"tool_calls": [part]}, "tool_calls"),
        )
    )

    assert compatible.ask().calls[0].arguments == {}


def test_a_call_without_an_id_gets_one_that_its_result_can_name(compatible: Asker) -> None:
    part = function("", "write_page", "{}")
    compatible.server.says(
        Step(
            chunks=[chunk({"tool_calls": [{"index": 0, **part}]}, "tool_calls"), "[DONE]"],
            response=response({"tool_calls": [part]}, "tool_calls"),
        ),
        Step(say="Ok."),
    )

    answer = compatible.ask()
    compatible.go_on(answer, ToolMessage(answer.calls[0].id, "write_page", "saved"))

    assert answer.calls[0].id
    assert compatible.server.seen[-1].messages[-1].call_id == answer.calls[0].id


def test_an_id_that_was_used_before_is_replaced(compatible: Asker) -> None:
    """Several local servers call every first call of an answer `call_0`."""
    same = ScriptedCall("write_page", id="call_0")
    compatible.server.says(Step(calls=[same]), Step(calls=[same]))

    first = compatible.ask()
    second = compatible.go_on(first, ToolMessage("call_0", "write_page", "saved"))

    assert first.calls[0].id == "call_0"
    assert second.calls[0].id not in ("", "call_0")


def test_control_tokens_are_cut_from_a_name_and_reach_nobody(compatible: Asker) -> None:
    leaking = "<|start|>assistant<|channel|>final<|message|>All is well.<|end|>"
    named = "get_work_item<|channel|>commentary"
    compatible.server.says(Step(say=leaking, calls=[call(named, item="A-1")]), Step(say="Ok."))

    answer = compatible.ask()
    compatible.go_on(answer, ToolMessage(answer.calls[0].id, answer.calls[0].name, "open"))

    assert answer.calls[0].name == "get_work_item"
    assert answer.text == "All is well."
    assert "<|" not in compatible.shown_text()
    if compatible.stream:
        assert compatible.shown_text().startswith("All is well.")
    replayed = compatible.server.seen[-1]
    assert replayed.calls()[0].name == "get_work_item"
    assert "<|" not in replayed.raw.decode()


def test_an_official_answer_about_control_tokens_stays_whole(model_server: Any) -> None:
    model_server.says(Step(say="Write <|end|> at the end."))
    official = Asker(model_server, "openai", stream=False)

    assert official.ask().text == "Write <|end|> at the end."


def test_thinking_in_tags_is_told_apart_from_the_answer(compatible: Asker) -> None:
    compatible.server.says(Step(say="<think>First I look.</think>\n\nIt is open."))

    answer = compatible.ask()

    assert (answer.reasoning, answer.text) == ("First I look.", "It is open.")
    if compatible.stream:
        assert compatible.shown_text() == "It is open."


def test_reasoning_goes_back_unchanged_to_the_same_model_only(openai_model: Asker) -> None:
    thought = "I should look\u2028first: 1.10"
    looking = Step(think=thought, calls=[call("get_work_item", item="A-1")])
    openai_model.server.says(looking, Step(say="Ok."), Step(say="Ok."), Step(say="Ok."))

    answer = openai_model.ask()
    result = ToolMessage(answer.calls[0].id, "get_work_item", "open")
    openai_model.go_on(answer, result)
    openai_model.settings = {"model": "scripted-2"}
    openai_model.go_on(answer, result)
    openai_model.settings = {"key": "other"}
    openai_model.go_on(answer, result)

    sent = [_assistant(openai_model.body(at)) for at in (1, 2, 3)]
    assert sent[0]["reasoning_content"] == thought
    assert "reasoning_content" not in sent[1]
    assert "reasoning_content" not in sent[2]
    assert answer.reasoning == thought


def _assistant(body: dict[str, Any]) -> dict[str, Any]:
    return next(m for m in body["messages"] if m["role"] == "assistant")


@pytest.mark.parametrize(
    ("said", "shape"),
    [
        ("invalid message content type: <nil>", ""),
        ("messages.1.content: none is not an allowed value", ""),
    ],
)
def test_the_shape_of_empty_content_is_learned_once_from_a_400(
    compatible: Asker, said: str, shape: str
) -> None:
    compatible.server.says(
        Step(calls=[call("get_work_item", item="A-1")]),
        Step(status=400, error=("invalid_request_error", said)),
        Step(say="Ok."),
        Step(say="Ok again."),
    )
    answer = compatible.ask()
    result = ToolMessage(answer.calls[0].id, "get_work_item", "open")

    compatible.go_on(answer, result)
    compatible.go_on(answer, result)

    contents = [_assistant(compatible.body(at))["content"] for at in (1, 2, 3)]
    assert contents == [None, shape, shape]
    assert compatible.server.stats.report()["repeats"] == 1, "only the two equal questions"


def test_a_server_that_refuses_both_shapes_gets_none(compatible: Asker) -> None:
    compatible.server.says(
        Step(calls=[call("get_work_item", item="A-1")]),
        Step(status=400, error=("", "content must not be null")),
        Step(status=400, error=("", "content must be a non-empty string")),
        Step(say="Ok."),
    )
    answer = compatible.ask()

    compatible.go_on(answer, ToolMessage(answer.calls[0].id, "get_work_item", "open"))

    assert "content" not in _assistant(compatible.body())


def test_a_400_that_no_change_would_help_is_sent_once(compatible: Asker) -> None:
    compatible.server.says(Step(status=400, error=("", "content must not be null")))

    with pytest.raises(ProviderError) as caught:
        compatible.ask()

    assert caught.value.kind is ErrorKind.FATAL
    assert compatible.server.stats.report()["calls"] == 1


def test_the_name_of_the_limit_follows_the_server(compatible: Asker) -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    compatible.server.says(Step(status=400, error=("", said)), Step(say="Ok."), Step(say="Ok."))

    compatible.ask(max_tokens=500)
    compatible.ask(max_tokens=600)

    bodies = [compatible.body(at) for at in (0, 1, 2)]
    assert [body.get("max_tokens") for body in bodies] == [500, None, None]
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 500, 600]


def test_official_openai_is_given_the_new_name_and_no_limit_unless_asked(
    model_server: Any, stream: bool
) -> None:
    model_server.says(Step(say="Ok."), Step(say="Ok."))
    official = Asker(model_server, "openai", stream)

    official.ask()
    official.ask(max_tokens=700)

    assert "max_completion_tokens" not in official.body(0)
    assert official.body(1)["max_completion_tokens"] == 700


def test_a_server_that_refuses_streams_is_asked_plainly(compatible_stream: Asker) -> None:
    said = "Streaming is not supported with tools."
    compatible_stream.server.says(
        Step(status=400, error=("", said)), Step(say="Ok."), Step(say="Ok.")
    )

    assert compatible_stream.ask().text == "Ok."
    compatible_stream.ask()

    assert [seen.stream for seen in compatible_stream.server.seen] == [True, False, False]


@pytest.mark.covers("TURN-54")
def test_cached_tokens_are_a_breakdown_of_the_prompt(openai_model: Asker) -> None:
    """Input always means the full prompt."""
    openai_model.server.says(Step(say="Ok.", usage=(1000, 4), cached=(800, 0)))

    usage = openai_model.ask().usage

    assert (usage.input, usage.cache_read, usage.output) == (1000, 800, 4)


@pytest.mark.covers("TURN-54")
def test_the_prompt_before_the_newest_exchange_does_not_change(openai_model: Asker) -> None:
    """Caches of this wire need a stable prefix and nothing else."""
    openai_model.server.says(Step(calls=[call("get_work_item", item="A-1")]), Step(say="Ok."))
    answer = openai_model.ask()
    openai_model.go_on(answer, ToolMessage(answer.calls[0].id, "get_work_item", "open"))

    first, second = (seen.raw.decode() for seen in openai_model.server.seen)
    end = first.index("]", first.index('"messages"'))
    assert second.startswith(first[:end])


def test_a_filtered_prompt_is_a_refusal(openai_model: Asker) -> None:
    openai_model.server.says(
        Step(status=400, error=("content_filter", "The prompt triggered the content policy."))
    )

    answer = openai_model.ask()

    assert answer.stop is StopReason.REFUSAL
    assert answer.refusal is not None
    assert answer.refusal.category == "content_filter"
    assert "content policy" in answer.refusal.explanation


def test_a_filtered_answer_is_a_refusal(openai_model: Asker) -> None:
    openai_model.server.says(Step(say="I", stop="content_filter"))

    answer = openai_model.ask()

    assert answer.stop is StopReason.REFUSAL
    assert answer.refusal is not None


def test_a_tool_without_parameters_is_sent_with_an_empty_object(openai_model: Asker) -> None:
    openai_model.server.says(Step(say="Ok."))

    openai_model.ask(tools=(LOOK, ToolSchema("my_work", "", {})))

    assert openai_model.server.seen[-1].tools["my_work"] == {"type": "object", "properties": {}}
