"""The admin, the API of oneself, and the start of a process with a bad token."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from crewlet.kernel.authority import Grant
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import AuditEntry
from orgs.models.people import Person
from orgs.notices import notify
from orgs.queries.people import browser_name
from tests.support.people import a_person, a_seat, browser, signed_in

pytestmark = pytest.mark.django_db(transaction=True)

ADMIN_PAGES = (
    "person", "credential", "sessionrecord", "signintally", "notice", "inboxmark", "configrevision",
    "activation", "company", "unit", "seat",
)  # fmt: skip
JSON = {"accept": "application/json"}


@pytest.mark.parametrize("model", ADMIN_PAGES)
def test_the_admin_shows_every_table_and_adds_to_none(as_ana: Client, model: str) -> None:
    assert as_ana.get(f"/admin/orgs/{model}/").status_code == 200
    assert as_ana.get(f"/admin/orgs/{model}/add/").status_code == 403


def test_the_admin_shows_a_person_without_the_password(as_ana: Client, ana: Person) -> None:
    assert as_ana.get("/admin/").status_code == 200
    page = as_ana.get(f"/admin/orgs/person/{ana.id}/change/")
    assert page.status_code == 200
    assert "argon2" not in page.content.decode()
    assert as_ana.post(f"/admin/orgs/person/{ana.id}/delete/", {"post": "yes"}).status_code == 403


def test_the_admin_suspends_through_the_same_action(as_ana: Client, ana: Person) -> None:
    other = a_person("other.one")
    chosen = {"action": "suspend", "_selected_action": [str(other.id), str(ana.id)]}
    page = as_ana.post("/admin/orgs/person/", chosen, follow=True).content.decode()
    other.refresh_from_db()
    ana.refresh_from_db()
    assert (other.stage, ana.stage) == ("suspended", "active")
    assert "Nobody suspends themselves" in page
    assert AuditEntry.objects.filter(action="suspend_person", refused="").count() == 1


def test_the_admin_is_closed_to_who_may_not_read_the_configuration() -> None:
    reader = signed_in(browser(), a_person("reader.one", grants=[Grant.STATE_READ]))
    assert reader.get("/admin/orgs/person/").status_code in (302, 403)
    assert browser().get("/admin/")["Location"].startswith("/sign-in?next=")


def test_me_says_as_whom_i_act_and_what_i_may() -> None:
    mia = a_person("mia.berg", grants=[Grant.STATE_READ], seat=a_seat("mia"))
    client = signed_in(browser(), mia)
    assert client.get("/api/v1/me", headers=JSON).json() == {
        "kind": "person",
        "login": "mia.berg",
        "name": "Mia",
        "handle": "mia",
        "author": "mia",
        "credential": "session:mia.berg",
        "grants": ["state:read"],
    }


def test_my_inbox_is_read_over_rest(as_ana: Client, ana: Person) -> None:
    notify(ana, "item", reason="mention", title="Look", body="", ref="", event_id=new_id())
    page = as_ana.get("/api/v1/me/inbox?scope=all&limit=1&reason=mention", headers=JSON).json()
    assert [row["title"] for day in page["days"] for row in day["rows"]] == ["Look"]
    assert page["badge"] == 1
    bad = as_ana.get("/api/v1/me/inbox?limit=none", headers=JSON)
    assert (bad.status_code, bad.json()["detail"]["field"]) == (400, "limit")


def test_people_are_listed_for_who_manages_them(as_ana: Client) -> None:
    rows = as_ana.get("/api/v1/iam/people", headers=JSON).json()
    assert [row["login"] for row in rows] == ["ana.silva"]
    other = signed_in(browser(), a_person("other.one", grants=[Grant.STATE_READ]))
    refused = other.get("/api/v1/iam/people", headers=JSON)
    assert refused.status_code == 403
    assert refused.json()["detail"]["grants"] == ["people:manage"]


def test_a_process_with_a_short_token_does_not_start() -> None:
    environment = {**os.environ, "CREWLET_API_TOKEN_NIGHTLY": "far-too-short"}
    ended = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert ended.returncode != 0
    assert "CREWLET_API_TOKEN_NIGHTLY" in ended.stderr
    assert "far-too-short" not in ended.stderr + ended.stdout


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/156 Safari/537.36 Edg/156.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19 like Mac OS X) Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 15) Firefox/150.0", "Firefox on macOS"),
        ("curl/8.9", "An unknown program"),
    ],
)
def test_a_session_is_called_by_its_browser(agent: str, name: str) -> None:
    assert browser_name(agent) == name
