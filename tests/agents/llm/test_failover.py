"""A chain of models: who answers when one cannot."""

from __future__ import annotations

from typing import Any

import pytest

from agents.llm import chain
from agents.llm.base import Delta, ErrorKind, ProviderError, Request, StopReason, UserMessage
from tests.agents.llm.test_chain import Entry, company
from tests.support.model_server import ModelServer
from tests.support.script import SeenRequest, Step, call

pytestmark = [pytest.mark.django_db, pytest.mark.covers("TURN-51")]


@pytest.fixture
def asked(model_server: ModelServer, stream: bool) -> Any:
    """Asks a company whose seat has a chain of two models on two wires."""
    snapshot = company(
        {
            "big": Entry(model="big-1", base_url=model_server.url),
            "small": Entry(type="openai", model="small-1", base_url=model_server.openai_url),
        },
        default=("big", "small"),
    )

    def ask(**parts: Any) -> Any:
        request = Request("", (UserMessage("Hi"),), stream=stream, **parts)
        return chain.provider_for(snapshot, "ada", "execute").complete(request)

    return ask


def at(model: str) -> Any:
    """Matches requests for a model."""

    def matches(seen: SeenRequest) -> bool:
        return bool(seen.body["model"] == model)

    return matches


@pytest.mark.parametrize("status", [401, 429, 500, 529])
def test_the_next_model_answers_and_is_recorded(
    model_server: ModelServer, asked: Any, status: int
) -> None:
    model_server.script("big", at("big-1"), [Step(status=status)])
    model_server.script("small", at("small-1"), [Step(say="Hello.")])

    answer = asked()

    assert (answer.text, answer.provider_key, answer.model) == ("Hello.", "small", "small-1")


def test_what_a_broken_stream_showed_is_taken_back(
    model_server: ModelServer, asked: Any, stream: bool
) -> None:
    shown: list[Delta] = []
    cut = Step(say="I will do it all at once.", calls=[call("look")], cut_stream_after=5)
    model_server.script("big", at("big-1"), [cut])
    model_server.script("small", at("small-1"), [Step(say="Hello.")])

    answer = asked(on_delta=shown.append)

    kinds = [delta.kind for delta in shown]
    assert ("restart" in kinds) is stream
    after = shown[kinds.index("restart") + 1 :] if stream else shown
    assert "".join(delta.text for delta in after) == ("Hello." if stream else "")
    assert answer.calls == (), "no call of the partial answer is run"


def test_every_call_starts_at_the_first_model(model_server: ModelServer, asked: Any) -> None:
    model_server.script("big", at("big-1"), [Step(status=500), Step(say="Back.")])
    model_server.script("small", at("small-1"), [Step(say="Hello.")])

    assert asked().text == "Hello."
    assert asked().text == "Back."


@pytest.mark.parametrize("status", [400, 404])
def test_a_fatal_error_is_not_passed_on(model_server: ModelServer, asked: Any, status: int) -> None:
    model_server.script("big", at("big-1"), [Step(status=status)])

    with pytest.raises(ProviderError) as caught:
        asked()

    assert caught.value.kind is ErrorKind.FATAL
    assert caught.value.provider_key == "big"


@pytest.mark.covers("TURN-49")
def test_a_refusal_is_not_passed_on(model_server: ModelServer, asked: Any) -> None:
    model_server.script("big", at("big-1"), [Step(refusal=("bio", "No."))])

    assert asked().stop is StopReason.REFUSAL


def test_an_exhausted_chain_tells_every_failure(model_server: ModelServer, asked: Any) -> None:
    model_server.script("big", at("big-1"), [Step(status=500)])
    model_server.script("small", at("small-1"), [Step(status=429, headers={"retry-after": "9"})])

    with pytest.raises(ProviderError) as caught:
        asked()

    assert caught.value.kind is ErrorKind.RATE_LIMIT
    assert caught.value.retry_after is not None
    assert 8 < caught.value.retry_after <= 9
    assert 'Provider "big"' in caught.value.message
    assert 'Provider "small"' in caught.value.message


def test_a_later_model_without_a_key_is_one_failure_among_others(
    model_server: ModelServer,
) -> None:
    snapshot = company(
        {"big": Entry(base_url=model_server.url), "small": Entry(api_keys=())},
        default=("big", "small"),
    )
    model_server.says(Step(say="Hello."), Step(status=500))

    provider = chain.provider_for(snapshot, "ada", "execute")

    assert provider.complete(Request("", (UserMessage("Hi"),))).text == "Hello."
    with pytest.raises(ProviderError, match="has no API key"):
        provider.complete(Request("", (UserMessage("Hi"),)))
