"""`people` and `tokens` at the terminal."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from orgs.models.people import Credential, Person
from tests.support.people import a_person, a_seat, browser

pytestmark = pytest.mark.django_db(transaction=True)


def run(*words: str) -> Any:
    out = StringIO()
    call_command(*words, "--json", stdout=out)
    return json.loads(out.getvalue())


def fails(*words: str) -> tuple[int, dict[str, Any]]:
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(*words, "--json", stdout=out)
    return int(ended.value.code or 0), json.loads(out.getvalue())


def test_a_person_is_created_invited_and_signs_in_with_the_printed_link() -> None:
    a_seat("mia")
    made = run(
        "people", "create", "mia.berg", "--name", "Mia Berg", "--grants", "all", "--seat", "mia"
    )
    assert made["person"]["seat"] == "mia"
    assert len(made["person"]["grants"]) == 11
    link = run("people", "invite", "mia.berg")["link"]
    assert link.startswith("http://testserver/sign-in/link/")
    client = browser()
    assert client.post(link.removeprefix("http://testserver")).status_code == 303
    assert client.get("/").json()["author"] == "mia"


def test_people_are_listed_without_what_proves_them() -> None:
    a_person("mia.berg")
    rows = run("people", "list")["people"]
    assert [row["login"] for row in rows] == ["mia.berg"]
    assert "argon2" not in json.dumps(rows)
    out = StringIO()
    call_command("people", "list", stdout=out)
    assert "mia.berg" in out.getvalue()


def test_binding_granting_suspending_and_letting_in_again() -> None:
    a_seat("mia")
    a_person("boss.one")
    a_person("mia.berg", grants=[])
    assert run("people", "bind", "mia.berg", "mia")["person"]["seat"] == "mia"
    assert run("people", "bind", "mia.berg")["person"]["seat"] is None
    assert run("people", "grants", "mia.berg", "state:read")["person"]["grants"] == ["state:read"]
    assert run("people", "suspend", "mia.berg")["person"]["stage"] == "suspended"
    assert run("people", "activate", "mia.berg")["person"]["stage"] == "active"
    assert "0 session(s)" in run("people", "sign-out", "mia.berg")["message"]


@pytest.mark.covers("UI-98")
def test_a_refusal_exits_with_its_code_and_says_why() -> None:
    code, answer = fails("people", "suspend", "nobody.here")
    assert (code, answer["error"]) == (2, "not_found")
    code, answer = fails("people", "create", "nodot", "--name", "X")
    assert (code, answer["detail"]["field"]) == (2, "login")
    a_person("only.one")
    code, answer = fails("people", "suspend", "only.one")
    assert (code, answer["error"]) == (1, "conflict")
    assert Person.objects.get().stage == "active"


def test_a_token_is_shown_once_and_works(client: Client) -> None:
    value = run("tokens", "create", "ci", "--grants", "state:read,audit:read")["token"]
    assert value not in str(list(Credential.objects.values()))
    listed = run("tokens", "list")["tokens"]
    assert [row["label"] for row in listed] == ["ci"]
    assert value not in json.dumps(listed)
    header = {"authorization": f"Bearer {value}"}
    assert client.get("/api/v1/whoami", headers=header).json()["login"] == "token:ci"
    run("tokens", "revoke", "ci")
    assert client.get("/api/v1/whoami", headers=header).status_code == 401
    assert run("tokens", "list") == {"tokens": []}
