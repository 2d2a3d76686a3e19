"""The tracker's REST routes and its command."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from crewlet.kernel.authority import Grant
from orgs.models.seats import Seat
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import comment, create
from tests.tracker.conftest import Cast


@pytest.fixture
def ana(cast: Cast) -> Client:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(headers={"origin": ORIGIN}), person)


def send(client: Client, method: str, path: str, body: Any, **headers: str) -> Any:
    call = getattr(client, method)
    return call(path, json.dumps(body), content_type="application/json", headers=headers)


def test_a_program_files_finds_changes_and_comments(ana: Client) -> None:
    filed = send(
        ana, "post", "/api/v1/work", {"title": "Lamp", "project": "ENG", "due": "2026-05-01"},
        **{"Idempotency-Key": "k1"},
    )  # fmt: skip
    assert filed.status_code == 201, filed.content
    assert filed.json()["refs"] == ["item:ENG-1"]
    again = send(
        ana, "post", "/api/v1/work", {"title": "Lamp", "project": "ENG", "due": "2026-05-01"},
        **{"Idempotency-Key": "k1"},
    )  # fmt: skip
    assert again.json()["replayed"] is True
    changed = send(
        ana, "patch", "/api/v1/work/ENG-1", {"status": "in_progress"},
        **{"Idempotency-Key": "k2", "If-Match": '"1"'},
    )  # fmt: skip
    assert changed.json()["result"]["version"] == 2
    said = send(
        ana, "post", "/api/v1/work/eng-1/comments", {"body": "On it."},
        **{"Idempotency-Key": "k3"},
    )  # fmt: skip
    assert said.status_code == 201
    listed = ana.get("/api/v1/work?status=in_progress&container=project:ENG").json()
    (row,) = listed["items"]
    assert (listed["total"], listed["next_cursor"]) == (1, None)
    assert row["key"] == "ENG-1"
    assert (row["assignee"], row["reporter"], row["due"]) == (None, "ana", "2026-05-01")
    detail = ana.get("/api/v1/work/ENG-1").json()
    assert detail["item"]["version"] == 2
    assert [entry["kind"] for entry in detail["history"]] == ["created", "status", "comment"]
    assert detail["comments"][0]["body"] == "On it."
    assert detail["spend"] == {"turns": 0, "tokens_in": 0, "tokens_out": 0}
    by_id = ana.get(f"/api/v1/work/{row['id']}").json()
    assert by_id["item"]["key"] == "ENG-1"


def test_refusals_name_the_field_and_what_is_there_now(ana: Client) -> None:
    send(
        ana, "post", "/api/v1/work", {"title": "Lamp", "project": "ENG"}, **{"Idempotency-Key": "a"}
    )
    stale = send(
        ana, "patch", "/api/v1/work/ENG-1", {"title": "x"},
        **{"Idempotency-Key": "b", "If-Match": "9"},
    )  # fmt: skip
    assert (stale.status_code, stale.json()["detail"]["current_version"]) == (409, 1)
    odd = send(
        ana, "patch", "/api/v1/work/ENG-1", {"title": "x"},
        **{"Idempotency-Key": "c", "If-Match": "new"},
    )  # fmt: skip
    assert odd.status_code == 400
    no_key = send(ana, "post", "/api/v1/work", {"title": "x"})
    assert (no_key.status_code, no_key.json()["error"]) == (400, "op_id_invalid")
    unknown = ana.get("/api/v1/work?asignee=me")
    assert (unknown.status_code, unknown.json()["detail"]["field"]) == (400, "asignee")
    assert ana.get("/api/v1/work/ENG-9").status_code == 404
    assert ana.get("/api/v1/work/projects/ENX").status_code == 404
    assert Client().get("/api/v1/work").status_code == 401


def test_reading_needs_the_grant_to_read(cast: Cast) -> None:
    person = a_person("no.reader", grants=[Grant.WORK_WRITE])
    client = signed_in(Client(headers={"origin": ORIGIN}), person)
    refused = client.get("/api/v1/work")
    assert refused.status_code == 403
    assert refused.json()["detail"]["grants"] == ["state:read"]


def test_projects_and_ones_own_work_are_read(ana: Client, cast: Cast) -> None:
    item = create(cast.cto, "Lamp", project="ENG", assignee="ana")
    comment(cast.cto, item, "Which?", ask="ana")
    projects = ana.get("/api/v1/work/projects").json()["projects"]
    assert [(p["key"], p["lead"], p["counts"]["todo"]) for p in projects] == [
        ("ENG", "agent-cto", 1),
        ("OPS", "omar", 0),
    ]
    assert ana.get("/api/v1/work/projects/eng").json()["name"] == "Engineering"
    mine = ana.get("/api/v1/work/my-work").json()
    assert [row["key"] for row in mine["assigned"]["items"]] == ["ENG-1"]
    assert (mine["asked_of_me"]["total"], mine["asked_of_me"]["asks"][0]["context"]) == (
        1,
        "Which?",
    )


def command(*words: str) -> str:
    out = io.StringIO()
    call_command("work", *words, stdout=out)
    return out.getvalue()


def test_the_command_lists_and_shows(cast: Cast) -> None:
    create(cast.ana, "Lamp", project="ENG", assignee="agent-swe", body="Bright")
    create(cast.ana, "Old", project="ENG", status="done")
    assert command("list").strip() == "ENG-1 [todo] @agent-swe: Lamp"
    listed = json.loads(command("list", "--all", "--json", "--sort", "rank"))
    assert [item["key"] for item in listed["items"]] == ["ENG-1", "ENG-2"]
    assert "Bright" in command("show", "ENG-1")
    with pytest.raises(SystemExit) as ended:
        command("show", "ENG-9")
    assert ended.value.code == 2
