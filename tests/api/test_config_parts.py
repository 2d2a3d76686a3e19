"""Parts of the document over REST: patches, single entities, reverts, reloads, references."""

from __future__ import annotations

from typing import Any

import pytest

from crewlet.kernel.authority import Grant
from orgs.models.company import Activation, ConfigRevision
from tests.api.conftest import Program, refusal
from tests.tracker.company import COMPANY

PATCH = "application/merge-patch+json"
KEYS = COMPANY + (
    "integrations:\n"
    '  gitlab: {token: "literal-token", signing_secret: "${SIGN}"}\n'
    "mcp_servers:\n"
    '  - {name: find, command: npx, env: {KEY: "literal-key", OTHER: "${SIGN}"}}\n'
)


def patch(program: Program, body: str, kind: str = PATCH, query: str = "", **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    path = f"/api/v1/config{query}"
    return program.client.patch(path, body, content_type=kind, headers=named)


def put(program: Program, path: str, body: str, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return program.client.put(
        f"/api/v1{path}", body, content_type="application/json", headers=named
    )


def running() -> dict[str, Any]:
    payload: dict[str, Any] = Activation.objects.order_by("-id")[0].revision.payload
    return payload


@pytest.fixture
def keyed(ana: Program) -> Program:
    """A company that holds literal secrets."""
    answer = put(ana, "/config", KEYS, x_summary="With keys")
    assert answer.status_code == 201, answer.content
    return ana


@pytest.mark.covers("ORG-38")
def test_a_merge_patch_changes_what_it_names_and_null_removes(keyed: Program) -> None:
    """What was hidden and not named by the patch stays as it was."""
    base = keyed.get("/config")["ETag"]
    body = '{"mission": "Light for all", "integrations": {"gitlab": {"signing_secret": null}}}'
    answer = patch(keyed, body, if_match=base, x_summary="Patch")
    assert answer.status_code == 201, answer.content
    assert keyed.get("/config")["ETag"] == answer["ETag"] != base
    assert running()["mission"] == "Light for all"
    assert running()["integrations"]["gitlab"] == {"token": "literal-token"}
    assert running()["mcp_servers"][0]["env"]["KEY"] == "literal-key"
    late = patch(keyed, '{"vision": "v"}', if_match=base, x_summary="Late")
    detail = refusal(late, 409, "revision_advanced")
    assert f'"{detail["current_version"]}"' == answer["ETag"]


def test_only_a_merge_patch_with_a_reason_is_taken(ana: Program) -> None:
    refusal(patch(ana, "[]", kind="application/json-patch+json"), 415, "unsupported_media")
    refusal(patch(ana, "[]", x_summary="w"), 400, "invalid_patch")
    refusal(patch(ana, "{", x_summary="w"), 400, "invalid_patch")
    refusal(patch(ana, '{"mission": "m"}'), 400, "summary_required")
    refusal(patch(ana, '{"colour": "red"}', x_summary="w"), 400, "validation_error")
    assert ConfigRevision.objects.count() == 1
    by_body = patch(ana, '{"mission": "m", "_summary": "In the body"}')
    assert by_body.status_code == 201, by_body.content
    assert ConfigRevision.objects.order_by("-id")[0].summary == "In the body"


def test_a_dry_patch_keeps_nothing_and_a_repeated_one_makes_one_revision(ana: Program) -> None:
    dry = patch(ana, '{"mission": "m"}', query="?dry_run=true")
    assert (dry.status_code, dry.json()["valid"]) == (200, True)
    refusal(patch(ana, "{}", query="?dry_run=1"), 400, "invalid_query")
    assert ConfigRevision.objects.count() == 1
    first, again = (
        patch(ana, '{"mission": "m"}', x_summary="Once", idempotency_key="k") for _ in range(2)
    )
    assert first.json()["revision_id"] == again.json()["revision_id"]
    assert ConfigRevision.objects.count() == 2


def test_one_entity_is_read_hidden_and_written_whole(keyed: Program) -> None:
    seen = keyed.get("/config/mcp-servers/find")
    assert seen.json()["env"] == {"KEY": "__redacted__", "OTHER": "${SIGN}"}
    body = '{"name": "find", "command": "uvx", "env": {"KEY": "__redacted__"}}'
    answer = put(keyed, "/config/mcp-servers/find", body, if_match=seen["ETag"], x_summary="uvx")
    assert answer.status_code == 201, answer.content
    assert running()["mcp_servers"] == [
        {"name": "find", "command": "uvx", "env": {"KEY": "literal-key"}}
    ]
    swe = keyed.get("/config/roles/agent-swe").json()
    assert swe["handle"] == "agent-swe"
    dry = put(keyed, "/config/roles/agent-swe?dry_run=true", '{"name": "Agent SWE", "goal": "g"}')
    assert (dry.status_code, dry.json()["valid"]) == (200, True)


def test_an_entity_is_neither_renamed_nor_made_by_accident(ana: Program) -> None:
    fresh = '{"type": "rehearsal", "_summary": "A spare"}'
    refusal(ana.get("/config/roles/nobody"), 404, "no_such_entity")
    refusal(put(ana, "/config/llm-providers/spare", fresh), 404, "no_such_entity")
    made = put(ana, "/config/llm-providers/spare", fresh, if_none_match="*")
    assert made.status_code == 201, made.content
    assert running()["providers"]["llm"]["spare"] == {"type": "rehearsal"}
    again = put(ana, "/config/llm-providers/spare", fresh, if_none_match="*")
    refusal(again, 412, "precondition_failed")
    renamed = put(
        ana, "/config/roles/agent-swe", '{"name": "X", "handle": "other"}', x_summary="Rename"
    )
    refusal(renamed, 400, "identity_mismatch")
    assert ana.client.delete("/api/v1/config/roles/agent-swe").status_code == 405
    assert ana.client.patch("/api/v1/config/roles/agent-swe").status_code == 405


@pytest.mark.covers("ORG-40")
def test_an_earlier_revision_comes_back_as_a_new_one(ana: Program) -> None:
    """A revert adds to the history and never rewrites it."""
    first = ana.get("/config")["ETag"].strip('"')
    assert patch(ana, '{"mission": "m"}', x_summary="Away").status_code == 201
    answer = ana.client.post(
        f"/api/v1/config/revisions/{first}/revert", headers={"x-summary": "Back"}
    )
    assert answer.status_code == 201, answer.content
    assert running()["mission"] == "Light where it is needed"
    assert [r["summary"] for r in ana.get("/config/revisions").json()["revisions"]] == [
        "Back", "Away", "for the tests",
    ]  # fmt: skip


@pytest.mark.covers("ORG-41")
def test_a_reload_is_a_new_epoch_of_the_same_revision(ana: Program) -> None:
    before = Activation.objects.order_by("-id")[0]
    answer = ana.client.post("/api/v1/config/reload")
    assert answer.status_code == 201, answer.content
    after = Activation.objects.order_by("-id")[0]
    assert (after.revision_id, after.id > before.id) == (before.revision_id, True)
    assert answer.json()["epoch"] == after.id


def test_a_document_is_checked_without_being_kept(ana: Program) -> None:
    body = "name: x\nroles: [{name: A, backstroy: x}]\ncolour: red\n"
    answer = ana.client.post("/api/v1/config/validate", body, content_type="text/plain")
    assert answer.json()["valid"] is False
    assert {p["path"] for p in answer.json()["problems"]} == {"roles[0].backstroy", "colour"}
    fine = ana.client.post("/api/v1/config/validate", COMPANY, content_type="application/yaml")
    assert (fine.json()["valid"], fine.json()["problems"]) == (True, [])
    assert ConfigRevision.objects.count() == 1


@pytest.mark.covers("ORG-135")
def test_each_reference_is_listed_with_the_places_that_use_it(keyed: Program) -> None:
    """The index."""
    rows = keyed.get("/config/references").json()["references"]
    assert {row["name"]: row["paths"] for row in rows} == {
        "SIGN": ["integrations.gitlab.signing_secret", "mcp_servers[0].env.OTHER"]
    }


@pytest.mark.covers("ORG-37", "ORG-38")
def test_every_answer_hides_literals_and_comes_back_unchanged(keyed: Program) -> None:
    """HTTP always masks; what was exported goes in again with no difference."""
    for path in ("/config", "/config?format=yaml", "/config/mcp-servers/find"):
        assert b"literal" not in keyed.client.get(f"/api/v1{path}").content
    text = keyed.client.get("/api/v1/config?format=yaml").content.decode()
    answer = put(keyed, "/config", text, x_summary="As it came out")
    assert answer.status_code == 201, answer.content
    diff = keyed.get(f"/config/revisions/{answer.json()['revision_id']}/diff").json()
    assert diff["differences"] == []


def test_each_door_wants_its_grant(ana: Program) -> None:
    reader = Program(None, Grant.STATE_READ)
    for path in ("/config/references", "/config/roles/agent-swe"):
        assert reader.get(path).status_code == 403
    refusal(patch(reader, '{"mission": "m"}', x_summary="x"), 403, "forbidden")
    refusal(patch(reader, '{"mission": "m"}', query="?dry_run=true"), 403, "forbidden")
    refusal(put(reader, "/config/roles/agent-swe", "{}", x_summary="x"), 403, "forbidden")
    assert reader.client.post("/api/v1/config/reload").status_code == 403
