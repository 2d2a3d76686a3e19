"""What every route refuses, in one shape: 401, 403, 404, 405, 409 and 400, each with the remedy."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client

from crewlet.kernel.authority import Grant
from crewlet.kernel.ids import new_id
from orgs.models.people import Person
from tests.api.conftest import Program, refusal
from tests.support.people import ORIGIN, a_person, encoded_password, signed_in
from tracker.models.items import WorkItem

READS = [
    "/agents", "/agents/qa", "/turns", "/events", "/budgets", "/stream/snapshot", "/work",
    "/work/projects", "/work/projects/ENG", "/work/my-work", "/org", "/me", "/me/inbox",
]  # fmt: skip
WRITES = ["/work", "/act/create_work_item", "/agents/qa/pause"]


def grants_of(detail: dict[str, Any]) -> list[str]:
    grants: list[str] = detail["grants"]
    return grants


@pytest.mark.covers("ORG-114")
@pytest.mark.parametrize("path", [*READS, "/config", "/schema", "/nowhere"])
def test_nobody_and_a_wrong_token_are_refused_everywhere(company: None, path: str) -> None:
    nobody = Client().get(f"/api/v1{path}")
    refusal(nobody, 401, "unauthenticated")
    assert nobody["WWW-Authenticate"].startswith("Bearer")
    wrong = Client(headers={"authorization": "Bearer wrong"}).get(f"/api/v1{path}")
    refusal(wrong, 401, "invalid_token")
    assert wrong["WWW-Authenticate"].startswith("Bearer")


def test_a_wrong_token_is_refused_where_reading_is_open(company: None) -> None:
    wrong = Client(headers={"authorization": "Bearer wrong"})
    for path in ("/health", "/ready"):
        assert Client().get(path).status_code in (200, 503)
        refusal(wrong.get(path), 401, "invalid_token")


@pytest.mark.covers("ORG-111")
@pytest.mark.parametrize("path", READS)
def test_a_read_without_the_grant_names_it(ana: Program, path: str) -> None:
    blind = Program(Person.objects.get(), Grant.WORK_WRITE)
    assert grants_of(refusal(blind.get(path), 403, "forbidden")) == ["state:read"]
    assert ana.get(path).status_code == 200


@pytest.mark.parametrize("path", WRITES)
def test_a_write_without_the_grant_names_it(ana: Program, path: str) -> None:
    reader = Program(a_person("rosa.reader", grants=[Grant.STATE_READ]))
    detail = refusal(reader.post(path, {} if "pause" in path else {"title": "x"}), 403, "forbidden")
    assert grants_of(detail) == ["fleet:operate" if "pause" in path else "work:write"]
    assert not WorkItem.objects.exists()


def test_other_reads_have_grants_of_their_own(ana: Program) -> None:
    reader = Program(Person.objects.get(), Grant.STATE_READ)
    assert grants_of(refusal(reader.get("/config"), 403, "forbidden")) == ["config:read"]
    assert grants_of(refusal(reader.get("/iam/people"), 403, "forbidden")) == ["people:manage"]


@pytest.mark.parametrize(
    ("path", "near"), [("/agents/agent-sw", "agent-swe"), ("/agents/pakcer", "packer")]
)
def test_an_unknown_handle_is_answered_with_the_nearest_ones(
    ana: Program, path: str, near: str
) -> None:
    answer = ana.get(path)
    refusal(answer, 404, "not_found")
    assert near in answer.json()["message"]
    wanted = path.rpartition("/")[2]
    refused = ana.post("/act/pause_seat", {"seat": wanted})
    refusal(refused, 404, "not_found")
    assert near in refused.json()["message"]


def test_an_unknown_action_is_answered_with_the_nearest_ones(ana: Program) -> None:
    answer = ana.post("/act/create_work_itm", {})
    assert refusal(answer, 404, "not_found")["field"] == "action"
    assert "create_work_item" in answer.json()["message"]
    hidden = ana.post("/act/reflect_and_persist", {"content": "x"})
    refusal(hidden, 404, "not_found")


@pytest.mark.parametrize("path", ["/work", "/turns", "/events", "/agents", "/budgets"])
def test_an_unknown_filter_is_refused_by_name(ana: Program, path: str) -> None:
    answer = ana.get(path, colour="red")
    assert answer.status_code == 400, answer.content
    assert answer.json()["detail"]["field"] == "colour"
    assert "colour" in answer.json()["message"]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/work", {"status": "someday"}), ("/work", {"limit": "0"}), ("/work", {"sort": "mood"}),
        ("/turns", {"failed": "maybe"}), ("/turns", {"limit": "-1"}), ("/turns", {"cursor": "%"}),
        ("/turns", {"stage": "someday"}), ("/turns", {"outcome": "someday"}),
        ("/events", {"since": "yesterday"}), ("/events", {"turn": "that-one"}),
        ("/events", {"cursor": "%"}), ("/events", {"type": "x"}),
        ("/events", {"category": "x"}), ("/me/inbox", {"limit": "many"}),
        ("/work", {"cursor": "%"}),
    ],
)  # fmt: skip
def test_a_bad_value_of_a_filter_is_refused_by_name(
    ana: Program, path: str, query: dict[str, str]
) -> None:
    answer = ana.get(path, **query)
    assert answer.status_code == 400, answer.content
    assert answer.json()["detail"]["field"] == next(iter(query))


def test_a_method_that_is_not_there_and_a_place_that_is_not_there(ana: Program) -> None:
    refusal(ana.send("DELETE", "/work", {}), 405, "method_not_allowed")
    refusal(ana.get("/nowhere"), 404, "not_found")
    refusal(ana.get("/work/ENG-99"), 404, "not_found")
    refusal(ana.get(f"/turns/{new_id()}"), 404, "not_found")
    refusal(ana.get(f"/events/{new_id()}"), 404, "not_found")


def test_an_address_that_a_browser_opens_answers_json(ana: Program) -> None:
    answer = ana.client.get("/api/v1/agents", headers={"accept": "text/html,*/*;q=0.1"})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    strict = ana.client.get("/api/v1/agents", headers={"accept": "text/html"})
    assert (strict.status_code, strict["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize("body", ["{", "[1]", '"text"', "{'a': 1}", "\xff"])
def test_a_body_that_is_no_json_object_is_refused(ana: Program, body: str) -> None:
    answer = ana.client.generic(
        "POST", "/api/v1/work", body.encode("latin-1"), content_type="application/json",
        headers={"idempotency-key": "k"},
    )  # fmt: skip
    refusal(answer, 400, "invalid_body")


def test_a_body_that_is_too_large_is_refused_by_its_size(ana: Program) -> None:
    huge = {"title": "x", "body": "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)}
    answer = ana.post("/work", huge)
    refusal(answer, 413, "too_large")
    assert str(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) in answer.json()["message"]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (OperationalError("server closed the connection"), 503, "unavailable"),
        (ZeroDivisionError("a secret of the inside"), 500, "internal"),
    ],
)
def test_what_breaks_inside_is_hidden_logged_and_said_in_the_one_shape(
    ana: Program,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    error: Exception,
    status: int,
    code: str,
) -> None:
    def breaks(*_args: Any) -> None:
        raise error

    monkeypatch.setattr("agents.api.views.seat_rows", breaks)
    answer = ana.get("/agents")
    refusal(answer, status, code)
    assert str(error) not in answer.content.decode()
    assert answer.has_header("Retry-After") is (status == 503)
    assert ("a secret of the inside" in caplog.text) is (status == 500)


def test_a_stale_version_is_told_the_current_one(ana: Program) -> None:
    key = ana.filed()
    ana.send("PATCH", f"/work/{key}", {"title": "Bright lamp"}, if_match='"1"')
    stale = ana.send("PATCH", f"/work/{key}", {"title": "Dim lamp"}, if_match='"1"')
    assert refusal(stale, 409, "conflict")["current_version"] == 2
    assert ana.get(f"/work/{key}").json()["item"]["title"] == "Bright lamp"
    placed = ana.post("/act/place_work_item", {"item": key, "if_match": 1, "status": "done"})
    assert refusal(placed, 409, "conflict")["current_version"] == 2


# -- once ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["", " ", "k" * 121])
def test_a_write_needs_an_operation_id(ana: Program, key: str) -> None:
    headers = {"idempotency-key": key} if key else {}
    answer = ana.client.post(
        "/api/v1/work", {"title": "x", "project": "ENG"}, content_type="application/json",
        headers=headers,
    )  # fmt: skip
    assert refusal(answer, 400, "op_id_invalid")["field"] == "Idempotency-Key"
    assert not WorkItem.objects.exists()


def test_a_reading_action_needs_no_operation_id(ana: Program) -> None:
    key = ana.filed()
    answer = ana.client.post(
        "/api/v1/act/get_work_item", {"item": key}, content_type="application/json"
    )
    assert answer.status_code == 200, answer.content
    assert answer.json()["refs"] == [f"item:{key}"]


def test_a_repeat_gives_the_first_answer_and_other_arguments_a_conflict(ana: Program) -> None:
    body = {"title": "Lamp", "project": "ENG"}
    first, again = (ana.post("/work", body, key="once") for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert (first.json()["replayed"], again.json()["replayed"]) == (False, True)
    assert {**again.json(), "replayed": False} == first.json()
    refusal(ana.post("/work", {**body, "title": "x"}, key="once"), 409, "operation_conflict")
    refusal(ana.post("/act/pause_seat", {"seat": "qa"}, key="once"), 409, "operation_conflict")
    assert WorkItem.objects.count() == 1


def test_a_repeated_refusal_is_the_same_refusal(ana: Program) -> None:
    first, again = (
        ana.post("/act/update_work_item", {"item": "ENG-9", "title": "x"}, key="once")
        for _ in range(2)
    )
    assert refusal(first, 404, "not_found") == refusal(again, 404, "not_found")
    assert first.json()["message"] == again.json()["message"]


def test_one_operation_id_of_two_people_is_two_operations(ana: Program) -> None:
    kim = Program(a_person("kim.cho"))
    body = {"title": "Lamp", "project": "ENG"}
    assert ana.post("/work", body, key="same").json()["replayed"] is False
    assert kim.post("/work", body, key="same").json()["replayed"] is False
    assert WorkItem.objects.count() == 2


def test_a_token_makes_no_tokens_and_sets_no_password(ana: Program) -> None:
    """Else one with a single grant would become a sign-in with all of its person's."""
    person = Person.objects.get()
    posted = ana.client.post(
        "/act/set_password", {"encoded": encoded_password()}, headers={"hx-request": "true"}
    )
    assert posted.status_code == 403
    token = {"label": "more", "digest": "ab" * 32, "grants": [], "login": person.login}
    refusal(ana.post("/act/create_token", token), 403, "forbidden")
    assert Person.objects.get().password == person.password


# -- from another site -----------------------------------------------------------------------------


@pytest.mark.covers("ORG-123")
@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", None])
@pytest.mark.parametrize("path", ["/api/v1/work", "/act/create_work_item", "/sign-out"])
def test_a_write_with_a_cookie_from_another_site_is_refused(
    company: None, origin: str | None, path: str
) -> None:
    browser = signed_in(Client(), a_person())
    headers = {"idempotency-key": "k", "accept": "application/json"}
    if origin is not None:
        headers["origin"] = origin
    answer = browser.post(path, {"title": "x"}, content_type="application/json", headers=headers)
    refusal(answer, 403, "csrf_origin")
    assert browser.get("/api/v1/me").status_code == 200, "it is signed in still"
    assert settings.SESSION_COOKIE_SAMESITE == "Lax"


def test_a_write_with_a_cookie_from_our_own_pages_is_taken(company: None) -> None:
    browser = signed_in(Client(headers={"origin": ORIGIN}), a_person())
    answer = browser.post(
        "/api/v1/work", {"title": "x", "project": "ENG"}, content_type="application/json",
        headers={"idempotency-key": "k"},
    )  # fmt: skip
    assert answer.status_code == 201, answer.content
