"""Whole turns: what a seat is given, what it does, how it ends."""

from __future__ import annotations

import pytest

from agents.models.colleagues import A2AChannel
from agents.models.mail import Completion, Delivery
from agents.models.turns import IterationRecord, Phase, Round, Segment, ToolCall
from agents.turn import colleague
from crewlet.kernel.models import EngineEvent, Operation
from orgs.models.notices import Notice
from orgs.models.seats import Seat
from orgs.people.actors import seat_actor
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, Stop, again, effects
from tests.support.script import Step, call, on_system

pytestmark = pytest.mark.django_db

SILENT = Step(say="I think it is all fine.")
LOOK = Step(calls=[call("look_at", item="ENG-1")])
NOTHING = Step(calls=[call("submit_work", outcome="no_action", summary="Nothing is new.")])


def calls() -> list[tuple[str, bool | None]]:
    rows = ToolCall.objects.order_by("round__started_at", "round__n", "ord")
    return list(rows.values_list("name", "ok"))


def results(name: str) -> list[str]:
    rows = ToolCall.objects.filter(name=name).order_by("round__started_at", "ord")
    return list(rows.values_list("result", flat=True))


@pytest.mark.covers("TURN-57", "TURN-85")
def test_a_message_becomes_one_reviewed_turn_and_the_mail_is_gone(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    end, turn = stage.work()
    assert (end.kind, turn.outcome, turn.decision, turn.submitted) == (
        "completed", "completed", "done", "delivered",
    )  # fmt: skip
    assert turn.result == "Baked."
    assert effects() == 1
    assert not Delivery.objects.exists()
    assert Completion.objects.get().work_key == turn.work_key
    assert [(p.phase, p.status) for p in Phase.objects.order_by("started_at")] == [
        ("execute", "done"), ("review", "done"),
    ]  # fmt: skip
    assert Round.objects.count() == turn.calls == 3
    assert calls() == [("note_on", True), ("submit_work", True), ("submit_review", True)]
    segment = Segment.objects.get()
    assert (segment.kind, segment.tokens_in) == ("dispatch", turn.tokens_in)
    assert turn.tokens_in > 0
    assert Operation.objects.get().expires_at is not None, "the turn let go of its operations"


@pytest.mark.covers("TURN-8")
def test_the_events_of_a_turn_pair_its_start_with_one_completion(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    told = EngineEvent.objects.filter(turn_id=turn.id).order_by("ts", "id")
    kinds = list(told.values_list("type", flat=True))
    assert kinds.count("agent_turn_started") == 1
    assert kinds.count("agent_turn_completed") == 1
    assert kinds.count("agent_phase_completed") == 2
    assert kinds[-1] == "agent_turn_completed"
    assert all(event.work_key == turn.work_key for event in told)


@pytest.mark.covers("TURN-24", "TURN-25", "TURN-45")
def test_the_system_prompt_and_the_tools_do_not_vary_from_round_to_round(stage: Stage) -> None:
    stage.executes(LOOK, NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    seen = [r for r in stage.server.seen if "submit_work" in r.tools]
    assert len({r.system for r in seen}) == 1
    assert len({tuple(r.tools) for r in seen}) == 1
    assert all("tool_choice" not in r.body for r in seen)
    stored = Phase.objects.get(phase="execute")
    assert stored.system == seen[0].system
    sizes = sum(part["bytes"] for part in stored.system_outline)
    assert sizes == len(stored.system.encode())


@pytest.mark.covers("TURN-40", "TURN-42")
def test_a_delivery_that_reached_nobody_is_refused_with_the_remedy(stage: Stage) -> None:
    elsewhere = Step(calls=[call("log_it", text="Baked twelve.")])
    stage.executes(elsewhere, SUBMIT, NOTE, SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    refused, accepted = results("submit_work")
    assert "nothing of this turn has reached whoever asked" in refused
    assert "wrote elsewhere (page:ledger)" in refused
    assert "`note_on`" in refused
    assert accepted == "Accepted."
    assert turn.outcome == "completed"


@pytest.mark.covers("TURN-40", "TURN-57")
def test_no_action_is_refused_while_somebody_waits_and_skips_when_nobody_does(
    stage: Stage,
) -> None:
    stage.executes(NOTHING, NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    assert "somebody waits" in results("submit_work")[0]
    stage.executes(LOOK, NOTHING)
    _, turn = stage.work(reply_kind="none", reply_surface="")
    assert (turn.outcome, turn.error_kind) == ("skipped", "")


@pytest.mark.covers("TURN-57")
def test_a_claim_that_the_record_refutes_goes_back_without_a_review(stage: Stage) -> None:
    claims = Step(calls=[call("submit_work", summary="Filed.", deliveries=["item:ENG-9"])])
    honest = Step(
        expect="Your submission claims deliveries",
        calls=[call("submit_work", summary="I only looked.")],
    )
    stage.executes(LOOK, claims, honest)
    stage.reviews(DONE)
    _, turn = stage.work(reply_kind="none", reply_surface="")
    assert (turn.outcome, turn.iteration) == ("completed", 2)
    row = IterationRecord.objects.get()
    assert "changed anything" in row.engine_correction


@pytest.mark.covers("TURN-62")
def test_the_second_pass_reads_what_the_first_one_did_and_cites_it(stage: Stage) -> None:
    knows = Step(
        expect=["note_on", "do not repeat it", "Bake one more."],
        calls=[call("submit_work", summary="One more.", deliveries=["note_on"])],
    )
    stage.executes(NOTE, SUBMIT, knows)
    stage.reviews(again(), DONE)
    _, turn = stage.work()
    assert (turn.outcome, turn.iteration, turn.result) == ("completed", 2, "One more.")
    assert effects() == 1
    row = IterationRecord.objects.get()
    assert (row.n, row.outcome, row.decision, row.notes) == (
        1, "delivered", "self_iterate", "Bake one more.",
    )  # fmt: skip


@pytest.mark.covers("TURN-60", "TURN-62")
def test_done_is_overturned_when_nothing_reached_the_asker(stage: Stage) -> None:
    """The correction stands before the task."""
    blocked = Step(calls=[call("submit_work", outcome="blocked", summary="No flour.",
                               evidence="The mill is closed.")])  # fmt: skip
    stage.executes(blocked, NOTE, SUBMIT)
    stage.reviews(DONE, DONE)
    _, turn = stage.work()
    assert (turn.outcome, turn.iteration) == ("completed", 2)
    second = Phase.objects.get(phase="execute", iteration=2)
    assert "whoever asked has received nothing" in second.user
    assert second.user.index("whoever asked") < second.user.index("Bake twelve loaves")


@pytest.mark.covers("TURN-43")
def test_an_answer_without_a_call_is_told_what_to_call(stage: Stage) -> None:
    told = Step(expect="`submit_work`", calls=[call("note_on", item="ENG-1", text="Baked.")])
    stage.executes(SILENT, told, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    assert list(Round.objects.order_by("started_at").values_list("declined", flat=True)) == [
        True, False, False, False,
    ]  # fmt: skip
    assert Phase.objects.get(phase="execute").declined == 1


@pytest.mark.covers("TURN-44")
def test_work_that_is_never_submitted_is_reviewed_as_incomplete(stage: Stage) -> None:
    stage.executes(NOTE, SILENT, SILENT, SILENT)
    stage.reviews(Step(expect="incomplete", calls=DONE.calls))
    _, turn = stage.work()
    assert (turn.outcome, turn.submitted, turn.result) == (
        "completed", "incomplete", "I think it is all fine.",
    )  # fmt: skip
    assert Phase.objects.get(phase="execute").rescued


def test_the_executor_stops_at_twenty_four_rounds_and_loses_nothing(stage: Stage) -> None:
    stage.executes(*[Step(calls=[call("look_at", item=f"ENG-{n}")]) for n in range(24)])
    stage.server.script("judge", on_system("You decide whether"), [Step(say="STOP")])
    stage.reviews(Step(calls=[call("submit_review", decision="failed", notes="It only read.")]))
    end, turn = stage.work()
    assert ToolCall.objects.filter(name="look_at", ok=True).count() == 24
    assert (end.error_kind, turn.error) == ("error", "It only read.")


@pytest.mark.covers("TURN-48", "TURN-64")
def test_a_cut_answer_fails_the_turn_and_its_call_is_not_run(stage: Stage) -> None:
    stage.executes(Step(calls=NOTE.calls, stop="length"))
    _, turn = stage.work()
    assert (turn.outcome, turn.error_kind) == ("failed", "max_tokens")
    assert effects() == 0
    phase = Phase.objects.get()
    assert (phase.status, phase.error_kind) == ("failed", "max_tokens")
    mine = Delivery.objects.filter(seat_id=stage.seat("baker"))
    assert not mine.exists(), "its mail is settled, not redelivered"


@pytest.mark.covers("TURN-37")
def test_arguments_that_are_no_object_are_answered_and_not_run(stage: Stage) -> None:
    broken = Step(calls=[call("note_on")], raw_arguments='{"item": ')
    stage.executes(broken, Step(calls=[call("bake_it")]), NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    assert calls()[:2] == [("note_on", False), ("bake_it", False)]
    assert "not valid JSON" in results("note_on")[0]
    assert "no tool `bake_it`" in results("bake_it")[0]
    assert effects() == 1


@pytest.mark.covers("TURN-11")
def test_a_refused_write_may_be_tried_again_and_a_repeat_lands_once(stage: Stage) -> None:
    refused = Step(calls=[call("note_on", item="ENG-1", text="refuse")])
    twice = Step(calls=[*NOTE.calls, *NOTE.calls])
    stage.executes(refused, refused, twice, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    assert [ok for _, ok in calls()[:4]] == [False, False, True, True]
    assert "Reopen it first" in results("note_on")[0]
    assert len(set(ToolCall.objects.filter(ok=False).values_list("op_id", flat=True))) == 2
    assert effects() == 1


@pytest.mark.covers("TURN-11")
def test_there_and_back_again_is_three_writes(stage: Stage) -> None:
    there, back = call("note_on", text="doing"), call("note_on", text="to do")
    stage.executes(Step(calls=[back]), Step(calls=[there]), Step(calls=[back]), SUBMIT)
    stage.reviews(DONE)
    stage.work()
    assert effects() == 3


@pytest.mark.covers("TURN-12", "TURN-64", "ADD-4")
def test_an_exception_in_a_tool_ends_the_turn_failed_and_tells_people(stage: Stage) -> None:
    stage.executes(LOOK, Step(calls=[call("note_on", text="explode")]))
    end, turn = stage.work()
    assert (end.kind, turn.error_kind) == ("failed", "unhandled_exception")
    assert "ZeroDivisionError: the note burst" in turn.error
    assert "Traceback" not in turn.error
    assert effects() == 0
    notice = Notice.objects.get()
    assert notice.seat_id == stage.seat("rita")
    assert "Baker could not finish" in notice.title
    letter = Delivery.objects.get()
    assert (letter.seat_id, letter.kind) == (stage.seat("chief"), "turn_failed")
    breach = EngineEvent.objects.get(type="turn_guard_breach")
    assert breach.payload["kind"] == "unhandled_exception"


@pytest.mark.covers("TURN-77", "TURN-79")
def test_a_person_stops_a_turn_before_its_next_change(stage: Stage) -> None:
    stage.executes(LOOK)
    stage.mail()
    turn_id = stage.claim()
    stage.host.stop = None
    asked = iter([None, Stop("rita", "enough")])
    stage.host.should_stop = lambda: next(asked)  # type: ignore[method-assign]
    end = stage.run(turn_id)
    assert (end.kind, end.error) == ("stopped", "rita stopped this turn: enough.")
    assert EngineEvent.objects.filter(type="agent_turn_stopped").exists()
    assert not Delivery.objects.filter(seat_id=stage.seat()).exists()
    assert Completion.objects.get().outcome == "stopped"


@pytest.mark.covers("TURN-13")
def test_an_ask_too_deep_in_a_chain_fails_before_any_model_call(stage: Stage) -> None:
    end, turn = stage.work(depth=3)
    assert (end.error_kind, turn.calls) == ("depth_cap", 0)
    assert EngineEvent.objects.get(type="turn_guard_breach").payload["kind"] == "depth_cap"


@pytest.mark.covers("TURN-10")
def test_a_turn_that_wrote_one_item_is_charged_to_it(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work(work_item=None)
    assert turn.work_item is not None
    assert turn.work_item["key"] == turn.work_item_key == "ENG-1"
    assert turn.work_item["basis"] == "sole_write"


def ask_baker(stage: Stage) -> A2AChannel:
    chief = seat_actor(Seat.objects.get(handle="chief"))
    colleague.open_channel(chief, stage.seat("baker"), "baker", "How many loaves?")
    return A2AChannel.objects.get()


@pytest.mark.covers("TURN-66", "TURN-75", "RUN-15")
def test_a_colleague_is_answered_by_the_engine_and_the_channel_closes(stage: Stage) -> None:
    ask_baker(stage)
    stage.executes(
        Step(expect="How many loaves?", calls=[call("submit_work", summary="Twelve loaves.")])
    )
    stage.reviews(DONE)
    turn_id = stage.claim()
    assert stage.run(turn_id).kind == "completed"
    assert A2AChannel.objects.get().state == "answered"
    letter = Delivery.objects.get()
    assert (letter.seat_id, letter.kind, letter.reply_kind) == (
        stage.seat("chief"), "a2a_answer", "none",
    )  # fmt: skip
    assert "Twelve loaves." in letter.payload["text"]
    assert letter.depth == 0


@pytest.mark.covers("TURN-49", "ADD-4")
def test_a_colleague_hears_of_a_failure_too(stage: Stage) -> None:
    ask_baker(stage)
    stage.executes(Step(say="no", stop="content_filter"))
    turn_id = stage.claim()
    assert stage.run(turn_id).error_kind == "refusal"
    answer = Delivery.objects.get(kind="a2a_answer")
    assert "could not finish this" in answer.payload["text"]


@pytest.mark.covers("TURN-12")
def test_a_turn_that_cannot_begin_hands_its_mail_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:

    def broken(_context: object) -> None:
        raise KeyError("policies")

    monkeypatch.setattr("agents.prompts.build.executor", broken)
    end, turn = stage.work()
    assert (end.kind, turn.stage, turn.outcome) == ("released", "done", "failed")
    letter = Delivery.objects.get()
    assert (letter.turn_id, letter.attempts) == (None, 1)
    assert letter.not_before is not None
    assert not Completion.objects.exists()
    assert not Notice.objects.exists(), "nobody is alarmed by a first try"


@pytest.mark.covers("TURN-7", "TURN-11")
def test_a_re_run_of_the_same_work_lands_its_writes_once(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT, NOTE, SUBMIT)
    stage.reviews(DONE, DONE)
    letter = stage.mail()
    first = stage.claim()
    stage.run(first)
    Completion.objects.all().delete()  # as if the ledger had been lost
    stage.mail(event_id=letter.event_id)
    second = stage.claim()
    assert stage.run(second).kind == "completed"
    assert effects() == 1
    assert Operation.objects.count() == 1
    both = ToolCall.objects.filter(name="note_on")
    assert len(set(both.values_list("op_id", "result"))) == 1, "it was answered from the first"


@pytest.mark.covers("ADD-4")
def test_a_turn_that_never_worked_is_told_when_its_mail_dies(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:

    def broken(_context: object) -> None:
        raise KeyError("policies")

    monkeypatch.setattr("agents.prompts.build.executor", broken)
    stage.mail()
    Delivery.objects.update(attempts=24)
    assert stage.run(stage.claim()).kind == "released"
    assert not Delivery.objects.filter(seat_id=stage.seat("baker")).exists()
    assert Notice.objects.get().seat_id == stage.seat("rita")
