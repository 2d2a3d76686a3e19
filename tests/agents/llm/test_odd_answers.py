"""What servers are known to send, and what must come out: one row each, whole and streamed.

A row is a fault of some server family. The server is shared by all rows of a module, and each row
is asked as the real SDK asks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agents.llm.base import (
    Answer,
    AssistantMessage,
    ErrorKind,
    ProviderError,
    StopReason,
    ToolMessage,
)
from agents.llm.control_tokens import LiveFilter, split_calls
from tests.agents.llm.conftest import Asker
from tests.support.model_server import ModelServer
from tests.support.script import Step

ITEM = {"item": "ENG-7"}
TEXT = '{"item":"ENG-7"}'
USED = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99}


@pytest.fixture(scope="module")
def shared_server() -> Iterator[ModelServer]:
    """One server for every row."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def model_server(shared_server: ModelServer) -> Iterator[ModelServer]:
    """The shared server with a script of its own."""
    yield shared_server
    shared_server.model.verify()
    shared_server.model.forgive()
    shared_server.seen.clear()


def choice(message: dict[str, Any], finish: Any = "stop", **beside: Any) -> dict[str, Any]:
    """A whole Chat Completions response."""
    one = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c", "model": "m", "choices": [one], "usage": USED, **beside}


def chunk(delta: Any, finish: Any = None, **beside: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **beside}


