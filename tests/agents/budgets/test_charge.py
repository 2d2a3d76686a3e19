"""Charging: every call counts in six windows at once, and a call over a ceiling is refused."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from django.db import connection, transaction

from agents.budgets import spend, windows
from agents.budgets.charge import Charge, charge
from agents.budgets.windows import BudgetState, Refusal, limits_for
from agents.llm.base import Usage
from agents.models.budgets import BudgetWindow, LlmCall
from tests.agents.turn.stage import Stage

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
CEILINGS = "    token_budget: {day: 1000, week: 5000}"


def pay(stage: Stage, tokens: int, *, now: datetime = NOON, seat: str = "baker") -> Refusal | None:
    item = Charge(stage.seat(seat), seat, None, "execute", Usage(tokens, 0), "m-1", "main")
    with transaction.atomic(), connection.cursor() as cursor:
        return charge(
            cursor,
            item,
            limits=limits_for(item.seat_id, stage.snapshot),
            tz=stage.snapshot.timezone,
            now=now,
        )


@pytest.mark.covers("TURN-82")
def test_a_call_is_counted_in_every_window_of_seat_and_company(stage: Stage) -> None:
    assert pay(stage, 10) is None
    assert pay(stage, 5, seat="chief") is None
    used = dict.fromkeys([(f"seat:{stage.seat()}", k) for k in ("day", "week", "month")], 10)
    used |= dict.fromkeys([(f"seat:{stage.seat('chief')}", k) for k in ("day", "week", "month")], 5)
    used |= dict.fromkeys([("company", k) for k in ("day", "week", "month")], 15)
    rows = BudgetWindow.objects.values_list("scope", "kind", "used")
    assert {(scope, kind): amount for scope, kind, amount in rows} == used
    row = LlmCall.objects.filter(seat_id=stage.seat()).get()
    assert (row.day, row.tokens_in, row.refused) == (date(2026, 3, 10), 10, False)


def test_one_statement_charges_a_call_that_fits(stage: Stage) -> None:
    seen: list[str] = []

    def watch(execute: object, sql: str, params: object, many: bool, context: object) -> object:
        seen.append(sql)
        return execute(sql, params, many, context)  # type: ignore[operator]

    limits = limits_for(stage.seat(), stage.snapshot)
    item = Charge(stage.seat(), "baker", None, "execute", Usage(1, 1), "m", "main")
    tz = stage.snapshot.timezone
    with connection.execute_wrapper(watch), connection.cursor() as cursor:
        charge(cursor, item, limits=limits, tz=tz, now=NOON)
    assert len(seen) == 1


@pytest.mark.covers("TURN-82", "UI-71")
def test_the_call_that_passes_a_ceiling_is_counted_and_refused(bare_stage: Stage) -> None:
    stage = bare_stage
    stage.company(seat_budget=CEILINGS)
    assert pay(stage, 1000) is None, "reaching the ceiling is allowed"
    refused = pay(stage, 1)
    assert refused is not None
    assert (refused.kind.value, refused.used, refused.limit) == ("day", 1001, 1000)
    assert refused.resets_at == datetime(2026, 3, 11, tzinfo=UTC)
    assert LlmCall.objects.filter(refused=True).count() == 1
    stamped = BudgetWindow.objects.filter(refused_at__isnull=False)
    assert [(row.kind, row.used) for row in stamped] == [("day", 1001)]


def test_the_company_ceiling_refuses_every_seat(bare_stage: Stage) -> None:
    stage = bare_stage
    stage.company(budget="token_budget: {month: 100}")
    assert pay(stage, 100, seat="chief") is None
    refused = windows.refusal(stage.seat("baker"), stage.snapshot, NOON)
    assert refused is not None
    assert refused.scope == "company"
    assert "The company has used 100 of 100 tokens for this month" in refused.message


@pytest.mark.covers("TURN-83", "UI-73")
def test_a_refusal_lasts_until_the_last_refusing_window_ends(bare_stage: Stage) -> None:
    stage = bare_stage
    stage.company(seat_budget=CEILINGS)
    pay(stage, 6000)
    refused = windows.refusal(stage.seat(), stage.snapshot, NOON)
    assert refused is not None
    assert (refused.kind.value, refused.resets_at.date()) == ("week", date(2026, 3, 16))
    assert windows.refusal(stage.seat(), stage.snapshot, refused.resets_at) is None
    assert windows.refusal(stage.seat("chief"), stage.snapshot, NOON) is None


@pytest.mark.covers("TURN-83", "UI-73")
def test_a_raised_ceiling_lets_the_seat_work_at_once(bare_stage: Stage) -> None:
    stage = bare_stage
    stage.company(seat_budget=CEILINGS)
    pay(stage, 2000)
    assert windows.refusal(stage.seat(), stage.snapshot, NOON) is not None
    stage.company(seat_budget="    token_budget: {day: 9000}")
    assert windows.refusal(stage.seat(), stage.snapshot, NOON) is None


def test_without_a_ceiling_nothing_is_asked_and_nothing_refuses(stage: Stage) -> None:
    pay(stage, 10**9)
    seat_id, snapshot = stage.seat(), stage.snapshot

    def never(*_statement: object) -> object:
        raise AssertionError("a seat without a ceiling costs no query")

    with connection.execute_wrapper(never):
        assert windows.refusal(seat_id, snapshot, NOON) is None


def test_the_page_of_budgets_says_one_word_per_window(bare_stage: Stage) -> None:
    stage = bare_stage
    stage.company(budget="token_budget: {day: 10000}", seat_budget=CEILINGS)
    pay(stage, 950)
    page = spend.payload(stage.snapshot, NOON)
    assert (page["near_fraction"], page["tz"]) == (0.9, "Europe/Lisbon")
    scopes = {scope["handle"]: scope for scope in page["scopes"]}
    assert list(scopes) == ["", "chief", "baker"]
    day, week, month = scopes["baker"]["windows"]
    assert (day["state"], day["share"], week["state"]) == ("near", 0.95, "ok")
    assert (month["limit"], month["used"], month["state"]) == (None, 950, "ok")
    assert scopes[""]["state"] == "ok"
    pay(stage, 100)
    mine, company = spend.budget_of(stage.seat(), stage.snapshot, NOON)
    assert (mine.state, company.state) == (BudgetState.REFUSING, BudgetState.OK)
    assert mine.windows[0].refused_at == NOON


@pytest.mark.django_db(transaction=True)
def test_many_turns_that_end_a_round_together_lose_no_token_and_never_deadlock(
    stage: Stage,
) -> None:
    barrier, problems = threading.Barrier(8), list[BaseException]()
    limits, tz = limits_for(stage.seat(), stage.snapshot), stage.snapshot.timezone
    base = Charge(stage.seat(), "baker", None, "execute", Usage(1, 0), "m", "main")
    seats = [stage.seat("baker"), stage.seat("chief")]

    def work(n: int) -> None:
        try:
            barrier.wait(10)
            for _ in range(10):
                with transaction.atomic(), connection.cursor() as cursor:
                    charge(
                        cursor, replace(base, seat_id=seats[n % 2]), limits=limits, tz=tz, now=NOON
                    )
        except BaseException as problem:  # noqa: BLE001 - the test tells of it
            problems.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert problems == []
    assert set(BudgetWindow.objects.filter(scope="company").values_list("used", flat=True)) == {80}
