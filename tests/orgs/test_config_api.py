"""The document and the chart over REST."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from crewlet.kernel.actors import engine_actor
from crewlet.kernel.authority import Grant
from orgs import epochs, revisions
from orgs.document.schema import schema
from orgs.document.source import read
from orgs.models.company import ConfigRevision
from tests.orgs.companies import TWO_TEAMS, company, without
from tests.orgs.document.test_validation import TEN_FAULTS
from tests.support.people import a_person, signed_in

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.urls("tests.orgs.config_urls"),
]

CONFIG = "/api/v1/config"
KEYED = company("providers: {llm: {a: {type: openai, model: m, api_keys: [literal, '${KEY}']}}}")


@pytest.fixture
def client() -> Client:
    return signed_in(Client(headers={"origin": "http://testserver"}), a_person())


def reader(*grants: Grant) -> Client:
    person = a_person("rosa.reader", grants=grants)
    return signed_in(Client(headers={"origin": "http://testserver"}), person)


def put(client: Client, text: str, *, summary: str = "A change", **headers: str) -> Any:
    sent = {"X-Summary": summary, **{k.replace("_", "-"): v for k, v in headers.items()}}
    path = sent.pop("path", CONFIG)
    return client.put(path, text, content_type="application/yaml", headers=sent)


def test_without_a_company_reads_and_writes_say_so(client: Client) -> None:
    missing = client.get(CONFIG)
    assert missing.status_code == 404
    assert missing.json()["error"] == "no_active_revision"
    assert client.get("/api/v1/org").status_code == 503
    early = put(client, TWO_TEAMS, If_Match='"018f0000-0000-7000-8000-000000000000"')
    assert early.status_code == 412


def test_a_document_is_put_read_and_put_again(client: Client) -> None:
    made = put(client, TWO_TEAMS, If_None_Match="*")
    assert made.status_code == 201, made.content
    assert made.json()["epoch"] == epochs.current()
    assert made.json()["derived"]["units"]["night"]["lead"] == "baker-lead"
    shown = client.get(CONFIG)
    assert shown["ETag"] == f'"{made.json()["revision_id"]}"'
    assert shown["Cache-Control"] == "no-store"
    document = shown.json()
    assert document["units"][0]["roles"][0]["handle"] == "baker-lead"
    again = client.put(
        CONFIG,
        json.dumps({**document, "_summary": "By JSON"}),
        content_type="application/json",
        headers={"If-Match": shown["ETag"]},
    )
    assert again.status_code == 201, again.content
    assert ConfigRevision.objects.order_by("-id")[0].summary == "By JSON"
    assert put(client, TWO_TEAMS, If_None_Match="*").status_code == 412


def test_yaml_goes_in_and_out(client: Client) -> None:
    put(client, TWO_TEAMS)
    by_query = client.get(f"{CONFIG}?format=yaml")
    by_header = client.get(CONFIG, headers={"accept": "application/yaml"})
    assert by_query["Content-Type"].startswith("application/yaml")
    assert by_query.content == by_header.content
    assert read(by_query.content).data == client.get(CONFIG).json()


def test_a_dry_run_answers_what_would_be_and_keeps_nothing(client: Client) -> None:
    tried = put(client, TWO_TEAMS, path=f"{CONFIG}?dry_run=true")
    assert tried.status_code == 200, tried.content
    assert tried.json()["valid"] is True
    assert tried.json()["derived"]["seats"]["baker"]["primary_manager"] == "baker-lead"
    assert not ConfigRevision.objects.exists()
    assert put(client, TWO_TEAMS, path=f"{CONFIG}?dry_run=yes").status_code == 400


def test_faults_are_answered_with_their_places(client: Client) -> None:
    refused = put(client, TEN_FAULTS)
    body: dict[str, Any] = refused.json()
    assert (refused.status_code, body["error"]) == (400, "validation_error")
    assert len(body["detail"]["problems"]) == 10
    assert body["detail"]["problems"][0]["line"] == 2
    assert not ConfigRevision.objects.exists()
    assert put(client, TWO_TEAMS, summary="").json()["error"] == "summary_required"


@pytest.mark.covers("ORG-51")
def test_the_second_of_two_saves_is_told_and_kept(client: Client) -> None:
    """409 with the kept revision's id."""
    first = put(client, TWO_TEAMS).json()["revision_id"]
    second = put(client, TWO_TEAMS, If_Match=f'"{first}"').json()["revision_id"]
    late = put(client, without(TWO_TEAMS, "Seller"), If_Match=f'"{first}"')
    assert late.status_code == 409
    assert late.json()["error"] == "revision_advanced"
    assert late.json()["detail"]["current_version"] == second
    stored = late.json()["detail"]["stored_revision_id"]
    kept = client.get(f"{CONFIG}/revisions/{stored}").json()
    assert (kept["active"], kept["epochs"], kept["parent"]) == (False, [], first)


def test_the_same_idempotency_key_lands_once(client: Client) -> None:
    one = put(client, TWO_TEAMS, Idempotency_Key="k1").json()
    two = put(client, TWO_TEAMS, Idempotency_Key="k1").json()
    assert one["revision_id"] == two["revision_id"]
    assert ConfigRevision.objects.count() == 1