def calls(*functions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A message, or a delta, of calls; each with an id and an index of its own."""
    made = [
        {"id": f"call{at}", "index": at, "type": "function", "function": f, **more}
        for at, f in enumerate(functions)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def call(arguments: Any, name: str = "get_work_item") -> dict[str, Any]:
    """A message, or a delta, of one call."""
    return calls({"name": name, "arguments": arguments})


def step(message: dict[str, Any], finish: Any = "stop", **beside: Any) -> Step:
    """The same answer for both ways of asking."""
    return Step(
        response=choice(message, finish, **beside),
        chunks=[chunk(message), chunk({}, finish, usage=USED, **beside), "[DONE]"],
    )


def go_on(asker: Asker, answer: Answer) -> None:
    """Asks again; the server refuses what a strict vendor would refuse."""
    asker.server.says(Step(say="Ok."))
    asker.go_on(answer, *(ToolMessage(c.id, c.name, "done") for c in answer.calls))


ARGUMENTS = {
    "an object inside a string": json.dumps(TEXT),
    "a string in a string in a string": json.dumps(json.dumps(TEXT)),
    "a fence": f"```json\n{TEXT}\n```",
    "a comma too many": '{"item":"ENG-7",}',
    "the same object twice": TEXT + TEXT,
    "an empty object before": "{}" + TEXT,
    "a closing token behind": TEXT + "<|call|>",
    "a closing tag behind": TEXT + "\n</tool_call>",
    "an object itself": ITEM,
    "blanks around": f"\n {TEXT} ",
}


@pytest.mark.covers("TURN-37")
@pytest.mark.parametrize("written", ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_slip_around_arguments_does_not_cost_the_call(compatible: Asker, written: Any) -> None:
    compatible.server.says(step(call(written)))

    answer = compatible.ask()

    assert answer.stop is StopReason.TOOL_USE
    assert [c.arguments for c in answer.calls] == [ITEM]
    assert Answer.from_json(json.dumps(answer.to_json())) == answer
    go_on(compatible, answer)
    assert compatible.server.seen[-1].calls()[0].arguments == ITEM


BROKEN = {
    "half an object": '{"item":"ENG-',
    "two different objects": TEXT + '{"item":"ENG-8"}',
    "bare words": "{item: ENG-7}",
    "NaN": '{"item":NaN}',
    "a list": f"[{TEXT}]",
    "words behind": TEXT + " as asked",
}


@pytest.mark.parametrize("written", BROKEN.values(), ids=BROKEN)
def test_what_could_mean_two_things_is_never_run(compatible: Asker, written: str) -> None:
    compatible.server.says(step(call(written)))

    answer = compatible.ask()

    assert [c.arguments for c in answer.calls] == [None]
    assert answer.calls[0].error
    go_on(compatible, answer)
    assert compatible.server.seen[-1].calls()[0].arguments == {}


def test_digits_survive_a_slip_and_the_way_back(compatible: Asker) -> None:
    written = '{"id":1234567890123456789,"rate":1.10,}'
    compatible.server.says(step(call(written)))

    answer = compatible.ask()
    go_on(compatible, answer)

    sent = compatible.body()["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert sent == '{"id":1234567890123456789,"rate":1.10}'


SPELLED = {
    "a namespace": "functions.get_work_item",
    "another namespace": "default_api:get_work_item",
    "a number behind": "functions.get_work_item:0",
    "blanks and quotes": ' "get_work_item" ',
    "told twice as one word": "get_work_itemget_work_item",
    "a control token": "get_work_item<|channel|>json",
}


@pytest.mark.parametrize("name", SPELLED.values(), ids=SPELLED)
def test_a_name_is_known_however_it_is_dressed(compatible: Asker, name: str) -> None:
    compatible.server.says(step(call(TEXT, name)))

    answer = compatible.ask()
    go_on(compatible, answer)

    assert [c.name for c in answer.calls] == ["get_work_item"]
    assert compatible.server.seen[-1].calls()[0].name == "get_work_item"


def part(arguments: str | None = None, name: str | None = None, **more: Any) -> dict[str, Any]:
    """A delta of one call in which only what is given is said."""
    function = {"name": name, "arguments": arguments}
    said = {key: value for key, value in function.items() if value is not None}
    return {"tool_calls": [{**more, "function": said}]}


ONE = [("get_work_item", ITEM)]
TWO = [("get_work_item", ITEM), ("get_work_item", {"item": "ENG-8"})]
STREAMS: dict[str, tuple[list[Any], list[tuple[str, Any]]]] = {
    "the name in every delta": (
        [part('{"item":', "get_work_item", index=0, id="a"),
         part('"ENG-7"}', "get_work_item", index=0)],
        ONE,
    ),
    "the name in pieces": (
        [part("", "get_work", index=0, id="a"), part("", "_item", index=0), part(TEXT, index=0)],
        ONE,
    ),
    "the name so far, each time": (
        [part("", "get_work", index=0, id="a"), part("", "get_work_item", index=0),
         part(TEXT, index=0)],
        ONE,
    ),
    "the whole call told again": (
        [part(TEXT, "get_work_item", index=0, id="a"), part(TEXT, "get_work_item", index=0)],
        ONE,
    ),
    "no index and no id": (
        [part(TEXT, "get_work_item"), part('{"item":"ENG-8"}', "get_work_item")],
        TWO,
    ),
    "one index for all and no id": (
        [part(TEXT, "get_work_item", index=0), part('{"item":"ENG-8"}', "get_work_item", index=0)],
        TWO,
    ),
    "an id that comes late": (
        [part("", "get_work_item", index=0), part(TEXT, index=0, id="late")],
        ONE,
    ),
    "indices that begin at one": ([part(TEXT, "get_work_item", index=1, id="a")], ONE),
    "an empty object first": (
        [{"tool_calls": [{"index": 0, "id": "a",
                          "function": {"name": "get_work_item", "arguments": {}}}]},
         part(TEXT, index=0)],
        ONE,
    ),
    "calls as one object": (
        [{"tool_calls": {"index": 0, "id": "a",
                         "function": {"name": "get_work_item", "arguments": TEXT}}}],
        ONE,
    ),
    "the old function_call": (
        [{"function_call": {"name": "get_work_item", "arguments": ""}},
         {"function_call": {"arguments": TEXT}}],
        ONE,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("deltas", "made"), STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("finish", ["tool_calls", "stop", "function_call", ""])
def test_calls_come_together_however_they_are_streamed(
    compatible_stream: Asker, deltas: list[Any], made: list[tuple[str, Any]], finish: str
) -> None:
    compatible_stream.server.says(
        Step(chunks=[*[chunk(d, "") for d in deltas], chunk({}, finish), "[DONE]"])
    )

    answer = compatible_stream.ask()

    assert [(c.name, c.arguments) for c in answer.calls] == made
    assert [d.text for d in compatible_stream.shown if d.kind == "call"] == [n for n, _ in made]
    assert len({c.id for c in answer.calls}) == len(made)
    go_on(compatible_stream, answer)


SHAPES: dict[str, tuple[dict[str, Any], str, bool]] = {
    "a list of parts": ({"content": [{"type": "text", "text": "Hi"}]}, "Hi", False),
    "no role": ({"role": None, "content": "Hi"}, "Hi", False),
    "thinking that only closes": ({"content": "hm, so\n</think>\n\nHi"}, "Hi", False),
    "a leaked call": (
        {"content": f'Hi\n<tool_call>\n{{"name":"get_work_item","arguments":{TEXT}}}'
                    "\n</tool_call>"},
        "Hi",
        True,
    ),
    "a leaked call of no tool": (
        {"content": '<tool_call>{"name":"drop","arguments":{}}</tool_call>'},
        '<tool_call>{"name":"drop","arguments":{}}</tool_call>',
        False,
    ),
    "a leaked call cut off": (
        {"content": '<tool_call>{"name":"get_work_item","argum'},
        '<tool_call>{"name":"get_work_item","argum',
        False,
    ),
    "the old function_call": (
        {"content": "Hi", "function_call": {"name": "get_work_item", "arguments": TEXT}},
        "Hi",
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("message", "text", "called"), SHAPES.values(), ids=SHAPES)
def test_a_message_is_read_whatever_its_shape(
    compatible: Asker, message: dict[str, Any], text: str, called: bool
) -> None:
    compatible.server.says(step(message))

    answer = compatible.ask()

    assert answer.text == text
    assert [c.arguments for c in answer.calls] == ([ITEM] if called else [])
    go_on(compatible, answer)


@pytest.mark.parametrize("size", [1, 7, 400])
def test_a_leaked_call_is_not_shown_to_people(size: int) -> None:
    text = f'On it. <tool_call>{{"name":"get_work_item","arguments":{TEXT}}}</tool_call>'
    live = LiveFilter()
    shown = [live.feed(text[at : at + size])[1] for at in range(0, len(text), size)]

    assert "".join([*shown, live.finish()[1]]).strip() == "On it."
    assert split_calls("a <tool_call> b") == ("a <tool_call> b", [])


FINISHES = {
    "stop": StopReason.END,
    "eos": StopReason.END,
    "STOP": StopReason.END,
    "brand_new_word": StopReason.END,
    "length": StopReason.MAX_TOKENS,
    "MAX_TOKENS": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
    "SAFETY": StopReason.REFUSAL,
    "PROHIBITED_CONTENT": StopReason.REFUSAL,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
}


@pytest.mark.covers("TURN-47")
@pytest.mark.parametrize(("word", "stop"), FINISHES.items())
@pytest.mark.parametrize("wrapped", [False, True])
def test_every_word_for_the_end_has_ours(
    compatible: Asker, word: str, stop: StopReason, wrapped: bool
) -> None:
    compatible.server.says(step({"content": "Hi"}, {"type": word} if wrapped else word))

    assert compatible.ask().stop is stop


def test_a_stop_that_a_gateway_adds_hides_no_cut(compatible_stream: Asker) -> None:
    chunks = [chunk({"content": "I"}, "length"), chunk({}, "stop"), "[DONE]"]
    compatible_stream.server.says(Step(chunks=chunks))

    assert compatible_stream.ask().stop is StopReason.MAX_TOKENS


USAGES: dict[str, tuple[Any, tuple[int | None, int | None]]] = {
    "null": (None, (None, None)),
    "zeros": ({"prompt_tokens": 0, "completion_tokens": 0}, (None, None)),
    "the other names": ({"input_tokens": 90, "output_tokens": 9}, (90, 9)),
    "text": ({"prompt_tokens": "90", "completion_tokens": "9"}, (90, 9)),
    "the answer alone": ({"completion_tokens": 9}, (None, 9)),
    "the prompt alone": ({"prompt_tokens": 90}, (90, None)),
    "a list": ([], (None, None)),
}


@pytest.mark.covers("PEER-8")
@pytest.mark.parametrize(("usage", "counted"), USAGES.values(), ids=USAGES)
def test_no_answer_is_ever_free(
    compatible: Asker, usage: Any, counted: tuple[int | None, int | None]
) -> None:
    message = {"content": "Hi there, all of you."}
    compatible.server.says(
        Step(
            response={**choice(message), "usage": usage},
            chunks=[chunk(message, "stop"), {"choices": [], "usage": usage}, "[DONE]"],
        )
    )

    used = compatible.ask().usage

    assert used.input == counted[0] if counted[0] else used.input > 0
    assert used.output == counted[1] if counted[1] else used.output > 0
    assert used.estimated is (None in counted)


RAW_NAN = '{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop","logprobs":NaN}],'


def test_numbers_that_are_none_break_nothing(compatible: Asker) -> None:
    usage = '"usage":{"prompt_tokens":NaN,"completion_tokens":Infinity}}'
    compatible.server.says(Step(response=RAW_NAN + usage, chunks=[(RAW_NAN + usage), "[DONE]"]))

    answer = compatible.ask()

    assert answer.text == "Hi"
    assert answer.usage.estimated


def test_events_without_a_line_between_them_are_all_read(compatible_stream: Asker) -> None:
    both = "\ndata: ".join(json.dumps(chunk({"content": word})) for word in ("One, ", "two."))
    compatible_stream.server.says(Step(chunks=[both, chunk({}, "stop"), "[DONE]"]))

    assert compatible_stream.ask().text == "One, two."


ERRORS: dict[str, tuple[Any, ErrorKind | StopReason]] = {
    "a text": ({"error": "model runner has crashed"}, ErrorKind.SERVER),
    "a number": ({"error": {"code": 429, "message": "slow down"}}, ErrorKind.RATE_LIMIT),
    "an old vLLM": ({"object": "error", "message": "boom", "code": 503}, ErrorKind.SERVER),
    "a bare message": ({"message": "Invalid API key", "code": 1004}, ErrorKind.AUTH),
    "a base_resp": (
        {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
        ErrorKind.RATE_LIMIT,
    ),
    "a spent context": (
        {"error": {"code": 400, "message": "the request exceeds the available context size"}},
        StopReason.CONTEXT_EXCEEDED,
    ),
    "a filter": ({"error": {"code": "content_filter", "message": "no"}}, StopReason.REFUSAL),
    "a router's upstream": (
        {"error": {"code": 502, "message": "Provider returned error", "metadata": {"raw": "x"}}},
        ErrorKind.SERVER,
    ),
}


@pytest.mark.covers("TURN-51", "PEER-10")
@pytest.mark.parametrize(("body", "meant"), ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("late", [False, True], ids=["at once", "after text"])
def test_an_error_inside_status_200_is_told_as_what_it_is(
    compatible: Asker, body: Any, meant: ErrorKind | StopReason, late: bool
) -> None:
    before = [chunk({"content": "I will"})] if late else []
    compatible.server.says(Step(response=body, chunks=[*before, body]))

    if isinstance(meant, StopReason):
        assert compatible.ask().stop is meant
        return
    with pytest.raises(ProviderError) as caught:
        compatible.ask()
    assert caught.value.kind is meant
    if late and compatible.stream:
        assert compatible.shown[-1].kind == "restart"


def test_an_error_inside_a_choice_says_why(compatible: Asker) -> None:
    error = {"code": 502, "message": "upstream went away"}
    whole = choice({"content": ""}, "error")
    whole["choices"][0]["error"] = error
    last = chunk({}, "error")
    last["choices"][0]["error"] = error
    compatible.server.says(Step(response=whole, chunks=[chunk({"content": "I"}), last, "[DONE]"]))

    with pytest.raises(ProviderError, match="upstream went away") as caught:
        compatible.ask()
    assert caught.value.kind is ErrorKind.SERVER


MISSHAPEN: dict[str, str] = {
    "choices as an object": '{"choices":{"0":1}}',
    "no message": '{"choices":[{"index":0}]}',
    "calls that are text": '{"choices":[{"message":{"content":null,"tool_calls":"x"}}]}',
    "a call without a function": '{"choices":[{"message":{"tool_calls":[{"id":"a"}]}}]}',
    "calls that are numbers": '{"choices":[{"message":{"tool_calls":[1]}}]}',
    "a list": "[1]",
    "nothing": "",
    "half": '{"choices":[{"mess',
}


@pytest.mark.parametrize("raw", MISSHAPEN.values(), ids=MISSHAPEN)
def test_what_nobody_can_read_is_the_servers_fault(model_server: ModelServer, raw: str) -> None:
    asker = Asker(model_server, "openai-compatible", stream=False)
    asker.server.says(Step(response=raw))

    with pytest.raises(ProviderError) as caught:
        asker.ask()
    assert caught.value.kind is ErrorKind.SERVER


def test_a_web_page_in_place_of_an_answer_is_named(model: Asker) -> None:
    page = "<!doctype html><html><head><title>Sign in</title></head><body>x</body></html>"
    model.server.says(Step(response=page, ignore_stream=True))

    with pytest.raises(ProviderError, match=r'a web page \("Sign in"\)') as caught:
        model.ask()
    assert "<" not in caught.value.message
    assert caught.value.kind is ErrorKind.SERVER


def test_an_answer_of_nothing_poisons_nothing(model: Asker) -> None:
    model.server.says(Step(say=""))

    answer = model.ask()

    assert (answer.stop, answer.text, answer.calls) == (StopReason.END, "", ())
    assert answer.usage.total > 0
    model.server.says(Step(say="Ok."))
    model.go_on(answer)
    assert [m.role for m in model.server.seen[-1].messages] == ["user"]
    assert AssistantMessage(answer) == AssistantMessage(Answer.from_json(answer.to_json()))
