"""A ceiling stops work inside the turn, whichever ceiling it is, and what is unknown is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from agents.budgets import windows
from agents.dispatch import checks
from agents.models.budgets import BudgetWindow, LlmCall
from agents.models.turns import Turn
from agents.queries import usage
from crewlet.kernel import clock
from crewlet.kernel.models import EngineEvent
from crewlet.ops.checks import ALARMS
from orgs.document.dialect import NOT_YET
from orgs.document.fields import TokenBudget
from orgs.document.schema import schema
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, tools
from tests.agents.turn.test_resume import go_on, kill_at, killed
from tests.needs.together import run_all
from tests.support.model_server import ModelServer
from tests.support.script import SeenRequest, Step, call

__all__ = ["kill_at"]
pytestmark = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)

CALL_TOKENS, CEILING = 300, 1000
BUDGETS = [(where, field) for where in ("company", "seat") for field in TokenBudget.model_fields]


def one_ceiling(stage: Stage, where: str, field: str, tokens: int) -> None:
    """Applies the bakery with nothing limited but one window of the company or of the baker."""
    line = f"token_budget: {{{field}: {tokens}}}"
    if where == "company":
        stage.company(budget=line)
    else:
        stage.company(seat_budget=f"    {line}")


@pytest.mark.covers("PEER-7")
@pytest.mark.parametrize(("where", "field"), BUDGETS)
def test_every_ceiling_of_the_document_stops_a_turn(
    bare_stage: Stage, where: str, field: str
) -> None:
    one_ceiling(bare_stage, where, field, 1000)
    bare_stage.executes(Step(calls=NOTE.calls, usage=(1001, 0)))
    end, turn = bare_stage.work()
    assert (end.kind, turn.park_reason, turn.calls) == ("parked", "budget", 1)
    window = windows.window_at(
        windows.WindowKind(field), turn.started_at, bare_stage.snapshot.timezone
    )
    assert turn.wake_at == window.ends_at
    refused = windows.refusal(bare_stage.seat(), bare_stage.snapshot, clock.now())
    assert refused is not None
    assert refused.kind.value == field
    others = windows.refusal(bare_stage.seat("chief"), bare_stage.snapshot, clock.now())
    assert (others is not None) is (where == "company")


@pytest.mark.covers("PEER-7")
def test_a_budget_of_the_document_is_enforced_or_said_to_be_of_no_effect_yet() -> None:
    """A new field named budget makes this fail until it is one or the other."""
    enforced = {"token_budget"}
    asked_of_the_vendor = {"reasoning_budget_tokens"}
    not_yet = {*NOT_YET["turn_engine"], "budget_fraction"}  # the latter inside `delegation`
    silent = {
        (top, field)
        for top, field in _budgets(schema())
        if field not in enforced | asked_of_the_vendor | not_yet and top not in NOT_YET["company"]
    }
    assert silent == set()
    assert ("", "token_budget") in set(_budgets(schema()))
    assert ("roles", "token_budget") in set(_budgets(schema()))


def _budgets(whole: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every field that speaks of a budget, with the top key of the document that leads to it."""
    seen: set[tuple[str, str]] = set()
    waiting: list[tuple[str, dict[str, Any]]] = [("", whole)]
    while waiting:
        top, node = waiting.pop()
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if name and (top, name) not in seen:
            seen.add((top, name))
            waiting.append((top, whole["$defs"][name]))
        for key, inner in node.get("properties", {}).items():
            if "budget" in key:
                yield top, key
            waiting.append((top or key, inner))
        inner_places = (node.get("items"), node.get("additionalProperties"))
        choices = [one for word in ("anyOf", "oneOf", "allOf") for one in node.get(word, ())]
        waiting += [(top, one) for one in (*choices, *inner_places) if isinstance(one, dict)]


def spends_for_ever(seen: SeenRequest) -> Step:
    """Notes something new in each round and never ends by itself."""
    text = f"Loaf {len(seen.calls())}"
    return Step(calls=[call("note_on", item="ENG-1", text=text)], usage=(CALL_TOKENS - 10, 10))


