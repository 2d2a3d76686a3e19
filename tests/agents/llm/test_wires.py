"""What every vendor's wire owes the turn, asked through both SDKs, whole and streamed."""

from __future__ import annotations

import json
import logging
import socket
import threading

import pytest

from agents.llm.base import (
    Answer,
    AssistantMessage,
    ErrorKind,
    ProviderError,
    StopReason,
    ToolMessage,
    ToolSchema,
    UserMessage,
)
from agents.llm.names import wire_name
from tests.agents.llm.conftest import LOOK, SECRET, Asker
from tests.support.script import Matches, ScriptedCall, Step, call

NO_TOOLS: tuple[ToolSchema, ...] = ()


def test_a_text_answer_arrives_whole_with_its_tokens(model: Asker) -> None:
    model.server.says(Step(say="Zażółć — done 🌍.", usage=(120, 7)))

    answer = model.ask()

    assert answer.stop is StopReason.END
    assert answer.text == "Zażółć — done 🌍."
    assert (answer.usage.input, answer.usage.output, answer.usage.estimated) == (120, 7, False)
    assert (answer.provider_key, answer.model, answer.vendor) == (
        "main",
        "scripted-1",
        model.vendor,
    )
    assert answer.calls == ()


def test_deltas_are_shown_only_while_streaming_and_add_up_to_the_answer(model: Asker) -> None:
    model.server.says(Step(think="Let me see.", say="First one thing, then another."))

    answer = model.ask()

    assert answer.reasoning == "Let me see."
    if model.stream:
        assert model.shown_text() == answer.text
        assert "".join(d.text for d in model.shown if d.kind == "reasoning") == answer.reasoning
    else:
        assert model.shown == []


def test_parallel_calls_keep_their_order_ids_and_arguments(model: Asker) -> None:
    model.server.says(
        Step(
            say="Two looks.",
            calls=[
                ScriptedCall("get_work_item", {"item": "ENG-1"}, id="one"),
                ScriptedCall("get_work_item", {"item": "Ü-2"}, id="two"),
            ],
        )
    )

    answer = model.ask()

    assert answer.stop is StopReason.TOOL_USE
    assert [(c.id, c.name, c.arguments) for c in answer.calls] == [
        ("one", "get_work_item", {"item": "ENG-1"}),
        ("two", "get_work_item", {"item": "Ü-2"}),
    ]
    if model.stream:
        assert [d.text for d in model.shown if d.kind == "call"] == ["get_work_item"] * 2


def test_results_and_a_note_go_back_after_the_calls_they_answer(model: Asker) -> None:
    """TURN §6.12: a steer note never stands between a call and its result."""
    model.server.says(
        Step(calls=[ScriptedCall("get_work_item", {"item": "A-1"}, id="one"), call("write_page")]),
        Step(say="Thanks."),
    )
    answer = model.ask()
    second = answer.calls[1].id

    model.ask(
        UserMessage("Do ENG-1."),
        AssistantMessage(answer),
        ToolMessage("one", "get_work_item", "A-1 is open"),
        UserMessage("Hurry up."),
        ToolMessage(second, "write_page", "no room", ok=False),
    )

    said = model.server.seen[-1].messages
    assert [(m.role, m.call_id) for m in said] == [
        ("user", ""),
        ("assistant", ""),
        ("tool", "one"),
        ("tool", second),
        ("user", ""),
    ]
    assert said[3].failed and "no room" in said[3].text
    assert said[4].text == "Hurry up."
    roles = [m["role"] for m in model.body()["messages"] if m["role"] != "system"]
    if model.vendor == "anthropic":
        assert roles == ["user", "assistant", "user"], "results and note share one message"


def test_a_call_without_a_result_is_answered_as_not_observed(model: Asker) -> None:
    model.server.says(Step(calls=[call("get_work_item", item="A-1")]), Step(say="Ok."))
    answer = model.ask()

    model.ask(UserMessage("Do ENG-1."), AssistantMessage(answer), UserMessage("Go on."))

    result = model.server.seen[-1].messages[2]
    assert result.call_id == answer.calls[0].id
    assert result.failed and "Outcome not observed" in result.text


