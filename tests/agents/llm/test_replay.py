"""One conversation, two vendors: what travels when the chain moves on."""

from __future__ import annotations

from typing import Any

import pytest

from agents.llm.base import (
    Answer,
    AssistantMessage,
    StopReason,
    ToolCallPart,
    ToolMessage,
    Usage,
    UserMessage,
)
from agents.llm.conversation import UNANSWERED, exchanges
from tests.agents.llm.conftest import Asker
from tests.support.model_server import ModelServer
from tests.support.script import ScriptedCall, Step

VENDORS = ("anthropic", "openai", "openai-compatible")
FOREIGN = [(a, b) for a in VENDORS for b in VENDORS if a != b]


def answer(*calls: ToolCallPart, text: str = "", **parts: Any) -> Answer:
    """An answer of a vendor that no wire knows."""
    known: dict[str, Any] = {
        "stop": StopReason.TOOL_USE if calls else StopReason.END,
        "text": text,
        "reasoning": "",
        "calls": calls,
        "usage": Usage(1, 1),
        "model": "m",
        "provider_key": "k",
        "vendor": "rehearsal",
        "raw": "{}",
    }
    return Answer(**{**known, **parts})


@pytest.mark.covers("TURN-53")
@pytest.mark.parametrize(("first", "second"), FOREIGN)
def test_a_foreign_answer_travels_as_text_and_calls(
    model_server: ModelServer, first: str, second: str
) -> None:
    """No thinking, no foreign block, the same digits."""
    written = '{"item": "A-1", "n": 1234567890123456789}'
    looking = ScriptedCall("get_work_item", raw_arguments=written)
    model_server.says(Step(think="Hm.", say="Looking.", calls=[looking]), Step(say="Ok."))
    given = Asker(model_server, first, stream=True).ask()

    Asker(model_server, second, stream=True).go_on(
        given, ToolMessage(given.calls[0].id, "get_work_item", "open")
    )

    seen = model_server.seen[-1]
    said = seen.messages[1]
    assert said.text == "Looking."
    assert said.calls[0].arguments == {"item": "A-1", "n": 1234567890123456789}
    assert seen.messages[2].call_id == said.calls[0].id
    same_wire = {first, second} == {"openai", "openai-compatible"}
    assert "Hm." not in seen.raw.decode() or same_wire


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_id_the_wire_refuses_is_spelled_alike_in_call_and_result(
    model_server: ModelServer, vendor: str
) -> None:
    odd = "functions.get_work_item:0/" + "x" * 60
    given = answer(ToolCallPart.parse(odd, "get_work_item", '{"item":"A-1"}'), text="Looking.")
    model_server.says(Step(say="Ok."))

    Asker(model_server, vendor, stream=False).go_on(
        given, ToolMessage(odd, "get_work_item", "open")
    )

    call_id = model_server.seen[-1].calls()[0].id
    assert len(call_id) <= 40
    assert call_id.replace("_", "").isalnum()
    assert model_server.seen[-1].messages[-1].call_id == call_id


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_answer_with_unreadable_raw_travels_as_text_and_calls(
    model_server: ModelServer, vendor: str
) -> None:
    part = ToolCallPart.parse("a", "get_work_item", '{"item":"A-1"}')
    torn = answer(part, text="Looking.", vendor=vendor, raw='{"content": [')
    model_server.says(Step(say="Ok."))

    Asker(model_server, vendor, stream=False).go_on(torn, ToolMessage("a", part.name, "open"))

    assert model_server.seen[-1].messages[1].text == "Looking."
    assert model_server.seen[-1].calls()[0].arguments == {"item": "A-1"}


def test_results_are_ordered_as_their_calls_and_words_follow() -> None:
    calls = [ToolCallPart.parse(name, "look", "{}") for name in ("one", "two")]
    given = answer(*calls)
    results = [ToolMessage("two", "look", "2"), ToolMessage("one", "look", "1")]

    start, after = exchanges(
        [UserMessage("Go."), AssistantMessage(given), results[0], UserMessage("Note."), results[1]]
    )

    assert (start.answer, start.said) == (None, ("Go.",))
    assert [message.text for message in after.results] == ["1", "2"]
    assert after.said == ("Note.",)


def test_the_first_result_of_a_call_stands() -> None:
    given = answer(ToolCallPart.parse("one", "look", "{}"))
    twice = [ToolMessage("one", "look", "first"), ToolMessage("one", "look", "second")]

    (stretch,) = exchanges([AssistantMessage(given), *twice])

    assert [message.text for message in stretch.results] == ["first"]


@pytest.mark.covers("TURN-37")
def test_a_missing_result_is_a_failed_one() -> None:
    given = answer(ToolCallPart.parse("one", "look", "{}"))

    (stretch,) = exchanges([AssistantMessage(given)])

    assert [(m.text, m.ok) for m in stretch.results] == [(UNANSWERED, False)]


def test_a_result_nobody_asked_for_becomes_words() -> None:
    (stretch,) = exchanges([UserMessage("Go."), ToolMessage("x", "look", "stray")])

    assert stretch.results == ()
    assert stretch.said == ("Go.", "look: stray")


def test_an_empty_answer_and_empty_words_leave_nothing() -> None:
    silent = AssistantMessage(answer())

    (stretch,) = exchanges([UserMessage("Go."), silent, UserMessage("  "), UserMessage("On.")])

    assert stretch.said == ("Go.", "On.")


@pytest.mark.covers("TURN-47")
@pytest.mark.parametrize("stop", [reason for reason in StopReason if not reason.finished])
def test_only_a_finished_answer_may_be_acted_on(stop: StopReason) -> None:
    assert stop not in (StopReason.END, StopReason.TOOL_USE)


def test_an_answer_survives_the_journal_exactly() -> None:
    calls = (
        ToolCallPart.parse("a", "look", '{"n": 12345678901234567890, "x": 1.10}'),
        ToolCallPart.parse("b", "look", '{"n": '),
        ToolCallPart("c", "look", None, "{}", "The tool was withdrawn."),
    )
    given = answer(*calls, text="ü\u2028", served_model="m-2", prefix="abc")

    assert Answer.from_json(given.to_json()) == given
    assert given.to_json()["calls"][0]["arguments_text"] == calls[0].arguments_text


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("[1]", "a list"),
        ('"text"', "a string"),
        ("7", "a number"),
        ("true", "a boolean"),
        ('{"n": NaN}', "NaN"),
        ('{"a": 1}{"b": 2}', "not valid JSON"),
    ],
)
def test_arguments_that_are_no_object_say_why(written: str, reason: str) -> None:
    part = ToolCallPart.parse("a", "look", written)

    assert part.arguments is None
    assert part.error is not None
    assert reason in part.error
