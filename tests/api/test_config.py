"""The document over REST beside the rest of the API: ETag, If-Match, both spellings, why, once.

`tests/orgs/test_config_api.py` holds the document's own rules; this is the whole site around it.
"""

from __future__ import annotations

from typing import Any

import pytest

from orgs.models.company import ConfigRevision
from tests.api.conftest import Program, refusal
from tests.tracker.company import COMPANY

BRIGHT = COMPANY.replace("Light where it is needed", "Light for all")


def put(program: Program, body: str | bytes, kind: str = "application/yaml", **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return program.client.put("/api/v1/config", body, content_type=kind, headers=named)


def test_yaml_and_json_go_in_and_the_etag_moves_on(ana: Program) -> None:
    before = ana.get("/config")
    assert before.json()["mission"] == "Light where it is needed"
    by_yaml = put(ana, BRIGHT, if_match=before["ETag"], x_summary="A wider aim")
    assert by_yaml.status_code == 201, by_yaml.content
    after = ana.get("/config")
    assert after["ETag"] == by_yaml["ETag"] != before["ETag"]
    assert after.json()["mission"] == "Light for all"
    document = {**after.json(), "mission": "Light by JSON"}
    by_json = ana.send("PUT", "/config", document, if_match=after["ETag"], x_summary="By JSON")
    assert by_json.status_code == 201, by_json.content
    assert ana.get("/config").json()["mission"] == "Light by JSON"
    told = ana.get("/config/revisions").json()["revisions"]
    assert [row["summary"] for row in told] == ["By JSON", "A wider aim", "for the tests"]
    assert [row["active"] for row in told] == [True, False, False]
    assert told[0]["author"] == "ana"


@pytest.mark.covers("ORG-51")
def test_somebody_who_saved_first_is_named_and_nothing_of_theirs_is_lost(ana: Program) -> None:
    base = ana.get("/config")["ETag"]
    theirs = put(ana, BRIGHT, if_match=base, x_summary="Theirs")
    late = put(ana, COMPANY, if_match=base, x_summary="Mine, too late")
    detail = refusal(late, 409, "revision_advanced")
    assert f'"{detail["current_version"]}"' == theirs["ETag"] == ana.get("/config")["ETag"]
    stored = ana.get(f"/config/revisions/{detail['stored_revision_id']}").json()
    assert (stored["summary"], stored["active"]) == ("Mine, too late", False)
    refusal(put(ana, COMPANY, if_none_match="*", x_summary="New"), 412, "precondition_failed")


def test_a_change_without_a_reason_is_refused_by_name(ana: Program) -> None:
    answer = put(ana, BRIGHT)
    detail = refusal(answer, 400, "summary_required")
    assert "X-Summary" in answer.json()["message"] or detail.get("field")
    assert ConfigRevision.objects.count() == 1


def test_a_reason_may_be_in_any_language(ana: Program) -> None:
    headers = {"x-summary": "Größere Ziele".encode().decode("latin-1")}
    answer = ana.client.put(
        "/api/v1/config", BRIGHT, content_type="application/yaml", headers=headers
    )
    assert answer.status_code == 201, answer.content
    assert ConfigRevision.objects.order_by("-id")[0].summary == "Größere Ziele"


def test_a_put_that_is_repeated_makes_one_revision(ana: Program) -> None:
    first, again = (put(ana, BRIGHT, idempotency_key="k", x_summary="Once") for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["revision_id"] == again.json()["revision_id"]
    assert ConfigRevision.objects.count() == 2
    other = put(ana, COMPANY, idempotency_key="k", x_summary="Once")
    refusal(other, 409, "operation_conflict")


def test_a_dry_run_answers_what_would_be_and_keeps_nothing(ana: Program) -> None:
    answer = ana.client.put("/api/v1/config?dry_run=true", BRIGHT, content_type="application/yaml")
    assert (answer.status_code, answer.json()["valid"]) == (200, True)
    assert ConfigRevision.objects.count() == 1
    refusal(
        ana.client.put("/api/v1/config?dry_run=maybe", BRIGHT, content_type="application/yaml"),
        400, "invalid_query",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "words"),
    [("name: [", "line"), (BRIGHT + "colour: red\n", "colour")],
    ids=["no yaml", "no such key"],
)
def test_a_document_with_faults_is_refused_with_their_places(
    ana: Program, body: str, words: str
) -> None:
    answer = put(ana, body, x_summary="Wrong")
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert answer.json()["detail"]["problems"]
    assert ConfigRevision.objects.count() == 1


def test_yaml_comes_out_by_name_and_by_accept(ana: Program) -> None:
    by_name = ana.get("/config", format="yaml")
    by_accept = ana.client.get("/api/v1/config", headers={"accept": "application/yaml"})
    assert by_name.content == by_accept.content
    assert b"name: Lantern Works" in by_name.content
    again = put(ana, by_name.content, x_summary="As it came out", if_match=by_name["ETag"])
    assert again.status_code in (200, 201), again.content
