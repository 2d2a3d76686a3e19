"""All problems at once, each in its place, none quoting a value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orgs.document.problems import Caution, Problem, ProblemKind
from orgs.document.rules import HUMAN_REFUSES
from orgs.document.validation import Reading, validate_data, validate_text
from tests.orgs.companies import TWO_TEAMS, company

TEN_FAULTS = """\
name: Faulty
mision: misspelt on line two
timezone: Local
policies: not a list
token_budget: {day: 0}
providers:
  llm:
    default: {type: carrier-pigeon}
roles:
  - name: Founder
    kind: human
    llm: default
    schedules: []
  - name: Twin
    handle: twin
    llm: nowhere
units:
  - name: One
    id: one
    project: lower
    roles:
      - {name: Twin, handle: twin}
"""


def found(text: str) -> dict[str, Problem]:
    return {problem.path: problem for problem in validate_text(text).problems}


@pytest.mark.covers("ORG-32")
def test_ten_faults_are_ten_located_problems() -> None:
    reading = validate_text(TEN_FAULTS)
    assert reading.document is None
    told = [(p.line, p.path, p.kind) for p in reading.problems]
    assert told == [
        (2, "mision", ProblemKind.UNKNOWN_FIELD),
        (3, "timezone", ProblemKind.INVALID),
        (4, "policies", ProblemKind.SHAPE),
        (5, "token_budget.day", ProblemKind.OUT_OF_RANGE),
        (8, "providers.llm.default.type", ProblemKind.UNKNOWN_VALUE),
        (12, "roles[0].llm", ProblemKind.CONFLICT),
        (13, "roles[0].schedules", ProblemKind.CONFLICT),
        (16, "roles[1].llm", ProblemKind.UNKNOWN_VALUE),
        (20, "units[0].project", ProblemKind.INVALID),
        (22, "units[0].roles[0].handle", ProblemKind.CONFLICT),
    ]
    by_path = {p.path: p for p in reading.problems}
    assert by_path["units[0].roles[0].handle"].seat == "twin"
    assert by_path["units[0].roles[0].handle"].unit == "one"
    assert "line 14" in by_path["units[0].roles[0].handle"].message
    assert "`mission`" in by_path["mision"].message


@pytest.mark.covers("ORG-2", "ORG-4")
def test_a_whole_company_has_no_problem_and_no_warning() -> None:
    reading = validate_text(TWO_TEAMS)
    assert reading.problems == ()
    assert reading.warnings == ()
    assert reading.document is not None
    assert reading.document.token_budget is not None
    assert reading.document.token_budget.day == 100000


@pytest.mark.covers("ORG-32")
def test_no_message_repeats_what_was_written() -> None:
    secret = "sk-verysecretvalue"
    text = company(
        f"""
        timezone: {secret}
        token_budget: {secret}
        policies: {secret}
        providers:
          llm:
            default:
              type: {secret}
              model: [{secret}]
              base_url: {secret}
              api_keys: {secret}
              timeout_seconds: {secret}
        roles:
          - name: Ann
            handle: "{secret}!"
            email: {secret}
            kind: {secret}
            llm: [{secret}]
            project: {secret}
            manages: [{secret}]
            unit: {secret}
            contact: {{slack_user_id: "x${{{secret}}}"}}
          - {{name: B, handle: "{secret}"}}
          - {{name: C, handle: "{secret}"}}
        units:
          - {{name: U, lead: {secret}, id: "!{secret}"}}
        """
    )
    reading = validate_text(text)
    assert len(reading.problems) > 12
    told: list[Problem | Caution] = [*reading.problems, *reading.warnings]
    for entry in told:
        assert secret not in entry.message
        assert secret not in entry.path


@pytest.mark.covers("ORG-32")
def test_one_place_has_one_problem() -> None:
    reading = validate_text(TEN_FAULTS + "\n" + "extra: 1\nextra: 2\n")
    places = [p.segments for p in reading.problems]
    assert len(places) == len(set(places))


def test_a_file_of_an_installation_is_told_from_a_company() -> None:
    problems = found("logging: {level: debug}\napi: {port: 8000}\nsecrets: {}\n")
    assert set(problems) == {"name", "logging", "api", "secrets"}
    assert "installation" in problems["api"].message
    assert problems["name"].kind is ProblemKind.MISSING


@pytest.mark.parametrize(
    "field",
    ["name", "mission", "vision", "timezone"],
)
@pytest.mark.parametrize("scalar", ["off", "no", "09:30", "1_000", "010", "1e3", "2026-01-01"])
def test_a_text_field_keeps_the_word_or_names_itself(field: str, scalar: str) -> None:
    rows = {"name": "x", field: scalar}
    reading = validate_text("".join(f"{key}: {value}\n" for key, value in rows.items()))
    if reading.document is not None:
        assert getattr(reading.document, field) == scalar
    else:
        assert [p.path for p in reading.problems] == [field]


STRINGS = [
    "roles[0].name", "roles[0].handle", "roles[0].goal", "roles[0].backstory", "roles[0].unit",
    "roles[0].responsibilities[0]", "roles[0].manages[0]", "roles[0].project", "roles[0].space",
    "roles[0].email", "roles[0].kind", "units[0].name", "units[0].id", "units[0].type",
    "units[0].purpose", "units[0].goals[0]", "units[0].lead", "units[0].channel", "policies[0]",
    "providers.llm.a.model", "providers.llm.a.type", "providers.llm.a.api_keys[0]",
]  # fmt: skip


def _with(place: str, scalar: str) -> str:
    """Writes one string field of a company, unquoted, on line 4 or below."""
    parts = place.replace("[0]", "").split(".")
    word = f"[{scalar}]" if place.endswith("[0]") else scalar
    if parts[0] == "policies":
        return f"name: x\n\n\npolicies: {word}\n"
    if parts[0] == "providers":
        first = "" if parts[-1] == "type" else "      type: openai\n"
        model = "" if parts[-1] in ("model", "type") else "      model: m\n"
        return f"name: x\nproviders:\n  llm:\n    a:\n{first}{model}      {parts[-1]}: {word}\n"
    named = "" if parts[-1] == "name" else "    name: n\n"
    return f"name: x\n{parts[0]}:\n  -\n{named}    {parts[-1]}: {word}\n"


@pytest.mark.covers("ORG-2", "ORG-4")
@pytest.mark.parametrize("place", STRINGS)
@pytest.mark.parametrize(
    "scalar", ["off", "no", "09:30", "1_000", "010", "1e3", "2026-01-01", "~", "true", "12"]
)
def test_every_text_field_keeps_what_was_typed_or_is_named_with_its_line(
    place: str, scalar: str
) -> None:
    """Each field of unit and seat as typed."""
    reading = validate_text(_with(place, scalar))
    told = {problem.path: problem for problem in reading.problems}
    if place in told:
        assert (told[place].line or 0) >= 4
        return
    assert scalar not in ("~", "true", "12")
    assert reading.document is not None
    assert f'"{scalar}"' in json.dumps(reading.document.payload())


@pytest.mark.covers("ORG-2")
def test_units_nest_as_deep_as_anybody_draws_them() -> None:
    unit: dict[str, Any] = {"name": "U90", "roles": [{"name": "Deep"}]}
    for number in range(89, -1, -1):
        unit = {"name": f"U{number}", "children": [unit]}
    reading = validate_data({"name": "x", "units": [unit]})
    assert reading.problems == ()
    assert reading.document is not None
    assert len(reading.chart.units) == 91
    assert reading.chart.seats["deep"].unit == "u90"


@pytest.mark.parametrize("scalar", ["true", "12", "1.5", "~", "[]", "{}"])
@pytest.mark.parametrize("field", ["name", "mission", "roles", "timezone"])
def test_another_type_is_named_with_field_line_and_remedy(field: str, scalar: str) -> None:
    text = f"vision: v\n{field}: {scalar}\n" + ("" if field == "name" else "name: x\n")
    if field == "roles" and scalar == "[]":
        assert validate_text(text).document is not None
        return
    problem = found(text)[field]
    assert problem.line == 2
    assert problem.kind is ProblemKind.SHAPE
    assert problem.message


@pytest.mark.parametrize("handle", ["1", "true", "~", "[a]"])
def test_an_unquoted_handle_of_another_type_is_a_problem_of_type(handle: str) -> None:
    problem = found(company(f"roles:\n  - name: A\n    handle: {handle}\n"))["roles[0].handle"]
    assert (problem.line, problem.kind) == (4, ProblemKind.SHAPE)
    assert validate_text(company('roles: [{name: A, handle: "1"}]')).document is not None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("設計", ProblemKind.INVALID),
        ("A" * 80, ProblemKind.OUT_OF_RANGE),
        ("Me", ProblemKind.INVALID),
        ("NULL", ProblemKind.SHAPE),
    ],
)
def test_a_name_that_gives_no_handle_asks_for_one(name: str, kind: ProblemKind) -> None:
    problem = found(company(f"roles:\n  - name: {name}\n"))["roles[0].name"]
    assert problem.kind is kind
    with_handle = company(f'roles:\n  - name: "{name}"\n    handle: fine\n')
    assert validate_text(with_handle).document is not None


@pytest.mark.covers("ORG-5")
def test_two_spellings_of_one_name_are_one_handle() -> None:
    reading = validate_text(company('roles: [{name: "équipe"}, {name: "équipe"}]'))
    assert [p.path for p in reading.problems] == ["roles[1].name"]


@pytest.mark.covers("ORG-5", "ORG-6")
def test_handles_are_unique_across_people_and_agents_and_units_fold() -> None:
    problems = found(
        company(
            """
            roles:
              - {name: Ann, kind: human}
              - {name: ann}
            units:
              - {name: Core Team}
              - {name: X, id: CORE-TEAM}
              - {name: 3rd}
            """
        )
    )
    assert set(problems) == {"roles[1].name", "units[1].id", "units[2].name"}


@pytest.mark.covers("ORG-14")
def test_a_nested_seat_may_only_repeat_its_unit() -> None:
    text = """
    units:
      - name: Core
        roles:
          - {name: A, unit: core}
          - {name: B, unit: other}
    """
    assert set(found(company(text))) == {"units[0].roles[1].unit"}


@pytest.mark.covers("ORG-91")
@pytest.mark.parametrize("key", HUMAN_REFUSES)
def test_a_person_refuses_each_runtime_field_by_name(key: str) -> None:
    text = company(f"roles:\n  - name: Ann\n    kind: human\n    {key}: x\n")
    problem = found(text)[f"roles[0].{key}"]
    assert problem.kind is ProblemKind.CONFLICT
    assert f"`{key}`" in problem.message


def test_an_agent_refuses_contact_and_availability() -> None:
    text = "roles: [{name: A, contact: {github_login: a}, availability: always}]"
    assert set(found(company(text))) == {"roles[0].contact", "roles[0].availability"}


def test_an_identity_belongs_to_one_seat() -> None:
    problems = found(
        company(
            """
            roles:
              - {name: A, kind: human, email: Ann+x@b.example, contact: {github_login: Ann}}
              - {name: B, kind: human, email: ann@B.example, contact: {github_login: " ann "}}
              - {name: C, kind: human, contact: {github_login: "${ANN}"}}
              - {name: D, kind: human, contact: {github_login: "${ann}"}}
            """
        )
    )
    assert set(problems) == {"roles[1].email", "roles[1].contact.github_login"}


def test_chains_name_providers_that_are_there() -> None:
    problems = found(
        company(
            """
            providers: {llm: {good: {type: rehearsal}}}
            roles:
              - {name: A, llm: good, llm_review: [good, bad]}
              - {name: B, llm: {default: good, judge: bad, sandbox: good}}
              - {name: C, llm: 3}
              - {name: D, llm_judge: {default: good}}
            """
        )
    )
    assert {path: p.kind.value for path, p in problems.items()} == {
        "roles[0].llm_review[1]": "unknown_value",
        "roles[1].llm.judge": "unknown_value",
        "roles[2].llm": "shape",
        "roles[3].llm_judge": "shape",
    }
    assert "good" in problems["roles[1].llm.judge"].message


def test_a_seats_chain_is_the_more_specific_word() -> None:
    reading = validate_text(
        company(
            """
            providers: {llm: {a: {type: rehearsal}, b: {type: rehearsal}}}
            roles:
              - {name: A, llm: {default: [a, b], review: b}}
              - {name: B, llm: a, llm_review: [b, a]}
              - {name: C}
            """
        )
    )
    assert reading.document is not None
    first, second, third = reading.document.roles
    assert (first.chain(), first.chain("review"), first.chain("judge")) == (
        ("a", "b"), ("b",), ("a", "b"),
    )  # fmt: skip
    assert (second.chain("review"), second.chain("judge")) == (("b", "a"), ("a",))
    assert third.chain() == ()


def test_providers_say_what_they_lack() -> None:
    problems = found(
        company(
            """
            providers:
              llm:
                a: {type: anthropic}
                b: {type: openai-compatible, model: m}
                c: {type: rehearsal, api_keys: [x]}
                d: {type: openai, model: m, base_url: "ftp://x"}
                "e f": {type: rehearsal}
                g: {type: openai, model: m, base_url: "https://user:word@host/v1"}
                h: {type: openai-compatible, model: m, base_url: "${LLM_URL}"}
                i: {type: openai, model: m, timeout_seconds: 0, reasoning_effort: extreme}
                j: {type: openai, model: m, base_url: "https://host/v1?key=secret"}
            """
        )
    )
    assert set(problems) == {
        "providers.llm.a.model",
        "providers.llm.b.base_url",
        "providers.llm.c.api_keys",
        "providers.llm.d.base_url",
        'providers.llm["e f"]',
        "providers.llm.g.base_url",
        "providers.llm.j.base_url",
        "providers.llm.i.timeout_seconds",
        "providers.llm.i.reasoning_effort",
    }


@pytest.mark.covers("ORG-1")
@pytest.mark.parametrize("zone", ["Local", "local", "localtime", "Mars/Olympus", "utc+1", ""])
def test_the_companys_clock_is_a_named_zone(zone: str) -> None:
    assert found(company(f'timezone: "{zone}"'))["timezone"].kind is ProblemKind.INVALID


@pytest.mark.parametrize("project", ["E", "eng", "ENGINEERING1", "1ENG", "EN-G"])
def test_a_project_key_has_its_shape(project: str) -> None:
    assert "units[0].project" in found(company(f"units: [{{name: U, project: {project}}}]"))
    ok = company("units: [{name: U, project: EN}, {name: V, project: EN}]")
    assert validate_text(ok).document is not None


def test_the_old_form_of_a_budget_is_told_the_new_one() -> None:
    problem = found(company("token_budget: 1000"))["token_budget"]
    assert "day" in problem.message


@pytest.mark.covers("ORG-16")
def test_references_to_nobody_warn_and_refuse_nothing() -> None:
    reading = validate_text(
        company(
            """
            roles:
              - {name: A, manages: [b, ghost, a], unit: nowhere}
              - {name: B, manages: [a]}
              - {name: P, kind: human}
            units: [{name: U, lead: ghost}]
            """
        )
    )
    assert reading.document is not None
    assert sorted((c.path, c.code) for c in reading.warnings) == [
        ("providers", "company_has_no_models"),
        ("roles[0].manages", "management_cycle"),
        ("roles[0].manages", "manages_itself"),
        ("roles[0].manages[1]", "dangling_reference"),
        ("roles[0].unit", "dangling_reference"),
        ("roles[2]", "seat_unreachable"),
        ("units[0].lead", "dangling_reference"),
    ]


def test_text_that_no_database_can_hold_is_refused() -> None:
    assert "mission" in found('name: x\nmission: "a\\0b"\n')
    assert "mission" in {p.path for p in validate_data({"name": "x", "mission": "\ud800"}).problems}


@pytest.mark.parametrize("text", ['{"name": NaN}', '{"name": "x", "mission": Infinity}'])
def test_numbers_that_are_none_are_refused_in_their_place(text: str) -> None:
    reading = validate_text(text)
    assert reading.document is None
    assert [p.path for p in reading.problems] in (["name"], ["mission"])


@pytest.mark.parametrize("data", [None, [], "text", 3, {}, {"name": {}}, {"roles": [[]]}, {1: 2}])
def test_no_data_is_too_strange_to_answer(data: Any) -> None:
    reading = validate_data(data)
    assert isinstance(reading, Reading)
    assert reading.problems
    assert reading.document is None


@pytest.mark.covers("ORG-35")
def test_variables_are_kept_as_typed() -> None:
    reading = validate_text(
        company('mission: "${A} $B ${1} ${C:-d}"\npolicies: ["pay ${A} to ${_x9}"]\n')
    )
    assert reading.document is not None
    assert reading.document.mission == "${A} $B ${1} ${C:-d}"
