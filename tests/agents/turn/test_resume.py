"""A worker dies anywhere; another one goes on. Nothing of ours happens twice, no answer is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from agents.models.budgets import LlmCall
from agents.models.mail import Completion, Delivery
from agents.models.turns import IterationRecord, Phase, Round, Segment, ToolCall, Turn
from agents.tools import registry
from agents.tools import run_call as run_call_module
from agents.tools.run_call import CallResult
from agents.tools.tool import Tool
from agents.turn import discovering, loop, words
from agents.turn.running import TurnEnd
from crewlet.kernel import failpoints
from crewlet.kernel.errors import Fenced
from crewlet.kernel.models import Operation
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, again, effects
from tests.support.script import Step, call

pytestmark = pytest.mark.django_db(transaction=True)

LOOK = Step(calls=[call("look_at", item="ENG-1")])

# Places after a commit: what was answered before them is on record, so nothing is asked again.
AFTER_A_COMMIT = (
    "turn.opened", "context.built", "answer.recorded", "call.before", "submission.recorded",
    "check.done", "iteration.recorded", "settled",
)  # fmt: skip
# Places before a commit: the answer in hand is lost and asked for once more.
BEFORE_A_COMMIT = ("answer.received", "settle.before")


class Killed(BaseException):
    """The process is gone: nothing catches this."""


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Kills the worker at the n-th pass of a failpoint, until it is lifted."""

    def gone(*_signal: object) -> None:
        monkeypatch.delenv("CREWLET_FAILPOINT")
        raise Killed

    def arm(name: str, n: int = 1) -> None:
        failpoints._hits.clear()
        monkeypatch.setenv("CREWLET_FAILPOINT", f"{name}:{n}")
        monkeypatch.setattr("crewlet.kernel.failpoints.os.kill", gone)

    yield arm
    failpoints._hits.clear()


def go_on(stage: Stage, turn_id: Any) -> TurnEnd:
    """Takes the turn over on another worker, under a new epoch."""
    connection.close()
    stage.adopt(turn_id, lost=True)
    return stage.run(turn_id, resumed=True)


def a_day(stage: Stage) -> None:
    """Two passes: read, write and submit; sent back; submit again; done."""
    stage.executes(
        Step(calls=[*LOOK.calls, *NOTE.calls]), SUBMIT,
        Step(expect="Bake one more.", calls=SUBMIT.calls),
    )  # fmt: skip
    stage.reviews(again(), DONE)


def killed(stage: Stage, turn_id: Any) -> bool:
    try:
        stage.run(turn_id)
    except Killed:
        return True
    return False


@pytest.mark.covers("TURN-12", "RUN-11", "PEER-17")
@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("name", [*AFTER_A_COMMIT, "call.effect", "call.recorded"])
def test_a_worker_killed_after_a_commit_repeats_neither_a_question_nor_an_effect(
    stage: Stage, kill_at: Any, name: str, nth: int
) -> None:
    a_day(stage)
    stage.mail()
    kill_at(name, nth)
    try:
        turn_id = stage.claim()
    except Killed:
        turn_id = Turn.objects.get().id
    if killed(stage, turn_id) or Turn.objects.get().stage != "done":
        assert name == "settled" or go_on(stage, turn_id).kind == "completed"
    turn = Turn.objects.get()
    assert (turn.outcome, turn.iteration) == ("completed", 2)
    assert effects() == 1
    assert stage.server.stats.report()["repeats"] == 0
    assert Round.objects.count() == turn.calls == 5
    assert not Delivery.objects.exists()
    assert Completion.objects.count() == 1
    assert not ToolCall.objects.filter(status="running").exists()
    assert IterationRecord.objects.count() == 1


@pytest.mark.parametrize("name", BEFORE_A_COMMIT)
def test_a_worker_killed_with_an_answer_in_hand_asks_once_more_and_acts_once(
    stage: Stage, kill_at: Any, name: str
) -> None:
    stage.executes(*([NOTE, NOTE] if name == "answer.received" else [NOTE]), SUBMIT)
    stage.reviews(*([DONE, DONE] if name == "settle.before" else [DONE]))
    stage.mail()
    turn_id = stage.claim()
    kill_at(name)
    assert killed(stage, turn_id)
    assert go_on(stage, turn_id).kind == "completed"
    assert stage.server.stats.report()["repeats"] == 1
    assert effects() == 1
    assert Turn.objects.get().calls == 3


@pytest.mark.covers("ADD-10")
@pytest.mark.parametrize(
    ("name", "lost"), [("answer.received", 1), ("settle.before", 1), ("call.effect", 0)]
)
def test_an_answer_that_was_asked_for_and_lost_is_counted_as_unobserved(
    stage: Stage, kill_at: Any, name: str, lost: int
) -> None:
    """The vendor may have counted it, and nobody knows its tokens."""
    stage.executes(*([NOTE, NOTE] if name == "answer.received" else [NOTE]), SUBMIT)
    stage.reviews(*([DONE, DONE] if name == "settle.before" else [DONE]))
    stage.mail()
    turn_id = stage.claim()
    kill_at(name)
    assert killed(stage, turn_id)
    assert go_on(stage, turn_id).kind == "completed"
    rows = LlmCall.objects.filter(turn_id=turn_id)
    assert rows.filter(unobserved=True, tokens_in=0, tokens_out=0).count() == lost
    assert rows.filter(unobserved=False).count() == Round.objects.count() == 3
    assert rows.count() == len(stage.server.seen)


