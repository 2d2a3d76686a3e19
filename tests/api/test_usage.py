"""Usage as programs read it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from agents.budgets.charge import Charge, charge
from agents.llm.base import Usage
from crewlet.kernel import clock
from orgs import epochs
from tests.api.conftest import Program, refusal
from tests.support.people import a_person

pytestmark = pytest.mark.usefixtures("company")


@pytest.fixture
def program(company: None) -> Program:
    return Program(a_person())


def used(tokens: int, handle: str = "qa") -> None:
    snapshot = epochs.active()
    item = Charge(snapshot.seat_ids[handle], handle, None, "execute", Usage(tokens, 0), "m", "main")
    with connection.cursor() as cursor:
        charge(cursor, item, limits={}, tz=snapshot.timezone, now=clock.now())


@pytest.mark.covers("UI-90")
def test_a_program_reads_the_breakdown_of_a_span(program: Program) -> None:
    used(120)
    found = program.get("/tokens/breakdown", days=7, previous="true").json()
    assert found["total"]["tokens"] == 120
    assert [row["key"] for row in found["by_seat"]] == ["qa"]
    assert (found["span"]["days"], found["previous"]["total"]["tokens"]) == (7, 0)


@pytest.mark.covers("UI-90")
def test_a_program_reads_the_series_in_bands(program: Program) -> None:
    used(120)
    found = program.get("/tokens/series", group="seat", bucket="day", days=3).json()
    assert [band["label"] for band in found["bands"]] == ["QA"] or found["bands"][0]["key"] == "qa"
    assert [bucket["tokens"] for bucket in found["buckets"]] == [0, 0, 120]
    assert found["horizon"]["days"] == 181


@pytest.mark.covers("UI-72")
def test_budgets_carry_every_window_with_its_state_and_reset(program: Program) -> None:
    used(5)
    found = program.get("/budgets").json()
    assert (found["durable"], found["near_fraction"]) == (True, 0.9)
    company = found["scopes"][0]
    assert company["scope"] == "company"
    assert [window["kind"] for window in company["windows"]] == ["day", "week", "month"]
    for window in company["windows"]:
        assert {"used", "limit", "state", "resets_at", "refused_at"} <= set(window)
        assert (window["used"], window["limit"], window["state"]) == (5, None, "ok")


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/tokens/breakdown", {"day": "3"}, "day"),
        ("/tokens/breakdown", {"days": "0"}, "days"),
        ("/tokens/breakdown", {"days": "91"}, "days"),
        ("/tokens/breakdown", {"days": "many"}, "days"),
        ("/tokens/breakdown", {"days": "3", "since": "2026-01-01"}, "days"),
        ("/tokens/breakdown", {"since": "2026-02-31"}, "since"),
        ("/tokens/breakdown", {"previous": "yes"}, "previous"),
        ("/tokens/series", {"group": "worker"}, "group"),
        ("/tokens/series", {"bucket": "hour"}, "bucket"),
        ("/tokens/series", {"previous": "true"}, "previous"),
        ("/budgets", {"scope": "company"}, "scope"),
    ],
)
def test_a_question_that_no_route_knows_is_refused_by_name(
    program: Program, path: str, query: dict[str, str], field: str
) -> None:
    assert refusal(program.get(path, **query), 400, "invalid_query")["field"] == field


@pytest.mark.covers("UI-76")
def test_a_day_that_is_not_on_record_is_refused_naming_the_first(program: Program) -> None:
    old = clock.now().date() - timedelta(days=400)
    answer = program.get("/tokens/breakdown", since=old.isoformat(), until=old.isoformat())
    assert refusal(answer, 400, "invalid_query")["field"] == "since"
    assert "The first day is" in answer.json()["message"]
