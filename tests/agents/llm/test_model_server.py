"""The scripted model server itself: it fails loudly, refuses what vendors refuse, plays alone."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.llm.base import (
    Answer,
    AssistantMessage,
    ErrorKind,
    Message,
    ProviderError,
    Request,
    ToolMessage,
    ToolSchema,
    UserMessage,
)
from agents.llm.http_provider import HttpProvider
from agents.llm.settings import ModelSettings
from tests.agents.llm.conftest import Asker, provider_of
from tests.support.model_play import PLAYS
from tests.support.model_server import ModelServer
from tests.support.script import Step, both, call, offering, on_system
from tests.support.until import until

ROOT = Path(__file__).parents[3]
ITEM = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
SAID = {
    "type": "object",
    "properties": {"item": {"type": "string"}, "body": {"type": "string"}},
    "required": ["item", "body"],
}
EXECUTOR = (
    ToolSchema("get_work_item", "", ITEM),
    ToolSchema("comment_on_work_item", "", SAID),
    ToolSchema("submit_work", "", {"type": "object", "properties": {}}),
)
REVIEWER = (ToolSchema("submit_review", "", {"type": "object", "properties": {}}),)


def test_a_leftover_step_fails_and_names_the_script(model_server: ModelServer) -> None:
    model_server.script("ada executes", on_system("Ada"), [Step(say="One."), Step(say="Two.")])
    Asker(model_server, "openai", stream=False).ask()

    with pytest.raises(AssertionError, match='"ada executes" has 1 step'):
        model_server.model.verify()
    model_server.model.forgive()


def test_a_missing_step_fails_the_call_and_the_test(model_server: ModelServer) -> None:
    model_server.script("bob reviews", on_system("Bob"), [])

    with pytest.raises(ProviderError) as caught:
        Asker(model_server, "anthropic", stream=True).ask()

    assert caught.value.kind is ErrorKind.FATAL, "a chain must not hide it by asking the next"
    assert "No step is left" in caught.value.message
    (problem,) = model_server.model.forgive()
    assert "You are Ada" in problem


def test_an_unmet_expectation_fails_the_call_and_says_what_is_missing(
    model_server: ModelServer,
) -> None:
    model_server.script("ada", on_system("Ada"), [Step(expect="ENG-99", say="Hi.")])

    with pytest.raises(ProviderError):
        Asker(model_server, "openai", stream=False).ask()

    (problem,) = model_server.model.forgive()
    assert 'Script "ada", step 1: the prompt does not hold' in problem
    assert "ENG-99" in problem


def test_seats_and_phases_have_scripts_of_their_own(model_server: ModelServer) -> None:
    model_server.script("bob", on_system("Bob"), [Step(say="I am Bob.")])
    model_server.script(
        "ada", both(on_system("Ada"), offering("get_work_item")), [Step(say="I am Ada.")]
    )
    asker = Asker(model_server, "anthropic", stream=False)

    assert asker.ask().text == "I am Ada."
    assert asker.ask(system="You are Bob.").text == "I am Bob."


def test_identical_bodies_are_counted_as_repeats(model_server: ModelServer) -> None:
    model_server.says(Step(say="One."), Step(say="Two."))
    asker = Asker(model_server, "openai", stream=False)

    asker.ask()
    asker.ask()

    report = json.load(_open(f"{model_server.url}/stats"))
    assert (report["calls"], report["repeats"]) == (2, 1)
    assert [row["wire"] for row in report["received"]] == ["openai", "openai"]
    assert report["received"][0]["at"] <= report["received"][1]["at"]


def test_requests_at_once_are_counted(model_server: ModelServer) -> None:
    gate = threading.Event()
    model_server.says(Step(say="A", gate=gate), Step(say="B"))
    asker = Asker(model_server, "openai", stream=False)
    waiting = threading.Thread(target=asker.ask)
    waiting.start()
    until(lambda: len(model_server.seen) == 1)
    asker.provider().complete(Request("Second.", (UserMessage("Hi"),)))
    gate.set()
    waiting.join(timeout=10)

    assert model_server.stats.report()["most_at_once"] == 2
    assert model_server.stats.report()["calls"] == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tool_choice": {"type": "tool", "name": "x"}}, "forcing a tool"),
        ({"messages": []}, "at least one message"),
        ({"tools": [{"name": "a.b", "input_schema": {}}]}, "does not match"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
        (
            {
                "messages": [
                    {"role": "user", "content": "Hi"},
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "t", "name": "x", "input": {}}],
                    },
                ]
            },
            "not followed by its result",
        ),
    ],
)
def test_what_vendors_refuse_is_refused(
    model_server: ModelServer, change: dict[str, Any], said: str
) -> None:
    good = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}
    body = json.dumps({**good, **change}).encode()

    with pytest.raises(urllib.error.HTTPError) as caught:
        _open(f"{model_server.url}/v1/messages", body)

    assert caught.value.code == 400
    assert said in caught.value.read().decode()


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
@pytest.mark.parametrize("streaming", [False, True])
def test_the_player_works_an_item_submits_and_reviews(vendor: str, streaming: bool) -> None:
    with ModelServer(play=PLAYS["reviewed-turn"](2)) as server:
        provider = provider_at(server.url, vendor)
        made = turn(provider, streaming=streaming)
        review = provider.complete(
            Request("You review.", (UserMessage("Review it."),), REVIEWER, stream=streaming)
        )
        judge = provider.complete(Request("Judge.", (UserMessage("More rounds?"),)))

    assert [name for name, _ in made] == [
        "get_work_item",
        "get_work_item",
        "comment_on_work_item",
        "submit_work",
    ]
    assert made[2][1]["item"] == "ENG-7"
    assert made[2][1]["body"]
    assert made[3][1]["deliveries"] == ["comment_on_work_item"]
    assert review.calls[0].arguments is not None
    assert review.calls[0].arguments["decision"] == "done"
    assert judge.text


def test_the_player_gives_up_in_words_when_nothing_is_accepted() -> None:
    with ModelServer(play=PLAYS["reviewed-turn"](1)) as server:
        made = turn(provider_at(server.url, "openai"), refuses="submit_work", streaming=False)

    outcomes = [arguments["outcome"] for name, arguments in made if name == "submit_work"]
    assert outcomes == ["delivered", "blocked", "blocked"]


def test_the_player_can_be_a_process_of_its_own(alone: str) -> None:
    made = turn(provider_at(alone, "openai"), streaming=True)

    assert made[-1][0] == "submit_work"
    assert json.load(_open(f"{alone}/stats"))["calls"] == len(made)


@pytest.fixture
def alone() -> Iterator[str]:
    """The server as a founder starts it, on a free port."""
    command = [sys.executable, "-m", "tests.support.model_server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield line.split()[3]
        finally:
            process.terminate()
            process.wait(timeout=10)


def provider_at(url: str, vendor: str) -> HttpProvider:
    """A provider of either vendor at the server."""
    base_url = url if vendor == "anthropic" else f"{url}/v1"
    settings = ModelSettings("main", vendor, "player", base_url, "none", 10.0)
    return provider_of(settings)


def turn(
    provider: HttpProvider, *, streaming: bool, refuses: str = ""
) -> list[tuple[str, dict[str, Any]]]:
    """Runs an executor's rounds until it says something without a call or submits."""
    messages: list[Message] = [UserMessage("Please do ENG-7.")]
    made: list[tuple[str, dict[str, Any]]] = []
    while True:
        answer: Answer = provider.complete(
            Request("You are Ada.", tuple(messages), EXECUTOR, stream=streaming)
        )
        if not answer.calls:
            return made
        part = answer.calls[0]
        made.append((part.name, part.arguments or {}))
        refused = part.name == refuses
        if part.name == "submit_work" and not refused:
            return made
        messages.append(AssistantMessage(answer))
        messages.append(ToolMessage(part.id, part.name, "no" if refused else "ok", ok=not refused))


def _open(url: str, body: bytes | None = None) -> Any:
    asked = urllib.request.Request(url, data=body)  # noqa: S310 - loopback only
    return urllib.request.urlopen(asked, timeout=10)  # noqa: S310


def test_calls_may_be_written_short() -> None:
    assert call("look", item="A-1").arguments == {"item": "A-1"}
