"""The committed JSON Schema is current, closed, marks secrets and agrees with the models."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orgs.document.schema import COMMITTED, DIALECT, schema, schema_text
from orgs.document.secrets import MASK, masked, restored, secret_places
from orgs.document.source import read
from orgs.document.validation import validate_data
from tests.orgs.companies import TWO_TEAMS, company
from tests.orgs.document.full import FULL

SUSPECT = re.compile(r"key|secret|token$|password|credential|^env$|headers|mcp_env", re.IGNORECASE)
INNOCENT = {"token_budget"}


def objects(node: Any) -> list[dict[str, Any]]:
    found = [node] if isinstance(node, dict) and "properties" in node else []
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return found + [deep for part in inner for deep in objects(part)]


@pytest.mark.covers("ORG-33")
def test_the_committed_schema_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == schema_text(), (
        "Run: python manage.py company schema -o orgs/document/company.schema.json"
    )


@pytest.mark.covers("ORG-33")
def test_the_schema_is_valid_and_every_object_is_closed() -> None:
    made = schema()
    assert made["$schema"] == DIALECT
    Draft202012Validator.check_schema(made)
    assert all(item["additionalProperties"] is False for item in objects(made))


@pytest.mark.covers("ORG-39")
def test_every_field_that_looks_like_a_secret_is_marked() -> None:
    """A field that may open something is declared as one."""
    unmarked = []
    for item in objects(schema()):
        for name, field in item["properties"].items():
            if SUSPECT.search(name) and name not in INNOCENT:
                unmarked += [] if "x-crewlet-secret" in str(field) else [name]
    assert unmarked == []


def _example(node: dict[str, Any], defs: dict[str, Any], depth: int) -> Any:
    """Writes a value with every key the schema knows, to a depth."""
    if "$ref" in node:
        return _example(defs[node["$ref"].rsplit("/", 1)[1]], defs, depth)
    for word in ("anyOf", "oneOf"):
        if word in node:
            return _example(node[word][-1], defs, depth)
    if "properties" in node:
        return (
            {
                name: _example(inner, defs, depth - 1)
                for name, inner in node["properties"].items()
                if depth or name != "children"
            }
            if depth > 0
            else {}
        )
    if node.get("type") == "object":
        free = [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]
        inner = next((found for found in free if isinstance(found, dict)), None)
        return {} if inner is None else {"some": _example(inner, defs, depth - 1)}
    if node.get("type") == "array":
        return [_example(node.get("items", {}), defs, depth - 1)]
    return "opens-a-door" if node.get("x-crewlet-secret") else "x"


@pytest.mark.covers("ORG-39")
def test_masking_finds_every_marked_field_wherever_the_schema_has_one() -> None:
    made = schema()
    whole = _example(made, made["$defs"], 9)
    text = json.dumps(whole)
    assert text.count("opens-a-door") > 30
    shown = json.dumps(masked(whole))
    assert "opens-a-door" not in shown
    assert shown.count(MASK) == text.count("opens-a-door")


ACCEPTED = [
    FULL,
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
    company("roles: [{name: A, schedules: [{name: x, cron: daily, task: t}]}]"),
    company("roles: [{name: A, schedules: [{name: x, cron: '* * * *', task: t}]}]"),
    company("roles: [{name: A, integrations: {slack: {colour: red}}}]"),
    company("turn_engine: {max_iterations: 0}"),
    company("turn_engine: {delegation: {budget_fraction: 1.5}}"),
    company("providers: {sandbox: {type: cloud}}"),
    company("providers: {llm: {a: {type: cli-agent, cli: {agent: emacs}}}}"),
    company("tracker: {backend: trello}"),
    company("mcp_servers: [{name: a, command: b, tool_annotations: {t: {danger: true}}}]"),
    company("learning: {reflect: {enabled: maybe}}"),
    company("integrations: {gitlab: {tokens: []}}"),
    company("units: [{name: U, children: [{name: V, extra: 1}]}]"),
    company("units: [{name: U, project: eng}]"),
    company("token_budget: {day: 0}"),
    company("token_budget: {year: 5}"),
    company("providers: {llm: {a: {type: pigeon}}}"),
    company("providers: {llm: {a: {type: openai, model: m, api_keys: one}}}"),
    company("roles: [{name: A, llm: 3}]"),
    "mission: no name\n",
]


@pytest.mark.covers("ORG-33")
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


SECRETS = """
providers:
  llm: {a: {type: openai, model: m, api_keys: [one, two]}}
  sandbox: {setup: [{name: git, env: {TOKEN: three}}, {name: npm, env: {TOKEN: four}}]}
mcp_servers:
  - {name: chat, command: x, env: {KEY: five}}
  - {name: find, command: x, env: {KEY: six}}
units:
  - name: Core
    id: core
    mcp_env: {chat: {K: seven}}
    roles:
      - {name: A, handle: a, mcp_env: {chat: {K: eight}}}
      - {name: B, handle: b, integrations: {slack: {bot_token: nine, signing_secret: ten}}}
  - {name: Side, id: side}
"""


@pytest.mark.covers("ORG-38")
def test_masks_come_back_by_who_and_what_they_belong_to_across_moves() -> None:
    """A seat that moved, servers and steps that changed places keep their own values."""
    base = read(company(SECRETS)).data
    moved = masked(base)
    assert not any(word in json.dumps(moved) for word in ("one", "five", "eight", "nine"))
    moved["mcp_servers"].reverse()
    moved["providers"]["sandbox"]["setup"].reverse()
    moved["units"].reverse()
    moved["units"][0]["roles"] = [moved["units"][1]["roles"].pop(1)]
    data, problems = restored(moved, base)
    assert problems == []
    assert [s["env"]["KEY"] for s in data["mcp_servers"]] == ["six", "five"]
    assert [s["env"]["TOKEN"] for s in data["providers"]["sandbox"]["setup"]] == ["four", "three"]
    assert data["units"][0]["roles"][0]["integrations"]["slack"]["bot_token"] == "nine"
    assert data["units"][1]["roles"][0]["mcp_env"]["chat"]["K"] == "eight"
    assert data["units"][1]["mcp_env"]["chat"]["K"] == "seven"


@pytest.mark.covers("ORG-38")
def test_a_mask_with_nothing_behind_it_is_refused_by_its_field() -> None:
    """Another handle, another name and a list of another length get nobody's value."""
    base = read(company(SECRETS)).data
    other = masked(base)
    other["mcp_servers"][0]["name"] = "mail"
    other["units"][0]["roles"][0]["handle"] = "someone-else"
    other["providers"]["llm"]["a"]["api_keys"] = [MASK]
    data, problems = restored(other, base)
    assert [p.path for p in problems] == [
        "providers.llm.a.api_keys[0]",
        "mcp_servers[0].env.KEY",
        "units[0].roles[0].mcp_env.chat.K",
    ]
    assert "five" not in json.dumps(data)
