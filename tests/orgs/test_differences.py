"""What a revision changed, told by who and what it is."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.test import Client
from hypothesis import given

from crewlet.kernel.actors import engine_actor
from orgs import revisions
from orgs.document.differences import Difference, differences
from orgs.document.source import read
from orgs.queries import company as queries
from tests.orgs.companies import TWO_TEAMS, company, without
from tests.orgs.test_chart import companies
from tests.support.people import a_person, signed_in


def changes(before: str, after: str) -> list[tuple[str, str, str]]:
    found = differences(read(before).data, read(after).data)
    return [(row.entity, row.field, row.kind) for row in found]


@pytest.mark.covers("ORG-40")
def test_a_seat_that_moves_is_one_change_and_not_two_seats() -> None:
    moved = without(TWO_TEAMS, "Seller").replace(
        "  - name: Chief\n", "  - {name: Seller, handle: seller, goal: Know every customer}\n"
        "  - name: Chief\n"
    )  # fmt: skip
    (row,) = differences(read(TWO_TEAMS).data, read(moved).data)
    assert row == Difference("seat seller", "unit", "changed", "shop", "")


@pytest.mark.covers("ORG-40")
def test_order_alone_is_no_difference_and_each_field_is_its_own() -> None:
    swapped = company("roles: [{name: A, handle: a}, {name: B, handle: b}]")
    other = company("roles: [{name: B, handle: b}, {name: A, handle: a}]")
    assert changes(swapped, other) == []
    text = TWO_TEAMS.replace("Bread by six", "Bread by five").replace("lead: shop-lead", "lead: x")
    assert changes(TWO_TEAMS, text) == [
        ("company", "mission", "changed"),
        ("unit shop", "lead", "changed"),
    ]


@pytest.mark.covers("ORG-40")
def test_what_comes_and_goes_is_told_whole() -> None:
    text = without(TWO_TEAMS, "Seller").replace("    alpha: {type", "    beta: {type")
    assert changes(TWO_TEAMS, text) == [
        ("provider beta", "", "added"),
        ("provider alpha", "", "removed"),
        ("seat seller", "", "removed"),
    ]
    deep = TWO_TEAMS.replace(
        "        id: night\n", "        id: night\n        purpose: Sleeps by day\n"
    )
    assert changes(TWO_TEAMS, deep) == [("unit night", "purpose", "changed")]


@pytest.mark.covers("ORG-40", "ORG-39")
def test_a_changed_secret_shows_as_a_change_and_never_as_its_value() -> None:
    keyed = company("providers: {llm: {a: {type: openai, model: m, api_keys: [sk-first]}}}")
    (row,) = differences(read(keyed).data, read(keyed.replace("sk-first", "sk-second")).data)
    assert (row.entity, row.field, row.kind) == ("provider a", "api_keys", "changed")
    assert "sk-" not in json.dumps(row.as_json())
    added = differences({}, read(keyed).data)
    assert "sk-" not in json.dumps([row.as_json() for row in added])


@given(companies(), companies())
def test_there_and_back_are_the_same_places(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert differences(one, one) == []
    there, back = differences(one, two), differences(two, one)
    assert {(d.entity, d.field) for d in there} == {(d.entity, d.field) for d in back}
    flipped = {"added": "removed", "removed": "added", "changed": "changed"}
    assert {(d.entity, d.kind) for d in there} == {(d.entity, flipped[d.kind]) for d in back}


def apply(text: str) -> UUID:
    applied = revisions.apply_document(engine_actor("test"), text, summary="A change")
    assert applied.revision_id is not None
    return applied.revision_id


@pytest.mark.covers("ORG-40")
@pytest.mark.django_db
def test_a_revision_is_compared_with_the_one_it_was_made_from_or_any_other() -> None:
    """Over REST and at the terminal."""
    first = apply(TWO_TEAMS)
    second = apply(without(TWO_TEAMS, "Seller"))
    third = apply(without(TWO_TEAMS, "Seller").replace("Bread by six", "Bread by five"))
    client = signed_in(Client(), a_person())
    path = f"/api/v1/config/revisions/{third}/diff"
    shown = client.get(path).json()
    assert (shown["revision_id"], shown["against"]) == (str(third), str(second))
    assert [row["field"] for row in shown["differences"]] == ["mission"]
    far = client.get(path, {"against": str(first)}).json()
    assert [row["entity"] for row in far["differences"]] == ["company", "seat seller"]
    assert client.get(path, {"against": str(UUID(int=0))}).status_code == 404
    assert client.get(path, {"against": "yesterday"}).status_code == 400
    assert queries.revision_diff(first)["against"] is None

    out = StringIO()
    call_command("company", "diff", "current", "--against", str(first), stdout=out)
    assert out.getvalue().splitlines() == [
        '~ company: mission: "Bread by six, every day" -> "Bread by five, every day"',
        "- seat seller",
    ]
    out = StringIO()
    call_command("company", "diff", str(third), "--against", str(third), stdout=out)
    assert out.getvalue().strip() == "Nothing is different."


@pytest.mark.django_db
def test_what_changed_is_shown_to_who_may_read_the_configuration() -> None:
    revision = apply(TWO_TEAMS)
    stranger = signed_in(Client(), a_person("rosa.reader", grants=()))
    answer = stranger.get(f"/api/v1/config/revisions/{revision}/diff")
    assert (answer.status_code, answer.json()["detail"]["grants"]) == (403, ["config:read"])