@pytest.mark.covers("TURN-45")
def test_no_request_forces_a_tool_choice(model: Asker) -> None:
    model.server.says(Step(say="Ok."))

    model.ask()

    assert "tool_choice" not in model.body()


def test_names_the_wire_refuses_are_mapped_and_called_back_under_the_real_name(
    model: Asker,
) -> None:
    """Dots, slashes, spaces, 90 characters: one odd MCP tool must not cost the others."""
    long = "enterprise_database_management_synchronise_every_customer_record_between_systems_v"
    names = ["admin.tools.list", "admin/tools/list", "Docker scan", f"{long}2", f"{long}3"]
    tools = tuple(ToolSchema(name, "", {"type": "object"}) for name in names)
    spelled = [wire_name(name) for name in names]
    model.server.says(Step(calls=[ScriptedCall(name) for name in spelled]), Step(say="Ok."))

    answer = model.ask(tools=(*tools, LOOK))
    model.go_on(
        answer, *(ToolMessage(c.id, c.name, "ok") for c in answer.calls), tools=(*tools, LOOK)
    )

    assert [c.name for c in answer.calls] == names
    assert len(set(spelled)) == len(names)
    assert list(model.server.seen[-1].tools) == [*spelled, "get_work_item"]
    assert [c.name for c in model.server.seen[-1].calls()] == spelled


@pytest.mark.covers("TURN-48")
def test_a_cut_off_answer_offers_no_call_to_run(model: Asker) -> None:
    """Its calls are not run."""
    word = "max_tokens" if model.vendor == "anthropic" else "length"
    model.server.says(Step(say="I will", calls=[call("write_page", body="# P")], stop=word))

    answer = model.ask()

    assert answer.stop is StopReason.MAX_TOKENS
    assert answer.calls == ()
    assert "write_page" in answer.raw


def test_half_a_call_in_a_spent_allowance_counts_as_cut_off(model: Asker) -> None:
    """The vendor calls it tool use; completion = cap and arguments that do not parse say more."""
    half = ScriptedCall("write_page", raw_arguments='{"title":"Plan","body":"# Pla')
    model.server.says(Step(calls=[half], usage=(900, 3000)))

    answer = model.ask(max_tokens=3000)

    assert answer.stop is StopReason.MAX_TOKENS
    assert answer.calls == ()


@pytest.mark.covers("TURN-37")
def test_broken_arguments_become_a_reason_and_never_travel_again(model: Asker) -> None:
    broken = ScriptedCall("write_page", raw_arguments='{"title": Plan}')
    model.server.says(Step(calls=[broken], usage=(900, 30)), Step(say="Sorry."))

    answer = model.ask(max_tokens=3000)
    part = answer.calls[0]
    model.go_on(answer, ToolMessage(part.id, part.name, part.error or "", ok=False))

    assert answer.stop is StopReason.TOOL_USE
    assert part.arguments is None
    assert part.error and "not valid JSON" in part.error
    assert model.server.seen[-1].calls()[0].arguments == {}


@pytest.mark.parametrize("written", ["", "   ", "null"])
def test_empty_arguments_mean_an_empty_object(model: Asker, written: str) -> None:
    model.server.says(
        Step(calls=[ScriptedCall("write_page", raw_arguments=written)]), Step(say="Ok.")
    )

    answer = model.ask()
    model.go_on(answer, ToolMessage(answer.calls[0].id, "write_page", "ok"))

    assert answer.calls[0].arguments == {}
    assert answer.calls[0].error is None
    assert model.server.seen[-1].calls()[0].arguments == {}