def test_http_never_shows_a_key_and_takes_the_mask_back(client: Client) -> None:
    put(client, KEYED)
    for path in (CONFIG, f"{CONFIG}?format=yaml"):
        shown = client.get(path)
        assert b"literal" not in shown.content
        assert b"${KEY}" in shown.content
    masked = client.get(f"{CONFIG}?format=yaml").content.decode()
    assert put(client, masked).status_code == 201
    stored = epochs.active_revision().payload
    assert stored["providers"]["llm"]["a"]["api_keys"] == ["literal", "${KEY}"]


@pytest.mark.covers("ORG-40")
def test_history_lists_the_newest_first_in_pages(client: Client) -> None:
    for number in range(3):
        put(client, TWO_TEAMS, summary=f"Change {number} é")
    page = client.get(f"{CONFIG}/revisions?limit=2").json()
    assert [row["summary"] for row in page["revisions"]] == ["Change 2 é", "Change 1 é"]
    assert page["revisions"][0]["active"] is True
    rest = client.get(f"{CONFIG}/revisions?limit=2&before={page['next']}").json()
    assert [row["summary"] for row in rest["revisions"]] == ["Change 0 é"]
    assert rest["next"] is None
    assert client.get(f"{CONFIG}/revisions?limit=0").status_code == 400


def test_each_door_wants_its_grant(client: Client) -> None:
    put(client, TWO_TEAMS)
    other = reader(Grant.STATE_READ)
    assert other.get(CONFIG).status_code == 403
    assert other.get(f"{CONFIG}/revisions").status_code == 403
    refused = put(other, TWO_TEAMS)
    assert (refused.status_code, refused.json()["detail"]["grants"]) == (403, ["config:write"])
    assert put(other, TWO_TEAMS, path=f"{CONFIG}?dry_run=true").status_code == 403
    assert other.get("/api/v1/org").status_code == 200
    assert Client().get(CONFIG).status_code == 401


def test_the_schema_is_served(client: Client) -> None:
    assert client.get(f"{CONFIG}/schema").json() == schema()


@pytest.mark.covers("ORG-19")
def test_the_org_shows_the_tree_and_never_a_contact_or_a_key() -> None:
    revisions.apply_document(
        engine_actor("test"),
        TWO_TEAMS.replace(
            "email: rita@harbour.example",
            "email: rita@harbour.example\n    contact: {github_login: ritacodes}",
        ),
        summary="Org",
    )
    plain = reader(Grant.STATE_READ).get("/api/v1/org")
    body = plain.json()
    assert body["name"] == "Harbour Bakery"
    assert body["token_budget"] == {"day": 100000, "week": None, "month": None}
    assert [unit["key"] for unit in body["units"]] == ["bakery", "shop"]
    night = body["units"][0]["children"][0]
    assert (night["lead"], night["lead_inherited"], night["members"]) == (
        "baker-lead", True, ["night-baker"],
    )  # fmt: skip
    seats = {seat["handle"]: seat for seat in body["seats"]}
    assert seats["baker"]["primary_manager"] == "baker-lead"
    assert seats["night-baker"]["project"] == "BAKE"
    assert not any("chain" in seat or "tool_sources" in seat for seat in body["seats"])
    for hidden in (b"ritacodes", b"harbour.example", b"rehearsal"):
        assert hidden not in plain.content


@pytest.mark.covers("ORG-19")
def test_chains_need_the_grant_to_read_the_configuration(client: Client) -> None:
    put(client, TWO_TEAMS.replace("goal: Good bread", "goal: Good bread, llm: zeta"))
    seats = {seat["handle"]: seat for seat in client.get("/api/v1/org").json()["seats"]}
    assert seats["baker-lead"]["chain"]["review"] == ["zeta"]
    assert seats["baker"]["tool_sources"] == ["builtin"]
    assert "chain" not in seats["rita"]


@pytest.mark.covers("ORG-19")
def test_the_servers_of_a_seat_are_named_among_its_sources_of_tools(client: Client) -> None:
    """Shared ones for everybody; one that is not for who has variables for it, itself or by the
    unit it sits in."""
    servers = (
        "\nmcp_servers:\n"
        "  - {name: find, command: npx, shared: true}\n"
        "  - {name: far, command: npx, shared: false}\n"
        "  - {name: near, command: npx, shared: false}\n"
    )
    given = TWO_TEAMS.replace("goal: Good bread", "goal: Good bread, mcp_env: {far: {TOKEN: a}}")
    put(client, given + servers)
    seats = {seat["handle"]: seat for seat in client.get("/api/v1/org").json()["seats"]}
    assert seats["baker-lead"]["tool_sources"] == ["builtin", "mcp:find", "mcp:far"]
    assert seats["baker"]["tool_sources"] == ["builtin", "mcp:find"]
    assert "tool_sources" not in seats["rita"]


def test_the_api_schema_describes_these_routes_without_a_warning(client: Client) -> None:
    from drf_spectacular.drainage import GENERATOR_STATS
    from drf_spectacular.generators import SchemaGenerator  # at import it reads the urlconf
    from drf_spectacular.validation import validate_schema

    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        made = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    validate_schema(made)  # type: ignore[no-untyped-call]
    told = [str(line) for line in (*GENERATOR_STATS._error_cache, *GENERATOR_STATS._warn_cache)]
    assert [line for line in told if "orgs/api" in line and "authenticator" not in line] == []
    assert {"/api/v1/config", "/api/v1/org", "/api/v1/config/revisions"} <= set(made["paths"])
