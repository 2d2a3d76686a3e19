"""The company's models at every door: how they stand, a test, and never a key."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from agents.llm import cooling, trials
from agents.llm.base import ErrorKind, ProviderError
from agents.models.providers import ProviderTest
from crewlet.kernel import clock
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.authority import Grant
from orgs.models.people import Person
from orgs.revisions import apply_document
from tests.api.conftest import Program, ana, company, refusal
from tests.support.model_server import ModelServer
from tests.support.people import a_person, signed_in
from tests.support.script import Step
from tests.tracker.company import COMPANY

__all__ = ["ana", "company"]

pytestmark = pytest.mark.django_db
SECRET = "sk-lantern-0123456789"


@pytest.fixture
def lantern(ana: Program, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A company whose one model is the scripted server, with a set key and one that is not."""
    monkeypatch.setenv("LANTERN_KEY", SECRET)
    entry = (
        f"{{type: openai-compatible, model: scripted-1, base_url: '{model_server.openai_url}', "
        "api_keys: ['${LANTERN_KEY}', '${LANTERN_SPARE}']}"
    )
    document = COMPANY.replace("{type: rehearsal}", entry, 1)
    apply_document(engine_actor("tests"), document, summary="a real model")
    return ana


def listed(program: Program) -> dict[str, Any]:
    answer = program.get("/providers")
    assert answer.status_code == 200, answer.content
    assert SECRET not in answer.content.decode()
    found: dict[str, Any] = answer.json()["providers"][0]
    return found


def limit(seconds: float) -> None:
    error = ProviderError(ErrorKind.RATE_LIMIT, "slow down", seconds)
    cooling.cool("play", cooling.digest(SECRET), error, cooling.Rules())


@pytest.mark.covers("TURN-52")
def test_rest_lists_each_model_with_its_keys_by_digest_and_what_cools(lantern: Program) -> None:
    found = listed(lantern)
    assert (found["key"], found["state"], found["keys_missing"]) == (
        "play", "serving", ["LANTERN_SPARE"],
    )  # fmt: skip
    limit(90)
    found = listed(lantern)
    (key,) = found["keys"]
    assert found["state"] == "cooling"
    assert (key["digest"], key["variable"]) == (cooling.digest(SECRET), "LANTERN_KEY")
    assert 80 < key["cooling_seconds"] <= 90
    assert (key["reason"], key["last_error"], key["in_flight"]) == ("rate_limit", "slow down", 0)
    assert "the account behind LANTERN_KEY" in key["advice"]
    refusal(lantern.get("/providers", page=2), 400, "invalid_query")


def test_a_test_is_written_down_and_made_by_a_worker(
    lantern: Program, model_server: ModelServer
) -> None:
    answer = lantern.post("/providers/play/test", {})
    assert answer.status_code == 200, answer.content
    assert listed(lantern)["test"]["state"] == "pending"
    assert not model_server.seen, "the door asks nobody"
    model_server.says(Step(say="ready"))
    assert trials.run_pending(clock.now()) == 1
    test = listed(lantern)["test"]
    assert (test["state"], test["ok"]) == ("done", True)
    assert "ready" in test["said"]
    assert trials.run_pending(clock.now()) == 0


def test_a_failed_test_says_what_the_vendor_said(
    lantern: Program, model_server: ModelServer
) -> None:
    lantern.post("/providers/play/test", {})
    lantern.post("/providers/play/test", {})
    assert ProviderTest.objects.count() == 1, "asking twice is one test"
    model_server.says(Step(status=401, error=("authentication_error", f"no key {SECRET}")))
    trials.run_pending(clock.now())
    test = listed(lantern)["test"]
    assert not test["ok"]
    assert "Check its api_keys" in test["said"]


def test_a_test_whose_worker_died_is_made_again(
    lantern: Program, model_server: ModelServer
) -> None:
    lantern.post("/providers/play/test", {})
    ProviderTest.objects.update(state="running", asked_at=clock.now() - timedelta(minutes=5))
    model_server.says(Step(say="ready"))
    assert trials.run_pending(clock.now()) == 1
    assert listed(lantern)["test"]["ok"]


def test_an_unknown_model_and_a_lacking_grant_are_refused_by_name(lantern: Program) -> None:
    refusal(lantern.post("/providers/none/test", {}), 404, "not_found")
    reader = Program(a_person("reader"), Grant.STATE_READ)
    refusal(reader.post("/providers/play/test", {}), 403, "forbidden")
    assert reader.get("/providers").status_code == 200


def test_the_command_line_shows_the_same(lantern: Program, model_server: ModelServer) -> None:
    limit(90)
    out = io.StringIO()
    call_command("providers", "list", "--json", stdout=out)
    (found,) = json.loads(out.getvalue())["providers"]
    assert found["keys"][0]["digest"] == cooling.digest(SECRET)
    words = io.StringIO()
    call_command("providers", "list", stdout=words)
    assert "every key cools" in words.getvalue()
    assert SECRET not in words.getvalue() + out.getvalue()


def test_the_doctor_says_of_every_key_what_failed_and_what_to_do(
    lantern: Program, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANTERN_SPARE", "sk-lantern-spare-987654")
    limit(90)
    model_server.says(
        Step(say="ready"), Step(status=401, error=("authentication_error", "no such key"))
    )
    out = io.StringIO()

    call_command("providers", "doctor", "--json", stdout=out)

    answer = json.loads(out.getvalue())
    good, bad = answer["findings"]
    assert (answer["ok"], good["ok"], bad["ok"]) == (False, True, False), "a cooling key is asked"
    assert (bad["kind"], bad["variable"]) == ("auth", "LANTERN_SPARE")
    assert bad["digest"] in bad["what"]
    assert "no such key" in bad["what"]
    assert bad["do"].startswith("Put a valid key into LANTERN_SPARE")
    assert "spare-98" not in out.getvalue()


def test_the_doctor_names_what_is_not_set(
    lantern: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANTERN_KEY")
    words = io.StringIO()

    call_command("providers", "doctor", stdout=words)

    assert "play: unset" in words.getvalue()
    assert "LANTERN_KEY, LANTERN_SPARE, then restart" in words.getvalue()


def test_settings_shows_models_and_keys_by_variable_and_never_a_value(
    lantern: Program, client: Client
) -> None:
    limit(90)
    browser = signed_in(client, Person.objects.get(login="ana.silva"))
    page = browser.get("/settings/models").content.decode()
    assert "LANTERN_KEY" in page
    assert "LANTERN_SPARE" in page
    assert cooling.digest(SECRET) in page
    assert "cooling" in page
    assert "raise the limit or the credit of the account behind LANTERN_KEY" in page
    assert SECRET not in page
    assert 'action="/act/test_provider"' in page