def test_an_effect_that_was_not_committed_happens_once_when_the_turn_goes_on(
    stage: Stage, kill_at: Any
) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    kill_at("call.effect")
    assert killed(stage, turn_id)
    connection.close()
    assert (effects(), Operation.objects.count()) == (0, 0)
    assert ToolCall.objects.get().status == "running"
    assert go_on(stage, turn_id).kind == "completed"
    assert (effects(), Operation.objects.count()) == (1, 1)


@pytest.mark.covers("RUN-11")
def test_the_prompts_of_a_resumed_phase_are_the_very_ones_it_began_with(
    stage: Stage, kill_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.executes(LOOK, NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    kill_at("answer.recorded")
    assert killed(stage, turn_id)

    def never(*_context: object) -> None:
        raise AssertionError("a stored prompt was built again")

    monkeypatch.setattr("agents.prompts.build.executor", never)
    assert go_on(stage, turn_id).kind == "completed"
    seen = [r for r in stage.server.seen if "submit_work" in r.tools]
    assert len({(r.system, r.messages[0].text if r.messages else "") for r in seen}) == 1
    assert Phase.objects.filter(phase="execute").count() == 1


def outside(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Gives the seat a tool of somebody else's system; returns what it was called with."""
    sent: list[str] = []
    mcp = Tool("post_message", "Posts.", {"type": "object"}, read_only="no", source="mcp:slack",
               surface="slack")  # fmt: skip
    known = registry.surface
    monkeypatch.setattr(discovering, "hidden", lambda *_: False)  # as one that was taken up

    def with_mcp(snapshot: Any, handle: str, phase: str) -> tuple[Tool, ...]:
        return (*known(snapshot, handle, phase), mcp)

    def run_call(tool: Tool, part: Any, actor: Any, pen: Any) -> CallResult:
        if tool is mcp:
            sent.append(part.arguments_text)
            return CallResult(True, "posted", ("slack:1",))
        return registry_run(tool, part, actor, pen)

    registry_run = run_call_module.run_call
    monkeypatch.setattr("agents.turn.running.surface", with_mcp)
    monkeypatch.setattr(loop, "run_call", run_call)
    return sent


POST = Step(calls=[call("post_message", text="one"), call("post_message", text="two")])


@pytest.mark.covers("PEER-17")
def test_an_outside_call_that_was_cut_off_is_never_made_again(
    stage: Stage, kill_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = outside(stage, monkeypatch)
    told = Step(expect=words.NOT_OBSERVED, calls=NOTE.calls)
    stage.executes(POST, told, SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    kill_at("call.effect")
    assert killed(stage, turn_id)
    assert sent == ['{"text": "one"}']
    assert go_on(stage, turn_id).kind == "completed"
    assert sent == ['{"text": "one"}', '{"text": "two"}'], "the one after it had not begun"
    first = ToolCall.objects.get(name="post_message", ord=0)
    assert (first.ok, first.result) == (False, words.NOT_OBSERVED)


@pytest.mark.covers("PEER-17")
def test_an_outside_call_is_recorded_before_the_next_one_begins(
    stage: Stage, kill_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = outside(stage, monkeypatch)
    stage.executes(POST, NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    kill_at("call.recorded")
    assert killed(stage, turn_id)
    connection.close()
    first, second = ToolCall.objects.order_by("ord")
    assert (first.status, first.ok, second.status) == ("done", True, "running")
    assert go_on(stage, turn_id).kind == "completed"
    second.refresh_from_db()
    assert len(sent) == 1
    assert second.result == words.NOT_OBSERVED, "nobody can know that it had not begun"


@pytest.mark.covers("RUN-22", "TURN-77")
def test_a_worker_that_lost_the_seat_writes_nothing_more(stage: Stage) -> None:
    stage.executes(NOTE)
    stage.mail()
    turn_id = stage.claim()

    def lose_it() -> None:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE agents_seatlease SET epoch = epoch + 1")

    asked = stage.host.should_stop
    seen: list[int] = []

    def stop_then_lose() -> Any:
        seen.append(1)
        if len(seen) == 2:  # the fence of the call, after the answer is on record
            lose_it()
        return asked()

    stage.host.should_stop = stop_then_lose  # type: ignore[method-assign]
    with pytest.raises(Fenced):
        stage.run(turn_id)
    assert effects() == 0
    assert ToolCall.objects.get().status == "running"
    assert Turn.objects.get().stage == "phase"


def test_a_taken_over_turn_counts_its_segments_and_keeps_its_start(
    stage: Stage, kill_at: Any
) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    began = Turn.objects.get().started_at
    kill_at("answer.recorded")
    assert killed(stage, turn_id)
    go_on(stage, turn_id)
    turn = Turn.objects.get()
    assert (turn.started_at, turn.node_lost) == (began, 1)
    assert Segment.objects.count() == 1, "a lost worker is no park"
