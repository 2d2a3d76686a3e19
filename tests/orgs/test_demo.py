"""The demo company: whole, quiet, and created once where there is nothing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

import pytest

from crewlet.kernel import events
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import Invalid
from crewlet.ops.hooks import UP_HOOKS, UpRequest
from orgs import epochs, revisions
from orgs.demo.creation import demo_document, ensure_demo, first_goal
from orgs.document.validation import validate_data, validate_text
from orgs.events import CompanyApplied, DemoCreated
from orgs.models.company import Activation, ConfigRevision
from orgs.models.people import Person
from orgs.models.seats import Seat
from tests.orgs.companies import TWO_TEAMS

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Keys:
    anthropic_api_key: str = ""
    openai_api_key: str = ""


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this module's receivers hear: the goal's filing has tests of its own."""
    monkeypatch.setattr(events, "_receivers", {DemoCreated: [], CompanyApplied: []})


def test_the_demo_is_a_valid_company_with_two_led_units_and_one_person() -> None:
    text = resources.files("orgs.demo").joinpath("company.yaml").read_text(encoding="utf-8")
    reading = validate_text(text)
    assert reading.problems == ()
    assert {caution.code for caution in reading.warnings} <= {"seat_unreachable"}
    chart = reading.chart
    assert [seat.handle for seat in chart.walk() if not seat.is_agent] == ["hanna"]
    assert chart.reports("hanna") == ("chief",)
    units = list(chart.walk_units())
    assert len(units) == 2
    for unit in units:
        assert unit.lead is not None and unit.lead in chart.reports("chief")
        assert 2 <= len(chart.reports(unit.lead)) <= 3
        assert unit.project
    assert chart.projects()["HQ"].lead == "chief"


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        (Keys(), "rehearsal"),
        (Keys(anthropic_api_key="k"), "anthropic"),
        (Keys(openai_api_key="k"), "openai"),
        (Keys("k", "k"), "anthropic"),
    ],
)
def test_it_rehearses_only_without_a_key_and_never_stores_one(keys: Keys, kind: str) -> None:
    document = demo_document(keys)
    provider = document["providers"]["llm"]["default"]
    assert provider["type"] == kind
    assert validate_data(document).problems == ()
    assert all(key.startswith("${") for key in provider.get("api_keys", []))


def test_it_is_created_once_with_its_founder_and_first_goal(
    alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[DemoCreated] = []
    monkeypatch.setitem(events._receivers, DemoCreated, [(1, "test", heard.append)])
    line = ensure_demo(Keys())
    assert line is not None and "rehearse" in line
    assert ensure_demo(Keys()) is None
    snapshot = epochs.active()
    assert Activation.objects.count() == 1
    assert ConfigRevision.objects.get().author == "engine:demo"
    fact = heard[0]
    assert len(heard) == 1
    assert fact.epoch == snapshot.epoch
    assert snapshot.handles[fact.founder_seat_id] == "hanna"
    assert snapshot.chart.seats[fact.assignee].is_agent
    assert fact.project in snapshot.chart.projects()
    assert (fact.goal_title, fact.goal_body) == first_goal()
    assert Person.objects.get().seat == Seat.objects.get(handle="hanna")


def test_a_company_that_is_there_is_left_alone(alone: None) -> None:
    revisions.apply_document(engine_actor("test"), TWO_TEAMS, summary="Ours")
    assert ensure_demo(Keys()) is None
    assert epochs.active().document.name == "Harbour Bakery"


@pytest.mark.covers("ORG-50")
def test_company_founder_and_goal_land_together_or_not_at_all(
    alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:

    def refuse(_fact: DemoCreated) -> None:
        raise Invalid("No room for goals.")

    monkeypatch.setitem(events._receivers, DemoCreated, [(1, "test", refuse)])
    with pytest.raises(Invalid):
        ensure_demo(Keys())
    assert epochs.current() is None
    assert not Person.objects.exists()


def test_up_creates_it_only_when_a_demo_is_wanted(alone: None) -> None:
    prepare = UP_HOOKS.prepare["demo"]
    assert prepare(UpRequest(base_url="http://localhost", demo=False)) is None
    assert epochs.current() is None
    line = prepare(UpRequest(base_url="http://localhost", demo=True))
    assert line is not None and "Wayside Guides" in line
    assert epochs.active().document.name == "Wayside Guides"
