"""What a turn promises about its company, its charge, its trace and its record."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError

from agents.events import SpendAdded
from agents.llm.base import ToolCallPart
from agents.mail.post import WorkRef
from agents.models.budgets import LlmCall
from agents.models.mail import Delivery
from agents.models.turns import Phase, Round, Segment, ToolCall, Turn
from agents.queries import feed
from agents.tools.run_call import run_call
from agents.tools.tool import Tool
from agents.turn import colleague, loop, outcome
from agents.turn.running import TurnEnd
from crewlet.kernel import events
from crewlet.kernel.actors import Actor, TurnRef, engine_actor
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from orgs import revisions
from orgs.models.seats import Seat
from orgs.people.actors import seat_actor
from tests.agents.turn.stage import COMPANY, DONE, NOTE, SUBMIT, Stage, effects
from tests.support.script import Step, call

pytestmark = pytest.mark.django_db

DOWN = Step(status=529, error=("overloaded_error", "too busy"))
OTHER = Step(calls=[call("note_on", item="ENG-2", text="Flour is ordered.")])
REFUSED = Step(calls=[call("note_on", item="ENG-2", text="refuse")])
WORD = WorkRef("native", str(uuid4()), "ENG-7", "ENG")


def resume(stage: Stage) -> TurnEnd:
    turn_id = Turn.objects.get(stage="parked").id
    stage.adopt(turn_id, lost=False)
    return stage.run(turn_id, resumed=True)


# --- the company it works for --------------------------------------------------------------------


def rename(stage: Stage, name: str) -> None:
    text = COMPANY.format(url=stage.server.openai_url, budget="", seat_budget="", providers="")
    revisions.apply_document(
        engine_actor("test"), text.replace("Harbour Bakery", name), summary="A new name"
    )


@pytest.mark.covers("TURN-9", "ORG-52")
def test_a_change_of_the_company_reaches_the_next_turn_and_not_the_running_one(
    stage: Stage,
) -> None:
    stage.executes(NOTE, SUBMIT, NOTE, SUBMIT)
    stage.reviews(DONE, DONE)
    asked = stage.host.should_stop
    looks: list[int] = []

    def rename_while_it_runs() -> Any:
        looks.append(1)
        if len(looks) == 2:
            rename(stage, "Quay Bakery")
        return asked()

    stage.host.should_stop = rename_while_it_runs  # type: ignore[method-assign]
    first = stage.work()[1]
    assert first.epoch != stage.snapshot.epoch
    assert len(stage.server.seen) == 3
    assert all("Harbour Bakery" in seen.system for seen in stage.server.seen)
    second = stage.work()[1]
    assert second.epoch == stage.snapshot.epoch
    assert all("Quay Bakery" in seen.system for seen in stage.server.seen[3:])


@pytest.mark.covers("ORG-52")
def test_a_parked_turn_goes_on_in_the_company_of_now_and_records_it(stage: Stage) -> None:
    """A park is where a turn takes the newer company, so that a new model helps it."""
    stage.executes(DOWN, NOTE, SUBMIT)
    stage.reviews(DONE)
    parked = stage.work()[1]
    rename(stage, "Quay Bakery")
    assert resume(stage).kind == "completed"
    turn = Turn.objects.get()
    assert turn.epoch == stage.snapshot.epoch != parked.epoch
    assert "Quay Bakery" in Phase.objects.get(phase="execute").system


# --- the item it is charged to -------------------------------------------------------------------


@pytest.fixture
def charged(monkeypatch: pytest.MonkeyPatch) -> list[SpendAdded]:
    """What the turns of this test charge to items, in order."""
    found: list[SpendAdded] = []
    told = events.announce

    def announce(fact: object) -> None:
        if isinstance(fact, SpendAdded):
            found.append(fact)
        told(fact)

    monkeypatch.setattr(outcome, "announce", announce)
    return found


@pytest.mark.covers("TURN-10")
def test_the_item_that_the_wake_names_is_charged_before_what_was_written(
    stage: Stage, charged: list[SpendAdded]
) -> None:
    """`trigger` goes first."""
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    turn = stage.work(work_item=WORD)[1]
    assert turn.work_item is not None
    assert (turn.work_item_key, turn.work_item["basis"]) == ("ENG-7", "trigger")
    (fact,) = charged
    assert (fact.work_item["key"], fact.op_id) == ("ENG-7", f"turn/{turn.id}/dispatch")
    assert (fact.tokens_in, fact.tokens_out) == (turn.tokens_in, turn.tokens_out)


@pytest.mark.covers("TURN-10")
def test_an_ask_is_charged_to_the_item_of_who_asks(stage: Stage, charged: list[SpendAdded]) -> None:
    """`asked_by` rides the ask."""
    stage.mail("chief", work_item=WORD)
    asking = Turn.objects.get(id=stage.claim("chief"))
    ref = TurnRef(asking.id, asking.work_key)
    chief = seat_actor(Seat.objects.get(handle="chief"), ref)
    colleague.open_channel(chief, stage.seat("baker"), "baker", "How many?")
    stage.executes(Step(calls=[call("submit_work", summary="Twelve.")]))
    stage.reviews(DONE)
    turn_id = stage.claim()
    stage.run(turn_id)
    turn = Turn.objects.get(id=turn_id)
    assert turn.work_item is not None
    assert (turn.work_item_key, turn.work_item["basis"]) == ("ENG-7", "asked_by")
    assert [fact.work_item["key"] for fact in charged] == ["ENG-7"]


@pytest.mark.covers("TURN-10", "TRK-11")
@pytest.mark.parametrize(
    ("writes", "key"),
    [
        ((NOTE,), "ENG-1"),
        ((NOTE, OTHER), ""),  # two items: none of them is the turn's
        ((REFUSED, NOTE), "ENG-1"),  # a refused write touched nothing
        ((Step(calls=[call("look_at", item="ENG-2")]), NOTE), "ENG-1"),
        ((Step(calls=[call("log_it", text="x")]), NOTE), "ENG-1"),  # no item at all
    ],
)
def test_an_unnamed_turn_is_charged_to_the_only_item_that_it_wrote(
    stage: Stage, charged: list[SpendAdded], writes: tuple[Step, ...], key: str
) -> None:
    """`sole_write`, decided at the end from what was committed."""
    stage.executes(*writes, SUBMIT)
    stage.reviews(DONE)
    turn = stage.work(work_item=None)[1]
    assert turn.work_item_key == key
    assert [fact.work_item["key"] for fact in charged] == ([key] if key else [])


@pytest.mark.covers("TURN-10", "TURN-86")
def test_a_parked_stretch_concludes_nothing_and_hands_its_writes_and_spend_on(
    stage: Stage, charged: list[SpendAdded]
) -> None:
    """One charge at the end; the turn's time is the sum of its stretches."""
    stage.executes(NOTE, DOWN, SUBMIT)
    stage.reviews(DONE)
    parked = stage.work(work_item=None)[1]
    assert (parked.work_item, charged) == (None, [])
    assert resume(stage).kind == "completed"
    turn = Turn.objects.get()
    assert turn.work_item is not None
    assert turn.work_item["basis"] == "sole_write"
    (fact,) = charged
    assert (fact.tokens_in, fact.calls) == (turn.tokens_in, 3)
    assert turn.worked_ms == sum(Segment.objects.values_list("ms", flat=True))


