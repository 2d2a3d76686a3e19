"""Model servers beside the company, and the command that takes one."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command

from agents import offers
from agents.llm import chain, nearby
from crewlet.kernel.actors import engine_actor
from crewlet.ops.hooks import UpRequest
from orgs import epochs
from orgs.revisions import apply_document
from tests.orgs.companies import TWO_TEAMS
from tests.support.model_server import ModelServer
from tests.support.script import Step

REQUEST = UpRequest(base_url="http://localhost", demo=True)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(play=lambda seen: Step(say="ready")) as running:
        yield running
    chain.close_clients()


def port_of(server: ModelServer) -> int:
    port = urlsplit(server.url).port
    assert port is not None
    return port


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def providers(*args: str) -> dict[str, Any]:
    out = StringIO()
    call_command("providers", *args, "--json", stdout=out)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def test_a_server_that_lists_models_is_found_and_silence_is_passed_over(
    server: ModelServer,
) -> None:
    found = nearby.find({"Here": port_of(server), "Nobody": free_port()})
    assert [(one.name, one.base_url) for one in found] == [
        ("Here", f"http://127.0.0.1:{port_of(server)}/v1")
    ]
    assert found[0].models


@pytest.mark.django_db
def test_a_company_that_rehearses_is_offered_the_model_beside_it_and_never_given_it(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        nearby, "find", lambda: [nearby.ModelServer("Ollama", "http://x/v1", ("m",))]
    )
    assert offers._offer_models(REQUEST) is None

    apply_document(engine_actor("test"), TWO_TEAMS, summary="test")
    line = offers._offer_models(REQUEST)
    assert line is not None
    assert "providers set default --type openai-compatible --base-url http://x/v1 --model m" in line
    assert {row["type"] for row in providers("list")["providers"]} == {"rehearsal"}


@pytest.mark.django_db(transaction=True)
def test_one_command_makes_the_company_think_and_another_tries_it(server: ModelServer) -> None:
    apply_document(engine_actor("test"), TWO_TEAMS, summary="test")
    before = epochs.active()
    answer = providers(
        "set", "zeta", "--type", "openai-compatible", "--model", "m-1",
        "--base-url", f"http://127.0.0.1:{port_of(server)}/v1",
    )  # fmt: skip

    after = epochs.active()
    assert (answer["status"], after.epoch) == ("live", before.epoch + 1)
    assert after.document.providers.llm["zeta"].model == "m-1"
    assert list(after.chart.seats) == list(before.chart.seats)
    tried = providers("test", "zeta")
    assert tried["key"] == "zeta"
    assert tried["said"].startswith("m-1: ")
    assert offers._offer_models(REQUEST) is None


@pytest.mark.django_db(transaction=True)
def test_a_model_that_does_not_answer_is_said_in_words_with_an_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    apply_document(engine_actor("test"), TWO_TEAMS, summary="test")
    providers(
        "set", "zeta", "--type", "openai-compatible", "--model", "m-1",
        "--base-url", f"http://127.0.0.1:{free_port()}/v1",
    )  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        call_command("providers", "test", "zeta")
    assert ended.value.code == 75
    assert "zeta did not answer" in capsys.readouterr().err
    chain.close_clients()


@pytest.mark.django_db
def test_a_key_that_is_not_set_here_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = TWO_TEAMS.replace(
        "alpha: {type: rehearsal}", 'alpha: {type: openai, model: m, api_keys: ["${OVEN_KEY}"]}'
    )
    apply_document(engine_actor("test"), text, summary="test")
    assert [row["keys_missing"] for row in providers("list")["providers"]] == [[], ["OVEN_KEY"]]
    monkeypatch.setenv("OVEN_KEY", "x")
    assert [row["keys_missing"] for row in providers("list")["providers"]] == [[], []]