@pytest.mark.covers("TURN-49")
def test_a_refusal_is_an_answer_with_its_reason(model: Asker) -> None:
    """Classified and charged, so it is no error."""
    model.server.says(Step(refusal=("cyber", "I cannot help with that."), usage=(50, 9)))

    answer = model.ask()

    assert answer.stop is StopReason.REFUSAL
    assert answer.refusal is not None
    assert answer.refusal.explanation == "I cannot help with that."
    assert answer.usage.total == 59
    if model.vendor == "anthropic":
        assert answer.refusal.category == "cyber"


@pytest.mark.covers("TURN-47")
def test_an_unknown_stop_reason_is_the_end(model: Asker) -> None:
    model.server.says(Step(say="Hm.", stop="martian"))

    assert model.ask().stop is StopReason.END


def test_nineteen_digits_survive_the_journal_and_the_next_request(model: Asker) -> None:
    """TURN §6.13: no number passes through a float, no block is encoded again."""
    written = '{"item": "A-1", "id": 1234567890123456789, "rate": 1.10, "big": 1e400}'
    model.server.says(
        Step(calls=[ScriptedCall("get_work_item", raw_arguments=written)]), Step(say="Ok.")
    )
    if model.vendor == "anthropic" and not model.stream:
        body = _anthropic_text(written)
        model.server.model.forgive()
        model.server.says(Step(response=body), Step(say="Ok."))

    answer = model.ask()
    stored = Answer.from_json(json.dumps(answer.to_json()))
    model.go_on(stored, ToolMessage(answer.calls[0].id, "get_work_item", "ok"))

    assert stored == answer
    assert answer.calls[0].arguments_text == written
    sent = model.server.seen[-1].raw.decode()
    assert (written if model.vendor == "anthropic" else json.dumps(written)[1:-1]) in sent


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ErrorKind.FATAL),
        (401, ErrorKind.AUTH),
        (402, ErrorKind.RATE_LIMIT),
        (403, ErrorKind.AUTH),
        (404, ErrorKind.FATAL),
        (408, ErrorKind.TIMEOUT),
        (418, ErrorKind.FATAL),
        (429, ErrorKind.RATE_LIMIT),
        (500, ErrorKind.SERVER),
        (503, ErrorKind.SERVER),
        (529, ErrorKind.SERVER),
    ],
)
def test_an_http_error_is_classified_told_in_words_and_never_retried(
    model: Asker, status: int, kind: ErrorKind
) -> None:
    model.server.says(Step(status=status, error=("", f"the vendor's words for {status}")))

    with pytest.raises(ProviderError) as caught:
        model.ask()

    assert caught.value.kind is kind
    assert caught.value.status == status
    assert 'Provider "main"' in caught.value.message
    assert f"the vendor's words for {status}" in caught.value.message
    assert model.server.stats.report()["calls"] == 1


def test_a_rate_limit_tells_how_long_to_wait(model: Asker) -> None:
    model.server.says(Step(status=429, headers={"retry-after": "17"}))

    with pytest.raises(ProviderError) as caught:
        model.ask()

    assert caught.value.retry_after == 17


def test_a_connection_that_breaks_off_is_the_servers_fault_and_voids_what_was_shown(
    model: Asker,
) -> None:
    model.server.says(Step(say="I will do many things, one by one.", cut_stream_after=5))

    with pytest.raises(ProviderError) as caught:
        model.ask()

    assert caught.value.kind is ErrorKind.SERVER
    if model.stream:
        assert model.shown_text()
        assert model.shown[-1].kind == "restart"


def test_an_overload_inside_a_stream_of_status_200_is_the_servers_fault(
    model_stream: Asker,
) -> None:
    overloaded = Step(
        say="I will do many things.", error_after=5, error=("overloaded_error", "Overloaded")
    )
    model_stream.server.says(overloaded)

    with pytest.raises(ProviderError) as caught:
        model_stream.ask()

    assert caught.value.kind is ErrorKind.SERVER
    assert "Overloaded" in caught.value.message
    assert model_stream.shown[-1].kind == "restart"