# --- the trace -----------------------------------------------------------------------------------


@pytest.mark.covers("RUN-12")
def test_one_trace_runs_through_an_ask_its_turn_and_its_answer(stage: Stage) -> None:
    """The sender's trace rides the letter, the turn's events and what the turn posts."""
    trace = "5e" * 16
    ref = TurnRef(new_id(), "work", trace=trace)
    colleague.open_channel(
        seat_actor(Seat.objects.get(handle="chief"), ref), stage.seat("baker"), "baker", "How many?"
    )
    stage.executes(NOTE, Step(calls=[call("submit_work", summary="Twelve.")]))
    stage.reviews(DONE)
    turn_id = stage.claim()
    stage.run(turn_id)
    told = EngineEvent.objects.filter(turn_id=turn_id)
    assert {"agent_turn_started", "agent_phase_completed", "a2a_channel_closed"} <= set(
        told.values_list("type", flat=True)
    )
    assert set(told.values_list("trace_id", flat=True)) == {trace}
    assert Delivery.objects.get(kind="a2a_answer").trace == trace
    shown = feed.events(engine_actor("test"), turn=turn_id)["events"]
    assert {event["trace_id"] for event in shown} == {trace}


@pytest.mark.covers("RUN-12")
def test_a_letter_that_nothing_caused_begins_a_trace_and_its_calls_carry_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    actors: list[Actor] = []
    real = run_call

    def watched(tool: Tool, part: ToolCallPart, actor: Actor, pen: Any) -> Any:
        actors.append(actor)
        return real(tool, part, actor, pen)

    monkeypatch.setattr(loop, "run_call", watched)
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    trace = Delivery.objects.get().trace
    assert len(trace) == 32
    assert int(trace, 16)
    stage.run(stage.claim())
    assert [actor.turn.trace for actor in actors if actor.turn] == [trace]
    stage.mail()
    assert Delivery.objects.get().trace != trace


# --- the record ----------------------------------------------------------------------------------


@pytest.mark.covers("TURN-8")
def test_the_start_is_told_first_with_what_woke_the_seat(stage: Stage) -> None:
    """In the commit of the claim, before any prompt is built."""
    letter = stage.mail()
    turn = Turn.objects.get(id=stage.claim())
    (started,) = EngineEvent.objects.filter(turn_id=turn.id)
    assert started.type == "agent_turn_started"
    trigger = started.payload["trigger"]
    assert trigger["id"] == str(letter.event_id)
    assert (trigger["type"], trigger["summary"], trigger["actor"]) == (
        "work_change", "Bake twelve loaves", "chief",
    )  # fmt: skip
    assert {"timestamp", "sender"} <= set(trigger)
    assert started.payload["conversation"] == "tracker:ENG-1"
    assert started.payload["work_item"]["key"] == "ENG-1"
    assert started.payload["started_at"] == turn.started_at.isoformat()


