"""The OpenAPI schema: valid, complete, and true of what the routes answer."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import URLPattern, URLResolver, get_resolver

from crewlet.doors.rest import UnknownActionView, UnknownRouteView
from crewlet.kernel.actions import ACTIONS, Door
from tests.api.conftest import Program


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The schema as the command writes it: invalid or with a warning, and the command fails."""
    out = io.StringIO()
    call_command("spectacular", "--format", "openapi-json", "--validate", "--fail-on-warn",
                 stdout=out)  # fmt: skip
    written: dict[str, Any] = json.loads(out.getvalue())
    return written


def routes(patterns: Iterable[URLPattern | URLResolver], under: str = "") -> Iterator[str]:
    """Every route below the API, as the schema spells it."""
    for pattern in patterns:
        place = under + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, place)
            continue
        view = getattr(pattern.callback, "view_class", None) or getattr(
            pattern.callback, "cls", None
        )
        if view not in (UnknownActionView, UnknownRouteView):
            plain = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"{\1}", place).replace("^", "").rstrip("$")
            yield "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", plain)


def test_the_schema_is_valid_without_a_warning_and_says_its_version(schema: dict[str, Any]) -> None:
    assert schema["openapi"] == "3.1.1"
    assert schema["info"]["title"] == "Crewlet"


def test_every_route_is_in_the_schema(schema: dict[str, Any]) -> None:
    there = {place for place in routes(get_resolver().url_patterns) if place.startswith("/api/v1/")}
    there -= {"/api/v1/schema"}
    assert there - set(schema["paths"]) == set()
    assert set(schema["paths"]) - there == set()


def test_every_action_of_the_rest_door_shows_its_arguments(schema: dict[str, Any]) -> None:
    for entry in ACTIONS.all(Door.REST):
        post = schema["paths"][f"/api/v1/act/{entry.name}"]["post"]
        assert post["operationId"] == f"act_{entry.name}"
        assert post["description"] == entry.description
        keys = [one["name"] for one in post.get("parameters", []) if one["in"] == "header"]
        assert keys == ([] if entry.reads else ["Idempotency-Key"])
        body = post.get("requestBody", {}).get("content", {}).get("application/json", {})
        if entry.args.model_fields:
            name = body["schema"]["$ref"].rpartition("/")[2]
            shown = schema["components"]["schemas"][name]
            assert set(shown["properties"]) == set(entry.args.model_fields)
            assert shown["additionalProperties"] is False


def test_operation_ids_are_unique(schema: dict[str, Any]) -> None:
    ids = [
        operation["operationId"]
        for methods in schema["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict)
    ]
    assert len(ids) == len(set(ids))


def resolved(schema: dict[str, Any], shape: dict[str, Any]) -> dict[str, Any]:
    """A shape with its references looked up."""
    while "$ref" in shape:
        shape = schema["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
    return shape


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("/agents", "agents"), ("/agents/{handle}", ""), ("/turns", "turns"), ("/work", "items"),
        ("/work/{key}", ""), ("/events", "events"), ("/budgets", ""), ("/org", ""), ("/me", ""),
        ("/work/projects", "projects"), ("/work/my-work", ""), ("/stream/snapshot", ""),
        ("/me/inbox", ""), ("/config/revisions", "revisions"),
    ],
)  # fmt: skip
def test_an_answer_has_the_names_that_the_schema_promises(
    ana: Program, schema: dict[str, Any], path: str, rows: str
) -> None:
    key = ana.filed("Lamp", assignee="qa")
    ok = schema["paths"][f"/api/v1{path}"]["get"]["responses"]["200"]
    shape = resolved(schema, ok["content"]["application/json"]["schema"])
    answer = ana.get(path.format(handle="qa", key=key))
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert set(shape["required"]) <= set(body) <= set(shape["properties"])
    for row in body[rows] if rows else []:
        row_shape = resolved(schema, shape["properties"][rows]["items"])
        assert set(row_shape["required"]) <= set(row) <= set(row_shape["properties"])


def test_the_schema_is_served_to_who_is_known(ana: Program) -> None:
    answer = ana.get("/schema")
    assert answer.status_code == 200
    assert answer.json()["openapi"] == "3.1.1"
