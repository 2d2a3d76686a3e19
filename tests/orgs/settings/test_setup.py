"""The first run: from a fresh database to a company that runs, in a browser and at the API."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from crewlet.kernel.actors import engine_actor
from crewlet.kernel.authority import Grant
from orgs import epochs
from orgs.document.validation import validate_data
from orgs.models.people import Person
from orgs.people import links
from orgs.people.printed import path_of
from orgs.revisions import apply_document
from orgs.setup import thinking
from orgs.setup.templates import Template, first_document
from orgs.setup.thinking import NearServer
from tests.support.people import a_person, browser, signed_in
from tests.tracker.company import COMPANY

pytestmark = pytest.mark.django_db(transaction=True)

ANSWERS = {
    "name": "Harbour Bakery",
    "mission": "Bread before seven",
    "timezone": "Europe/Lisbon",
    "template": "new",
    "founder": "Ana Silva",
    "think": "rehearsal",
}


@pytest.fixture(autouse=True)
def nothing_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model server answers on this machine: what runs beside a test is not part of it."""
    monkeypatch.setattr(thinking.NEAR_SERVERS, "_entries", {})


@pytest.fixture
def first() -> Client:
    """The browser of the first person, who came by the link that the start prints."""
    client = browser()
    answer = client.post(path_of(links.make(None, created_by="test")))
    assert answer.status_code == 303
    return client


def fields(page: str) -> dict[str, str]:
    """Returns the hidden fields of the form that creates the company."""
    form = page.split('action="/act/create_company"')[1].split("</form>", maxsplit=1)[0]
    return dict(re.findall(r'name="([^"]+)" value="([^"]*)"', form))


@pytest.mark.covers("UI-58", "ORG-70", "ORG-116")
def test_a_fresh_store_becomes_a_company_in_the_browser(first: Client) -> None:
    assert first.get("/setup").status_code == 200
    preview = first.get("/setup", ANSWERS)
    page = preview.content.decode()
    for words in ("This is Harbour Bakery", "Engineering", "Marketing Lead", "Ana Silva"):
        assert words in page
    assert epochs.current() is None

    made = first.post("/act/create_company", fields(page))
    assert (made.status_code, made["Location"]) == (303, "/setup/done")
    assert epochs.active().document.name == "Harbour Bakery"
    assert epochs.active().document.timezone == "Europe/Lisbon"
    me = Person.objects.select_related("seat").get()
    assert me.seat is not None
    assert me.seat.handle == "founder"
    assert me.name == "Ana Silva", "who came by the printed link had no name of their own"

    done = first.get("/setup/done").content.decode()
    assert "Harbour Bakery runs" in done
    assert "/work/new?assignee=ceo" in done
    assert first.get("/setup").status_code == 302


@pytest.mark.covers("ORG-70")
def test_a_second_first_company_is_refused(first: Client) -> None:
    page = first.get("/setup", ANSWERS).content.decode()
    first.post("/act/create_company", fields(page))
    answer = first.post(
        "/api/v1/setup/company",
        {"name": "Another"},
        content_type="application/json",
        headers={"idempotency-key": "two"},
    )
    assert answer.status_code == 412
    assert answer.json()["detail"]["reason"] == "already_configured"
    assert epochs.active().document.name == "Harbour Bakery"


@pytest.mark.covers("ORG-70")
def test_the_company_is_made_over_rest(first: Client) -> None:
    answer = first.post(
        "/api/v1/setup/company",
        {"name": "Harbour", "template": "established", "thinking": "rehearsal"},
        content_type="application/json",
        headers={"idempotency-key": "one"},
    )
    assert answer.status_code == 201, answer.content
    assert answer.json()["result"]["epoch"] == epochs.current()
    assert "reliability-lead" in epochs.active().chart.seats
    assert Person.objects.get().seat is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"timezone": "Mars/Olympus"}, "time"),
        ({"template": "giant"}, "template"),
        ({"think": "anthropic"}, "ANTHROPIC_API_KEY is not set"),
        ({"name": ""}, "name"),
    ],
)
def test_an_answer_that_cannot_be_is_named_beside_the_form(
    first: Client, wrong: dict[str, str], words: str, settings: Any
) -> None:
    answer = first.get("/setup", {**ANSWERS, **wrong})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert words in page.split('id="setup-error"')[1].split("</div>")[0]
    assert "/act/create_company" not in page