@pytest.mark.covers("TURN-8", "TURN-12")
def test_a_set_up_that_fails_still_ends_what_was_started(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:

    def broken(_context: object) -> None:
        raise KeyError("policies")

    monkeypatch.setattr("agents.prompts.build.executor", broken)
    turn = stage.work()[1]
    kinds = list(EngineEvent.objects.filter(turn_id=turn.id).values_list("type", flat=True))
    assert kinds.count("agent_turn_started") == kinds.count("agent_turn_completed") == 1


@pytest.mark.covers("TURN-37", "TURN-85")
def test_calls_run_in_order_each_with_its_time_and_what_never_ran_has_none(stage: Stage) -> None:
    three = [call("look_at", item="ENG-1"), call("bake_it"), call("note_on", item="ENG-1")]
    stage.executes(Step(calls=three), SUBMIT)
    stage.reviews(DONE)
    stage.work()
    calls = ToolCall.objects.filter(round__n=0, round__phase__phase="execute")
    look, unknown, note = calls.order_by("ord")
    assert [row.name for row in (look, unknown, note)] == ["look_at", "bake_it", "note_on"]
    assert look.started_at is not None and note.started_at is not None
    assert look.started_at <= note.started_at
    assert look.ms is not None and note.ms is not None
    assert (unknown.ok, unknown.started_at, unknown.ms) == (False, None, None)
    second = [seen for seen in stage.server.seen if "submit_work" in seen.tools][1]
    answers = [said.role for said in second.messages].count("tool")
    assert answers == 3, "every call has its answer before the next request"


@pytest.mark.covers("TURN-64", "TURN-85")
def test_a_phase_that_died_keeps_its_prompt_its_rounds_and_its_tokens(stage: Stage) -> None:
    """Phase and turn share one kind of error, told once."""
    stage.executes(NOTE, Step(calls=[call("note_on", item="ENG-1", text="explode")]))
    turn = stage.work()[1]
    phase = Phase.objects.get()
    assert (phase.status, phase.error_kind) == ("failed", turn.error_kind)
    assert "Harbour Bakery" in phase.system
    assert phase.system_outline and phase.user
    assert (phase.model, phase.provider_key, phase.max_rounds) == ("scripted-1", "main", 24)
    assert phase.ended_at is not None and phase.ended_at >= phase.started_at
    rounds = Round.objects.filter(phase=phase)
    assert sum(row.tokens_in + row.tokens_out for row in rounds) == turn.tokens_in + turn.tokens_out
    told = EngineEvent.objects.filter(turn_id=turn.id, failed=True)
    kinds = sorted(told.values_list("type", flat=True))
    assert kinds == ["agent_phase_completed", "agent_turn_completed", "turn_guard_breach"]
    ended = told.get(type="agent_turn_completed").payload
    assert (ended["failed"], ended["error_kind"]) == (True, "unhandled_exception")
    assert all("Traceback" not in str(event.payload) for event in told)


@pytest.mark.covers("ADD-2")
def test_a_call_that_failed_and_was_recovered_from_does_not_make_the_turn_failed(
    stage: Stage,
) -> None:
    stage.executes(REFUSED, Step(calls=[call("look_at", itm="ENG-1")]), NOTE, SUBMIT)
    stage.reviews(DONE)
    end, turn = stage.work()
    assert ToolCall.objects.filter(ok=False).count() == 2
    assert (end.kind, turn.outcome, turn.error_kind) == ("completed", "completed", "")
    ended = EngineEvent.objects.get(turn_id=turn.id, type="agent_turn_completed")
    assert not ended.failed


@pytest.mark.covers("TURN-66")
def test_the_reviewers_wording_is_what_the_asker_reads(stage: Stage) -> None:
    """The final artifact goes before the seat's own summary."""
    chief = seat_actor(Seat.objects.get(handle="chief"))
    colleague.open_channel(chief, stage.seat("baker"), "baker", "How many loaves?")
    stage.executes(Step(calls=[call("submit_work", summary="Twelve, I think.")]))
    verdict = call("submit_review", decision="done", final_artifact="Twelve loaves.")
    stage.reviews(Step(calls=[verdict]))
    turn_id = stage.claim()
    stage.run(turn_id)
    assert Turn.objects.get(id=turn_id).result == "Twelve loaves."
    text = Delivery.objects.get(kind="a2a_answer").payload["text"]
    assert "Twelve loaves." in text
    assert "I think" not in text


@pytest.mark.covers("TURN-82")
def test_a_meter_that_cannot_be_written_lets_no_call_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails closed; the turn stays open and goes on when the store is back."""

    def away(*_: object, **__: object) -> None:
        raise OperationalError("the table is away")

    stage.executes(NOTE, NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    with monkeypatch.context() as patched:
        patched.setattr(loop, "charge", away)
        with pytest.raises(OperationalError):
            stage.run(turn_id)
    assert (effects(), Round.objects.count(), LlmCall.objects.count()) == (0, 0, 0)
    assert Turn.objects.get().stage == "context"
    stage.adopt(turn_id, lost=True)
    assert stage.run(turn_id, resumed=True).kind == "completed"
    assert effects() == 1
