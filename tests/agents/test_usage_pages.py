"""Spend and Home as a signed-in person reads them, over real rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from agents.budgets.charge import Charge, charge
from agents.budgets.windows import limits_for
from agents.llm.base import Usage
from crewlet.kernel import clock
from crewlet.kernel.actors import engine_actor
from orgs import epochs
from orgs.revisions import apply_document
from tests.support.people import a_person, browser, signed_in
from tests.tracker.company import COMPANY

pytestmark = pytest.mark.django_db
CEILING = COMPANY.replace("timezone:", "token_budget: {week: 1000}\ntimezone:")


@pytest.fixture
def ana() -> Client:
    epochs.forget()
    apply_document(engine_actor("tests"), CEILING, summary="for the tests")
    return signed_in(browser(), a_person())


def used(
    tokens: int, *, days_ago: int = 0, unobserved: bool = False, cached: int | None = None
) -> None:
    snapshot = epochs.active()
    seat = snapshot.seat_ids["qa"]
    item = Charge(seat, "qa", None, "execute", Usage(tokens, 0, cached), "m-1", "main",
                  unobserved=unobserved)  # fmt: skip
    now = clock.now() - timedelta(days=days_ago)
    with connection.cursor() as cursor:
        limits = limits_for(seat, snapshot)
        charge(cursor, item, limits=limits, tz=snapshot.timezone, now=now)


@pytest.mark.covers("UI-72", "UI-76", "UI-11")
def test_spend_shows_windows_days_seats_and_models(ana: Client) -> None:
    used(950)
    html = ana.get("/spend").content.decode()
    assert "950 tokens in 1 model call over 30 days" in html
    assert "This week: 950 of 1k tokens used, nearly used up" in html
    assert "Tokens by phase, 30 days to" in html
    assert html.count("<g>") == 30
    assert 'href="/agents/seats/qa">Tester</a>' in html
    assert '<td class="clip">m-1</td>' in html
    assert ana.get("/ui/spend/overview?window=7d").content.decode().count("<g>") == 7
    today = ana.get("/spend?window=today").content.decode()
    assert 'href="/spend?window=today" aria-current="true"' in today
    assert today.count("<g>") == 1
    assert ana.get("/spend?window=8d").content.decode().count("<g>") == 30, "the default"


@pytest.mark.covers("PEER-9")
def test_spend_explains_with_its_own_figures_why_a_bill_reads_otherwise(ana: Client) -> None:
    def why() -> str:
        return ana.get("/spend").content.decode().partition('id="spend-bill"')[2]

    used(900)
    assert "A plan with a flat price is counted and capped the same way" in why()
    assert "cache" not in why()
    assert "lost with a worker" not in why()
    used(100, cached=60)
    used(0, unobserved=True)
    assert "6 % of what went in was read from the vendor&#x27;s cache" in why()
    assert "One call was asked for and lost with a worker" in why()


@pytest.mark.covers("UI-31")
def test_a_press_on_a_day_of_spend_narrows_every_figure_to_it(ana: Client) -> None:
    """The same link stands in a list, for the keyboard."""
    used(950)
    used(40, days_ago=2)
    zone = epochs.active().timezone
    day = (clock.now() - timedelta(days=2)).astimezone(zone).date()
    html = ana.get("/spend").content.decode()
    assert html.count(f'href="/spend?window={day}"') == 2
    one = ana.get(f"/spend?window={day}").content.decode()
    assert f"40 tokens in 1 model call on {day.day} {day:%b}." in one
    assert one.count("<g>") == 1
    assert f"Tokens by phase, 1 day to {day.day} {day:%b}: 40 tokens" in one
    assert f'data-src="/ui/spend/overview?window={day}"' in one
    before = day + timedelta(days=1)
    assert (
        f"No model was called on {before.day}"
        in ana.get(f"/spend?window={before}").content.decode()
    )
    assert ana.get("/spend?window=2020-01-01").status_code == 400, "no row can answer it"


def test_spend_without_a_call_says_so_and_shows_no_chart(ana: Client) -> None:
    html = ana.get("/spend").content.decode()
    assert "No model was called in the last 30 days." in html
    assert "<g>" not in html


@pytest.mark.covers("PEER-8")
def test_a_call_of_unknown_use_is_told_and_not_counted(ana: Client) -> None:
    used(0, unobserved=True)
    html = ana.get("/spend").content.decode()
    assert "How many tokens were used is unknown in 1 model call" in html
    assert "What 1 call used is unknown" in html


@pytest.mark.covers("UI-72", "UI-75")
def test_every_window_of_every_scope_stands_on_budgets(ana: Client) -> None:
    used(1200)
    html = ana.get("/spend/budgets").content.decode()
    assert html.count('class="tile win"') == 3 * 5  # the company and four agents
    assert "Over by 200" in html
    assert "refusing" in html


@pytest.mark.covers("UI-75", "UI-77")
def test_counters_that_cannot_be_read_show_no_figure_and_the_rollup_stands_apart(
    ana: Client,
) -> None:
    used(950)

    def broken(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "agents_budgetwindow" in sql:
            raise OperationalError("the disk is gone")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(broken):
        html = ana.get("/spend").content.decode()
        every = ana.get("/spend/budgets").content.decode()
    for page in (html, every):
        assert "The budget counters cannot be read" in page
        assert 'class="tile win"' not in page
    assert "950 tokens in 1 model call over 30 days" in html, "what was used is known"
    assert "neither is a part of the other. Embeddings for search are not counted." in html


@pytest.mark.covers("UI-40")
def test_home_shows_the_range_its_tokens_and_the_week(ana: Client) -> None:
    used(100)
    used(40, days_ago=10)
    html = ana.get("/?range=7d").content.decode()
    assert html.count('<div class="tile">') == 5
    assert "Tokens, 7 days" in html
    assert '<p class="big num">100</p>' in html
    assert '<p class="big num">140</p>' in ana.get("/?range=30d").content.decode()
    assert "of 4 agents" in html
    assert ana.get("/?range=9d").status_code == 400
    part = ana.get("/ui/home/tokens?range=30d").content.decode()
    assert '<p class="big num">140</p>' in part


@pytest.mark.covers("UI-40")
def test_home_says_the_engines_trouble_instead_of_what_agents_do(ana: Client) -> None:
    """Without a worker nothing runs, whatever the seats' rows say."""
    line = ana.get("/ui/home/line").content.decode()
    assert "No worker. Mail waits until a worker starts." in line
    assert "working" not in line
