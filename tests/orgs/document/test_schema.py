"""The committed JSON Schema is current, closed, marks secrets and agrees with the models."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orgs.document.schema import COMMITTED, DIALECT, schema, schema_text
from orgs.document.secrets import MASK, masked, restored, secret_places
from orgs.document.source import read
from orgs.document.validation import validate_data
from tests.orgs.companies import TWO_TEAMS, company

SUSPECT = re.compile(r"key|secret|token$|password|credential", re.IGNORECASE)
INNOCENT = {"token_budget"}


def objects(node: Any) -> list[dict[str, Any]]:
    found = [node] if isinstance(node, dict) and "properties" in node else []
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return found + [deep for part in inner for deep in objects(part)]


def test_the_committed_schema_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == schema_text(), (
        "Run: python manage.py company schema -o orgs/document/company.schema.json"
    )


def test_the_schema_is_valid_and_every_object_is_closed() -> None:
    made = schema()
    assert made["$schema"] == DIALECT
    Draft202012Validator.check_schema(made)
    assert all(item["additionalProperties"] is False for item in objects(made))


def test_every_field_that_looks_like_a_secret_is_marked() -> None:
    unmarked = []
    for item in objects(schema()):
        for name, field in item["properties"].items():
            if SUSPECT.search(name) and name not in INNOCENT:
                marked = "x-crewlet-secret" in str(field)
                unmarked += [] if marked else [name]
    assert unmarked == []
    assert "x-crewlet-secret" in schema_text()


def test_every_marked_field_is_one_that_masking_knows() -> None:
    marked = {
        name
        for item in objects(schema())
        for name, field in item["properties"].items()
        if "x-crewlet-secret" in str(field)
    }
    assert marked == {"api_keys"}, "Teach orgs.document.secrets.secret_places the new field."


ACCEPTED = [
    TWO_TEAMS,
    company("roles: [{name: A, llm: {default: a}}]\nproviders: {llm: {a: {type: rehearsal}}}"),
    company("roles: [{name: A, llm: [a]}]\nproviders: {llm: {a: {type: openai, model: m}}}"),
    company("roles: [{name: A, kind: human, contact: {github_login: a}, availability: x}]"),
]
REFUSED = [
    company("colour: red"),
    company("mission: ~"),
    company("mission: 3"),
    company("roles: [{name: A, kind: robot}]"),
    company("roles: [{name: A, handle: Not A Handle}]"),
    company("roles: [{name: A, schedules: []}]"),
    company("units: [{name: U, children: [{name: V, extra: 1}]}]"),
    company("units: [{name: U, project: eng}]"),
    company("token_budget: {day: 0}"),
    company("token_budget: {year: 5}"),
    company("providers: {llm: {a: {type: pigeon}}}"),
    company("providers: {llm: {a: {type: openai, model: m, api_keys: one}}}"),
    company("roles: [{name: A, llm: 3}]"),
    "mission: no name\n",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_the_models_accept_the_schema_accepts(text: str) -> None:
    data = read(text).data
    assert validate_data(data).problems == ()
    assert list(Draft202012Validator(schema()).iter_errors(data)) == []


@pytest.mark.parametrize("text", REFUSED)
def test_what_the_schema_can_refuse_both_refuse(text: str) -> None:
    data = read(text).data
    assert validate_data(data).problems
    assert not Draft202012Validator(schema()).is_valid(data)


def test_only_a_whole_reference_is_shown() -> None:
    data = read(
        company(
            "providers: {llm: {a: {type: openai, model: m, "
            'api_keys: ["${KEY}", "Bearer ${KEY}", "literal"]}}}'
        )
    ).data
    shown = masked(data)
    assert shown["providers"]["llm"]["a"]["api_keys"] == ["${KEY}", MASK, MASK]
    assert data["providers"]["llm"]["a"]["api_keys"][2] == "literal"
    assert len(list(secret_places(data))) == 3


def test_a_mask_is_restored_in_its_own_provider_and_never_from_a_neighbour() -> None:
    def keys(**by_name: list[str]) -> dict[str, Any]:
        return {
            "providers": {"llm": {name: {"api_keys": listed} for name, listed in by_name.items()}}
        }

    base = keys(a=["one", "two"], b=["three"])
    data, problems = restored(keys(b=[MASK], a=["one", MASK]), base)
    assert data == keys(b=["three"], a=["one", "two"])
    assert problems == []
    _, shorter = restored(keys(a=[MASK]), base)
    _, moved = restored(keys(c=[MASK]), base)
    assert [p.path for p in (*shorter, *moved)] == [
        "providers.llm.a.api_keys[0]",
        "providers.llm.c.api_keys[0]",
    ]