@pytest.mark.covers("PEER-6")
@committed
def test_two_running_turns_pass_a_ceiling_by_one_call_each_at_most(db: None) -> None:
    with ModelServer(play=spends_for_ever) as server, tools():
        stage = Stage(server)
        stage.company(budget=f"token_budget: {{day: {CEILING}}}")
        turns = {}
        for handle in ("baker", "chief"):
            stage.mail(handle)
            turns[handle] = stage.claim(handle)
        ends = run_all(stage, turns)
    assert ends == {"baker": "parked", "chief": "parked"}
    refused = Counter(LlmCall.objects.filter(refused=True).values_list("turn_id", flat=True))
    assert set(refused.values()) == {1}, "after its refused call no turn asks again"
    used = BudgetWindow.objects.get(scope="company", kind="day").used
    assert CEILING < used <= CEILING + CALL_TOKENS * len(turns)
    assert used == CALL_TOKENS * server.stats.report()["calls"]


@pytest.mark.covers("PEER-6")
@committed
def test_a_warning_is_told_while_the_turn_that_spends_still_runs(bare_stage: Stage) -> None:
    told: list[list[dict[str, Any]]] = []

    def look(_: SeenRequest) -> None:
        try:
            running = Turn.objects.exclude(stage="done").values_list("id", flat=True)
            warned = EngineEvent.objects.filter(type="budget_runs_low", turn_id__in=list(running))
            told.append([event.payload for event in warned])
        finally:
            connection.close()

    stage = bare_stage
    one_ceiling(stage, "seat", "day", 1000)
    again = Step(calls=[call("note_on", item="ENG-1", text="Rye too.")], usage=(140, 10))
    stage.executes(
        Step(expect=look, calls=NOTE.calls, usage=(690, 10)),
        Step(expect=look, calls=again.calls, usage=(140, 10)),
        Step(expect=look, calls=SUBMIT.calls, usage=(5, 5)),
    )
    stage.reviews(Step(expect=look, calls=DONE.calls, usage=(5, 5)))
    end, _ = stage.work()
    assert end.kind == "completed"
    assert [len(seen) for seen in told] == [0, 0, 1, 1], "once, right after the call that did it"
    (warning,) = told[-1]
    assert (warning["period"], warning["used"], warning["limit"]) == ("day", 850, 1000)


@pytest.mark.covers("PEER-8")
def test_a_call_without_usage_is_estimated_and_alarmed_and_never_nought(stage: Stage) -> None:
    assert ALARMS.get("usage_unknown") is checks.usage_unknown
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    assert checks.usage_unknown() is None
    stage.executes(Step(calls=NOTE.calls, usage=(0, 0)), SUBMIT)
    stage.reviews(DONE)
    stage.work()
    counted = LlmCall.objects.get(estimated=True)
    assert counted.tokens_in > 0
    assert counted.tokens_out > 0
    found = checks.usage_unknown()
    assert found is not None
    assert "1 model calls" in found.measurement
    assert "(main): 0 unknown, 1 estimated" in found.measurement
    LlmCall.objects.update(ts=clock.now() - timedelta(hours=25))
    assert checks.usage_unknown() is None, "an old one has been told long enough"


@pytest.mark.covers("PEER-8")
@committed
def test_a_call_that_was_lost_with_its_worker_is_unknown_and_alarmed(
    stage: Stage, kill_at: Any
) -> None:
    stage.executes(NOTE, NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    kill_at("answer.received")
    assert killed(stage, turn_id)
    assert go_on(stage, turn_id).kind == "completed"
    found = checks.usage_unknown()
    assert found is not None
    assert "1 unknown, 0 estimated" in found.measurement
    told = usage.breakdown(stage.snapshot, usage.span_of(stage.snapshot, clock.now(), days=1))
    assert told["total"]["unknown_calls"] == 1


@pytest.mark.covers("PEER-8")
def test_what_a_rehearsal_counts_by_length_alarms_nobody(bare_stage: Stage) -> None:
    """Nobody bills it."""
    stage = bare_stage
    stage.company(providers="    play: {{type: rehearsal}}")
    seat, now = stage.seat(), clock.now()
    call_row: dict[str, Any] = {
        "ts": now, "day": now.date(), "seat_id": seat, "model": "m", "tokens_in": 9,
        "tokens_out": 1, "estimated": True,
    }  # fmt: skip
    LlmCall.objects.create(provider_entry="play", **call_row)
    assert checks.usage_unknown() is None
    LlmCall.objects.create(provider_entry="main", **call_row)
    assert checks.usage_unknown() is not None
