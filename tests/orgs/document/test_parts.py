"""The parts around the chart: all read, each rule in its place, nothing pretended."""

from __future__ import annotations

import pytest

from orgs.document.source import read
from orgs.document.validation import validate_text
from tests.orgs.companies import TWO_TEAMS, company
from tests.orgs.document.full import FULL
from tests.orgs.document.test_validation import found


@pytest.mark.covers("ORG-30")
def test_parts_that_nothing_acts_on_yet_are_kept_and_said_once_each() -> None:
    """The whole language is read, and nobody is made to believe that it works already."""
    reading = validate_text(FULL)
    assert reading.problems == ()
    assert reading.document is not None
    told = [c for c in reading.warnings if c.code == "not_used_yet"]
    assert len({c.segments[-1] for c in told}) == len(told)
    assert reading.unsupported == tuple(c.path for c in told)
    assert {"turn_engine.delegation", "learning", "providers.sandbox", "integrations"} <= {
        c.path for c in told
    }
    assert not {"turn_engine", "mcp_servers"} & {c.path for c in told}, "these are acted on"
    assert read(FULL).data == reading.document.payload()


def test_a_company_without_them_hears_nothing_of_it() -> None:
    assert validate_text(TWO_TEAMS).unsupported == ()


@pytest.mark.covers("ORG-30")
def test_a_word_of_no_part_is_told_the_nearest_one_at_every_depth() -> None:
    """Unknown keys are refused at every depth with the exact path."""
    problems = found(
        company(
            """
            turn_engin: {}
            learning: {reflect: {enbled: true}}
            integrations: {gitlab: {provisioning: {grup: x}}}
            providers: {sandbox: {local: {imge: x}}}
            roles: [{name: A, backstroy: x, sandbox: {mcp: {server: []}}}]
            """
        )
    )
    meant = {
        "turn_engin": "turn_engine",
        "learning.reflect.enbled": "enabled",
        "integrations.gitlab.provisioning.grup": "group",
        "providers.sandbox.local.imge": "image",
        "roles[0].backstroy": "backstory",
        "roles[0].sandbox.mcp.server": "servers",
    }
    assert {path: f"`{word}`" in problems[path].message for path, word in meant.items()} == (
        dict.fromkeys(meant, True)
    )
    assert set(problems) == set(meant)


@pytest.mark.covers("ORG-34")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("tracker: {backend: native}\nintegrations: {jira: {}}", "tracker.backend"),
        ("knowledge: {backend: native}\nintegrations: {confluence: {}}", "knowledge.backend"),
        ("knowledge: {vectors: true}", "knowledge.vectors"),
        ("knowledge: {root_space: HQ}\nunits: [{name: U, space: HQ}]", "units[0].space"),
        ("mcp_servers: [{name: crewlet, command: x}]", "mcp_servers[0].name"),
        ("mcp_servers: [{name: a}]", "mcp_servers[0].command"),
        ("mcp_servers: [{name: a, command: x}, {name: a, command: y}]", "mcp_servers[1].name"),
        ("skill_variables: {crewlet_base_url: x}", "skill_variables.crewlet_base_url"),
        ("workers: {w: {description: d, model: nope}}", "workers.w.model"),
        ("workers: {w: {description: d, max_turns: 41}}", "workers.w.max_turns"),
        ("roles: [{name: A, workers: [ghost]}]", "roles[0].workers[0]"),
        ("turn_engine: {max_tool_rounds: 60}", "turn_engine.max_tool_rounds"),
        (
            "roles: [{name: A, integrations: {slack: {bot_token: x}}}]",
            "roles[0].integrations.slack.signing_secret",
        ),
        (
            "roles: [{name: P, kind: human, email: p@x.example}]\n"
            "integrations: {datadog: {fallback: p}}",
            "integrations.datadog.fallback",
        ),
        (
            "roles: [{name: A, schedules: [{name: s, cron: '61 * * * *', task: t}]}]",
            "roles[0].schedules[0].cron",
        ),
        (
            "roles: [{name: A, sandbox: {setup: [{name: s}, {name: s}]}}]",
            "roles[0].sandbox.setup[1].name",
        ),
        ("providers: {llm: {a: {type: rehearsal, cli: {}}}}", "providers.llm.a.cli"),
        ("providers: {llm: {a: {type: cli-agent}}}", "providers.llm.a.cli"),
    ],
)
def test_each_rule_between_two_places_names_its_place(text: str, place: str) -> None:
    assert set(found("name: Testing\n" + text + "\n")) == {place}


@pytest.mark.parametrize("odd", ["[[]]", "{a: {}}", "3", "[{name: []}]", "text"])
@pytest.mark.parametrize(
    "key",
    ["knowledge", "mcp_servers", "workers", "turn_engine", "integrations", "providers", "tracker"],
)
def test_no_part_is_too_strange_to_answer(key: str, odd: str) -> None:
    reading = validate_text(company(f"{key}: {odd}\nunits: [{{name: U, space: [], schedules: 3}}]"))
    assert reading.document is None
    assert reading.problems


def test_a_space_of_another_type_does_not_hide_the_other_problems() -> None:
    problems = found(company("knowledge: {root_space: [x]}\nunits: [{name: U, space: [x]}]"))
    assert set(problems) == {"knowledge.root_space", "units[0].space"}
