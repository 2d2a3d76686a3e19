"""Signing in on the whole product's addresses, with its own pages."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from orgs.models.people import Person
from orgs.notices import notify
from orgs.people import links
from orgs.people.printed import path_of
from tests.support.people import ORIGIN, PASSWORD, browser

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def whole_site(settings: Settings, addresses: None) -> None:
    settings.ROOT_URLCONF = "crewlet.urls"


@pytest.mark.covers("ORG-114")
@pytest.mark.parametrize("path", ["/", "/inbox", "/admin/", "/account"])
def test_a_page_asks_a_stranger_to_sign_in_and_keeps_its_address(path: str) -> None:
    answer = browser().get(path)
    assert (answer.status_code, answer["Location"]) == (303, f"/sign-in?next={path}")


@pytest.mark.covers("ORG-114")
def test_a_stranger_reads_nothing_over_rest_and_probes_answer(client: Client) -> None:
    for path in ("/api/v1/org", "/api/v1/me", "/metrics", "/api/v1/schema"):
        assert client.get(path).status_code == 401, path
    assert client.get("/health").status_code == 200


def test_the_link_opens_the_site_and_the_account_page(ana: Person) -> None:
    client = browser()
    path = path_of(links.make(ana, created_by="test"))
    assert client.get(path).status_code == 200
    assert client.post(path)["Location"] == "/"
    assert client.get("/account").status_code == 200
    assert client.get("/inbox").status_code == 200


def test_the_forms_work_in_a_browser_without_javascript(ana: Person) -> None:
    client = Client(enforce_csrf_checks=True, headers={"origin": ORIGIN, "accept": "text/html"})
    path = path_of(links.make(ana, created_by="test"))
    assert client.post(path).status_code == 303
    page = client.get("/account").content.decode()
    form = {
        name: page.split(f'name="{name}" value="')[1].split('"')[0]
        for name in ("csrfmiddlewaretoken", "session", "op_id", "next")
    }
    assert client.post("/act/end_session", {**form, "csrfmiddlewaretoken": ""}).status_code == 403
    assert client.post("/act/end_session", form).status_code == 303
    assert client.get("/account").status_code == 303
    assert client.post("/sign-in", {"login": ana.login, "password": PASSWORD}).status_code == 303


def test_a_notice_is_marked_by_its_form(as_ana: Client, ana: Person) -> None:
    told = notify(ana, "item", reason="mention", title="Look", body="", ref="", event_id=ana.id)
    assert told is not None
    form = {"read": str(told.id), "op_id": "form-2", "next": "/inbox"}
    assert as_ana.post("/act/mark_inbox", form).status_code == 303
    told.refresh_from_db()
    assert told.read_at is not None