@pytest.mark.covers("UI-25")
def test_who_may_not_set_up_reads_why_and_is_refused() -> None:
    guest = signed_in(browser(), a_person("gus.guest", grants=[Grant.STATE_READ]))
    page = guest.get("/setup", ANSWERS).content.decode()
    assert 'aria-disabled="true"' in page
    assert "config:write, which you lack" in page
    assert guest.post("/act/create_company", fields(page)).status_code == 403
    assert epochs.current() is None


def test_a_server_near_is_offered_and_taken(first: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    near = NearServer("Ollama", "http://127.0.0.1:11434/v1", ("qwen3:8b", "other"))
    monkeypatch.setattr(thinking.NEAR_SERVERS, "_entries", {"test": lambda: [near]})
    assert "Ollama" in first.get("/setup").content.decode()
    choice = "local http://127.0.0.1:11434/v1 qwen3:8b"
    page = first.get("/setup", {**ANSWERS, "think": choice}).content.decode()
    first.post("/act/create_company", fields(page))
    entry = epochs.active().document.providers.llm["default"]
    assert (entry.type, entry.model, entry.base_url) == (
        "openai-compatible",
        "qwen3:8b",
        "http://127.0.0.1:11434/v1",
    )


@pytest.mark.covers("PEER-46")
def test_a_key_is_named_and_never_shown(first: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinking, "key_is_set", lambda which: which is thinking.Thinking.OPENAI)
    page = first.get("/setup", {**ANSWERS, "think": "openai"}).content.decode()
    assert "OPENAI_API_KEY" in page
    first.post("/act/create_company", fields(page))
    assert epochs.active().document.providers.llm["default"].api_keys == ("${OPENAI_API_KEY}",)


@pytest.mark.covers("ORG-43")
def test_without_a_model_nothing_rehearses(first: Client) -> None:
    page = first.get("/setup", {**ANSWERS, "think": "none"}).content.decode()
    first.post("/act/create_company", fields(page))
    assert epochs.active().document.providers.llm == {}
    assert "No model is configured" in first.get("/setup/done").content.decode()


@pytest.mark.covers("ORG-70")
@pytest.mark.parametrize("template", list(Template))
@pytest.mark.parametrize("founder", ["", "Ana Silva"])
def test_every_template_is_a_sound_document_without_invented_people(
    template: Template, founder: str
) -> None:
    made = first_document(template, name="X", mission="", timezone="UTC", founder=founder)
    reading = validate_data(made)
    assert reading.problems == ()
    people = [seat.name for seat in reading.chart.walk() if not seat.is_agent]
    assert people == ([founder] if founder else [])


def test_a_company_that_is_there_has_no_first_run() -> None:
    apply_document(engine_actor("tests"), COMPANY, summary="Here")
    client = signed_in(browser(), a_person())
    assert client.get("/setup")["Location"] == "/setup/done"
    assert "Lantern Works runs" in client.get("/setup/done").content.decode()


PAGES = ["/inbox", "/work", "/work/projects", "/agents", "/live"]


@pytest.mark.covers("UI-58", "UI-27", "ORG-42")
@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_not_configured_and_never_looks_empty(first: Client, path: str) -> None:
    answer = first.get(path)
    assert answer.status_code == 503
    page = answer.content.decode()
    assert "No company is configured yet." in page
    assert 'href="/setup"' in page


@pytest.mark.covers("UI-58")
def test_the_first_person_is_led_to_the_set_up_and_a_guest_is_told_who_may(first: Client) -> None:
    assert first.get("/")["Location"] == "/setup"
    guest = signed_in(browser(), a_person("gus.guest", grants=[Grant.STATE_READ]))
    page = guest.get("/").content.decode()
    assert "Somebody with the grant" in page
    assert 'href="/setup"' not in page


@pytest.mark.covers("ORG-42")
def test_a_process_that_saw_no_company_needs_no_restart(first: Client) -> None:
    assert first.get("/agents").status_code == 503
    first.post("/act/create_company", fields(first.get("/setup", ANSWERS).content.decode()))
    assert first.get("/agents").status_code == 200
