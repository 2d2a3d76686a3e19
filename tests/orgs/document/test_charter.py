"""What a company says about itself, and what holds where it says nothing."""

from __future__ import annotations

import pytest

from orgs.document.problems import Problem, ProblemKind
from orgs.document.validation import validate_text
from tests.orgs.companies import company


def found(text: str) -> dict[str, Problem]:
    return {problem.path: problem for problem in validate_text(text).problems}


@pytest.mark.covers("ORG-1")
def test_a_company_needs_a_name_alone_and_runs_on_utc() -> None:
    """Everything else has a default; policies keep their order."""
    bare = validate_text("name: Harbour\n").document
    assert bare is not None
    assert (bare.timezone, bare.mission, bare.vision, bare.policies) == ("UTC", "", "", ())
    assert bare.token_budget is None
    whole = validate_text(
        company("vision: v\npolicies: [second, first]\ntoken_budget: {day: 1, week: 2, month: 3}")
    ).document
    assert whole is not None and whole.token_budget is not None
    assert whole.policies == ("second", "first")
    assert (whole.token_budget.day, whole.token_budget.month) == (1, 3)
    assert found("mission: nobody\n")["name"].kind is ProblemKind.MISSING


@pytest.mark.covers("ORG-3")
def test_what_a_unit_is_called_to_be_is_free_text_and_a_team_unless_said() -> None:
    document = validate_text(company("units: [{name: A}, {name: B, type: chapter house}]")).document
    assert document is not None
    assert [unit.type for unit in document.units] == ["team", "chapter house"]


@pytest.mark.covers("RUN-5")
@pytest.mark.parametrize("knob", ["window_seconds: 61", "window_seconds: -1", "max_batch: 0",
                                  "max_batch: 101", "max_batch: true"])  # fmt: skip
def test_how_letters_gather_has_its_bounds(knob: str) -> None:
    """0 to 60 seconds, 1 to 100 letters; by default nothing waits and 20 go together."""
    key = f"notification_coalesce_{knob.partition(':')[0]}"
    assert set(found(company(f"notification_coalesce_{knob}"))) == {key}
    plain = validate_text(company("")).document
    assert plain is not None
    assert plain.notification_coalesce_window_seconds == 0
    assert plain.notification_coalesce_max_batch == 20