def test_a_model_that_says_nothing_in_time_is_a_timeout(model: Asker) -> None:
    gate = threading.Event()
    model.server.says(Step(say="Late.", gate=gate))

    try:
        with pytest.raises(ProviderError) as caught:
            model.ask(timeout=0.2)
    finally:
        gate.set()

    assert caught.value.kind is ErrorKind.TIMEOUT
    assert "timeout_seconds" in caught.value.message


def test_an_address_where_nobody_listens_is_named(model: Asker) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ProviderError) as caught:
            model.provider(base_url=url).complete(model.request())

    assert caught.value.kind is ErrorKind.SERVER
    assert f"{url} cannot be reached" in caught.value.message


def test_a_page_instead_of_an_answer_is_said_in_words(model: Asker) -> None:
    page = "<html>Welcome to my proxy</html>"
    model.server.says(Step(response=page, ignore_stream=True))

    with pytest.raises(ProviderError) as caught:
        model.ask()

    assert caught.value.kind is ErrorKind.SERVER


@pytest.mark.covers("TURN-55")
def test_a_server_that_ignores_streaming_is_asked_plainly_from_then_on(model: Asker) -> None:
    """Once per process."""
    model.server.says(Step(say="One.", ignore_stream=True), Step(say="Two."))

    first, second = model.ask(), model.ask()

    assert (first.text, second.text) == ("One.", "Two.")
    assert [bool(seen.stream) for seen in model.server.seen] == [model.stream, False]


def test_a_prompt_that_does_not_fit_is_a_stop_not_an_error(model: Asker) -> None:
    said = "prompt is too long: 210000 tokens > 200000 maximum"
    if model.vendor != "anthropic":
        said = "This model's maximum context length is 128000 tokens."
    model.server.says(Step(status=400, error=("invalid_request_error", said)))

    answer = model.ask()

    assert answer.stop is StopReason.CONTEXT_EXCEEDED
    assert answer.usage.total == 0
    assert said in answer.raw


def test_missing_usage_is_estimated_and_says_so(model: Asker) -> None:
    if model.vendor == "anthropic":
        message = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}
        whole = {**message, "type": "message", "stop_reason": "end_turn"}
    else:
        choice = {"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
        whole = {"choices": [choice]}
    model.server.says(Step(response=whole, ignore_stream=True))

    usage = model.ask().usage

    assert usage.estimated
    assert usage.input > 0
    assert usage.output > 0


def test_no_key_and_no_header_reaches_a_log_or_an_error(
    model: Asker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model.server.says(
        Step(say="Ok."), Step(status=401, error=("authentication_error", f"bad key {SECRET}"))
    )

    model.ask()
    with pytest.raises(ProviderError) as caught:
        model.ask()

    sent = model.server.seen[-1].headers
    assert SECRET in f"{sent.get('x-api-key')} {sent.get('authorization')}"
    assert SECRET not in caplog.text
    assert "content-type" not in caplog.text.lower()
    assert SECRET not in caught.value.message
    assert SECRET not in repr(model.provider().__dict__)


def test_threads_share_a_provider_without_mixing_answers(model: Asker) -> None:
    for number in range(8):
        mark = f"seat {number}."
        model.server.script(mark, _says(mark), [Step(say=f"answer to {mark}")])
    provider = model.provider()
    heard: dict[int, str] = {}

    def ask(number: int) -> None:
        request = model.request(UserMessage(f"I am seat {number}."), on_delta=None)
        heard[number] = provider.complete(request).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)

    assert heard == {number: f"answer to seat {number}." for number in range(8)}


def _says(mark: str) -> Matches:
    return lambda seen: mark in seen.text


def _anthropic_text(arguments: str) -> str:
    block = f'{{"type":"tool_use","id":"one","name":"get_work_item","input":{arguments}}}'
    return (
        '{"id":"m","type":"message","role":"assistant","model":"scripted-1","content":['
        f'{block}],"stop_reason":"tool_use","usage":{{"input_tokens":5,"output_tokens":6}}}}'
    )
