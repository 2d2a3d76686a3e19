"""The small rules under the wires: names, text splitting, events, control tokens, waits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import time_machine

from agents.llm import errors
from agents.llm.base import ErrorKind, StopReason, ToolCallPart
from agents.llm.control_tokens import LiveFilter, split_thinking, visible
from agents.llm.json_text import NotJson, elements, encode, members
from agents.llm.names import real_name, short_id, wire_id, wire_name, wire_names
from agents.llm.profiles import COMPATIBLE, Profiles, adapted, first_profile
from agents.llm.sse import ServerEvent, server_events
from agents.llm.stop_reason import ANTHROPIC, OPENAI, normalise
from agents.llm.usage import anthropic_usage, openai_usage

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def test_members_keep_the_text_they_were_written_as() -> None:
    text = ' { "a" : 1.10 , "b\\u0041": [1 , {"c": "\\u00e9"}], "d":{} } '

    found = members(text)

    assert {name: part.text for name, part in found.items()} == {
        "a": "1.10",
        "bA": '[1 , {"c": "\\u00e9"}]',
        "d": "{}",
    }
    assert [part.text for part in elements(found["bA"].text)] == ["1", '{"c": "\\u00e9"}']


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a"}', '{"a":1,', '{"a":1 "b":2}', "{1:2}"])
def test_what_is_no_object_is_said(text: str) -> None:
    with pytest.raises(NotJson):
        members(text)


@pytest.mark.parametrize("text", ["", "[", "{}", "[1 2]", "[1,"])
def test_what_is_no_list_is_said(text: str) -> None:
    with pytest.raises(NotJson):
        elements(text)


def test_a_lone_surrogate_never_leaves() -> None:
    assert encode("a\ud800b").encode() == b'"a?b"'


def test_events_split_at_line_feeds_only() -> None:
    stream = 'event: a\r\ndata: {"x":"\u2028\x85"}\r\n\r\n: ping\n\ndata: 1\ndata: 2\n\ndata: last'
    raw = stream.encode()

    for size in (1, 3, len(raw)):
        chunks = [raw[at : at + size] for at in range(0, len(raw), size)]
        assert list(server_events(chunks)) == [
            ServerEvent("a", '{"x":"\u2028\x85"}'),
            ServerEvent("", "1\n2"),
            ServerEvent("", "last"),
        ]


def test_a_good_name_is_left_alone_and_a_bad_one_is_stable() -> None:
    assert wire_name("get_work_item") == "get_work_item"
    assert wire_name("a.b") == wire_name("a.b") != wire_name("a/b")
    assert len(wire_name("x" * 90)) == 64
    assert wire_name("日本").startswith("tool_")


def test_a_real_name_wins_over_a_spelled_one() -> None:
    spelled = wire_name("a.b")

    assert wire_names(["a.b", spelled]) == {spelled: spelled}


@pytest.mark.parametrize(
    "written", ["a.b", wire_name("a.b"), f"functions.{wire_name('a.b')}", "a.b<|channel|>final"]
)
def test_a_model_may_write_a_name_in_several_ways(written: str) -> None:
    assert real_name(written, wire_names(["a.b"])) == "a.b"


def test_a_name_nobody_offered_comes_back_as_written() -> None:
    assert real_name("drop_table", wire_names(["a"])) == "drop_table"


def test_ids_fit_every_wire() -> None:
    assert wire_id("toolu_01A") == "toolu_01A"
    assert wire_id("a:b") == wire_id("a:b") != wire_id("a;b")
    assert short_id("abcDEF123") == "abcDEF123"
    assert len(short_id("toolu_01A")) == 9


@pytest.mark.parametrize(
    ("leaked", "clean"),
    [
        ("plain < text | here", "plain < text | here"),
        ("<|start|>assistant<|channel|>final<|message|>Hi<|end|>", "Hi"),
        ("Hi<|im_end|>", "Hi"),
        ("<|channel|>commentary to=functions.x <|constrain|>json<|message|>{}", "{}"),
        ("a <|b", "a <|b"),
    ],
)
@pytest.mark.parametrize("size", [1, 4, 200])
def test_control_tokens_vanish_however_the_text_arrives(leaked: str, clean: str, size: int) -> None:
    live = LiveFilter()
    pieces = [live.feed(leaked[at : at + size])[1] for at in range(0, len(leaked), size)]

    assert visible(leaked) == clean
    assert "".join([*pieces, live.finish()[1]]) == clean


def test_a_long_text_after_a_token_keeps_flowing() -> None:
    live = LiveFilter()
    shown = live.feed("<|message|>" + "word " * 100)[1]

    assert len(shown) > 400
    assert "<|" not in shown


@pytest.mark.parametrize("size", [1, 5, 200])
def test_thinking_in_tags_is_split_however_it_arrives(size: int) -> None:
    text = "<think>one < two</think>\n\nanswer <think> stays"
    live = LiveFilter()
    parts = [live.feed(text[at : at + size]) for at in range(0, len(text), size)] + [live.finish()]

    assert "".join(thought for thought, _ in parts) == "one < two"
    assert "".join(answer for _, answer in parts).lstrip() == "answer <think> stays"
    assert split_thinking(text) == ("one < two", "answer <think> stays")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "2.5"}, 2.5),
        ({"retry-after": "Mon, 02 Mar 2026 12:01:00 GMT"}, 60),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-reset-requests": "20ms"}, 360),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "44"}, None),
        ({"anthropic-ratelimit-requests-reset": "2026-03-02T12:00:30Z"}, 30),
        ({"anthropic-ratelimit-requests-reset": "2026-03-02T11:00:00Z"}, 0),
        ({"x-ratelimit-reset": "1772452810"}, 10),
    ],
)
def test_how_long_to_wait_is_read_from_what_the_vendor_says(
    headers: dict[str, str], seconds: float | None
) -> None:
    with time_machine.travel(NOON, tick=False):
        assert errors.retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error"}, ErrorKind.SERVER),
        ({"type": "rate_limit_error"}, ErrorKind.RATE_LIMIT),
        ({"code": 502}, ErrorKind.SERVER),
        ({"code": "401"}, ErrorKind.AUTH),
        ({"type": "invalid_request_error"}, ErrorKind.FATAL),
        ("anything", ErrorKind.SERVER),
    ],
)
def test_an_error_in_a_stream_is_judged_by_its_words(error: object, kind: ErrorKind) -> None:
    assert errors.kind_of_body(error) is kind


def test_a_spent_quota_is_a_limit_and_not_a_bad_request() -> None:
    endpoint = errors.Endpoint("main", "openai", "m", "http://x")
    body = {"error": {"code": "insufficient_quota", "message": "You ran out."}}

    assert errors.from_status(endpoint, 400, body, {}).kind is ErrorKind.RATE_LIMIT


def test_only_fatal_stops_a_chain() -> None:
    assert [kind for kind in ErrorKind if not kind.retryable] == [ErrorKind.FATAL]


@pytest.mark.covers("TURN-47")
@pytest.mark.parametrize("reason", [None, 7, "", "martian", "STOP"])
def test_without_a_known_word_the_calls_decide(reason: object) -> None:
    call = ToolCallPart.parse("a", "look", "{}")

    assert normalise(OPENAI, reason, (), output_tokens=5, cap=5) is StopReason.END
    assert normalise(OPENAI, reason, (call,), output_tokens=5, cap=5) is StopReason.TOOL_USE


def test_tool_use_without_a_call_is_the_end() -> None:
    assert normalise(ANTHROPIC, "tool_use", (), output_tokens=5, cap=0) is StopReason.END


def test_usage_of_both_vendors_means_the_full_prompt() -> None:
    claude = anthropic_usage({"input_tokens": 5, "cache_read_input_tokens": 90, "output_tokens": 3})
    other = openai_usage(
        {"prompt_tokens": 95, "completion_tokens": 3, "prompt_cache_hit_tokens": 90}
    )

    assert claude is not None
    assert other is not None
    assert (claude.input, claude.cache_read, claude.cache_write) == (95, 90, None)
    assert (other.input, other.cache_read, other.cache_write) == (95, 90, None)


def test_usage_of_nothing_but_zeros_counts_as_none() -> None:
    assert openai_usage({"prompt_tokens": 0, "completion_tokens": 0}) is None
    assert openai_usage({"prompt_tokens": None, "completion_tokens": "many"}) is None


def test_a_lesson_is_kept_for_its_endpoint_alone() -> None:
    profiles = Profiles()
    slot = ("openai-compatible", "http://one/v1", "m")
    taught = adapted(COMPATIBLE, "Unrecognized request argument: stream_options")
    assert taught is not None

    profiles.learn(*slot, taught)

    assert not profiles.of(*slot).stream_usage
    assert profiles.of("openai-compatible", "http://two/v1", "m").stream_usage


@pytest.mark.parametrize("said", ["", "The model is not available.", "Invalid image."])
def test_a_refusal_that_names_no_dialect_teaches_nothing(said: str) -> None:
    assert adapted(COMPATIBLE, said) is None


def test_reasoning_is_echoed_or_not_as_the_server_says() -> None:
    unwanted = adapted(COMPATIBLE, "unknown field reasoning_content in messages[2]")
    assert unwanted is not None
    assert not unwanted.echo_reasoning

    wanted = adapted(unwanted, "Missing reasoning_content field in the assistant message")
    assert wanted is not None
    assert wanted.echo_reasoning


def test_known_hosts_start_with_what_they_need() -> None:
    assert first_profile("openai-compatible", "https://api.mistral.ai/v1").short_call_ids
    azure = first_profile("openai-compatible", "https://acme.openai.azure.com/openai/v1")
    assert azure.max_tokens_field == "max_completion_tokens"
