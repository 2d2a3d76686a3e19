"""A call that needs leave waits with its exact arguments, and runs once when a person gave it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from agents.models.turns import Suspension, ToolCall, Turn
from agents.queries import waits
from agents.tools.tool import Tool
from agents.turn import approvals
from agents.turn.engine import TurnEnd
from crewlet.kernel import clock
from crewlet.kernel.actions import ACTIONS, Door, Outcome, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.errors import ErrorCode, NotFound
from crewlet.kernel.registry import thawed
from orgs.chart import Chart
from orgs.inbox import waiting_rows
from orgs.models.seats import Seat
from orgs.people.actors import seat_actor
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, effects
from tests.support.script import SeenRequest, Step, call

pytestmark = pytest.mark.django_db
REGISTERED = ACTIONS["decide_call"]


def rita() -> Actor:
    seat = Seat.objects.get(handle="rita")
    return Actor(
        ActorKind.PERSON, "rita", "Rita", person_id=seat.id, seat_id=seat.id, handle="rita"
    )


def decide(
    decision: str,
    *,
    op: str = "op",
    actor: Actor | None = None,
    door: Door = Door.FORM,
    **more: Any,
) -> Outcome:
    with thawed(ACTIONS):
        ACTIONS._entries["decide_call"] = REGISTERED
        wait = str(Suspension.objects.get().id)
        args = {"wait": wait, "decision": decision, **more}
        return perform(actor or rita(), "decide_call", args, op_id=op, door=door)


def go_on(stage: Stage, turn_id: UUID, *, lost: bool = False) -> TurnEnd:
    stage.adopt(turn_id, lost=lost)
    return stage.run(turn_id, resumed=True)


def last(seen: SeenRequest) -> str:
    assert seen.messages[-1].role == "tool"
    return seen.messages[-1].text


@pytest.fixture
def parked(stage: Stage) -> Turn:
    """A turn of the baker that hangs on `note_on`, which the company keeps for itself."""
    stage.company(budget="approvals: [note_on]")
    stage.executes(NOTE)
    end, turn = stage.work()
    assert end.kind == "suspended"
    assert effects() == 0
    return turn


@pytest.mark.covers("TURN-80", "ADD-1")
def test_leave_is_asked_of_the_nearest_person_with_the_exact_arguments(
    stage: Stage, parked: Turn
) -> None:
    wait = Suspension.objects.get()
    assert (wait.kind, wait.tool) == ("approval", "note_on")
    assert wait.asked == Seat.objects.get(handle="rita")
    assert wait.args_text == ToolCall.objects.get().args_text
    (row,) = waiting_rows(rita(), clock.now())
    assert row.reason == "A call needs your leave"
    assert waits.by_seat()[stage.seat()]["who"] == "Rita Founder"


def test_an_approved_call_runs_once_however_often_it_is_approved(
    stage: Stage, parked: Turn
) -> None:
    stage.executes(SUBMIT)
    stage.reviews(DONE)
    first = decide("approve")
    again = decide("approve")
    assert (first.status, again.replayed) == ("applied", True)
    other = decide("deny", op="other", reason="no")
    assert other.error is not None
    assert other.error.code is ErrorCode.ALREADY_ANSWERED
    assert go_on(stage, parked.id).kind == "completed"
    assert effects() == 1
    assert Suspension.objects.get().by == "rita"


@pytest.mark.parametrize("taken", [False, True])
def test_a_worker_lost_around_the_approved_call_repeats_nothing(
    stage: Stage, parked: Turn, taken: bool
) -> None:
    decide("approve")
    if taken:
        Suspension.objects.update(state="taken")  # the worker died between taking it and the call
    stage.executes(SUBMIT)
    stage.reviews(DONE)
    assert go_on(stage, parked.id, lost=True).kind == "completed"
    assert effects() == 1
    assert "not observed" not in ToolCall.objects.get(name="note_on").result


def test_edited_arguments_run_and_both_are_on_record(stage: Stage, parked: Turn) -> None:
    def told(seen: SeenRequest) -> None:
        assert "Rita Founder (@rita) changed the arguments" in last(seen)
        assert "Noted on ENG-2" in last(seen)

    submit = call("submit_work", summary="Baked.", deliveries=["item:ENG-2"])
    stage.executes(Step(expect=told, calls=[submit]))
    stage.reviews(DONE)
    for wrong in ("{", "[]", '{"item": 5}', '{"nonsense": true}'):
        refused = decide("edit", op=f"bad-{wrong}", arguments=wrong)
        assert refused.error is not None
        assert refused.error.code is ErrorCode.INVALID
    mine = '{"item": "ENG-2", "text": "Eleven loaves."}'
    decide("edit", arguments=mine).unwrap()
    assert go_on(stage, parked.id).kind == "completed"
    ran = ToolCall.objects.get(name="note_on")
    assert (ran.ok, ran.refs, effects()) == (True, ["item:ENG-2"], 1)
    assert ran.args == {"item": "ENG-1", "text": "Twelve loaves are baked."}
    assert Suspension.objects.get().edited_text == mine


def test_a_denial_is_an_answer_and_counts_as_no_delivery(stage: Stage, parked: Turn) -> None:
    def told(seen: SeenRequest) -> None:
        assert not seen.messages[-1].failed
        assert "denied this call" in last(seen)
        assert "the item is frozen" in last(seen)

    blocked = call("submit_work", outcome="blocked", summary="Denied.", evidence="rita denied it")
    stage.executes(Step(expect=told, calls=[blocked]))
    stage.reviews(Step(calls=[call("submit_review", decision="failed", notes="Denied.")]))
    silent = decide("deny", op="silent")
    assert silent.error is not None
    assert silent.error.detail["field"] == "reason"
    decide("deny", reason="the item is frozen").unwrap()
    assert go_on(stage, parked.id).kind == "failed"
    denied = ToolCall.objects.get(name="note_on")
    assert (denied.status, denied.ok, effects()) == ("done", None, 0)


def test_an_agent_gives_no_leave_and_a_stranger_neither(stage: Stage, parked: Turn) -> None:
    chief = seat_actor(Seat.objects.get(handle="chief"))  # it leads the baker, and is an agent
    with pytest.raises(NotFound):
        decide("approve", actor=chief, door=Door.TOOL)
    for actor in (chief, Actor(ActorKind.PERSON, "sam", "Sam")):
        refused = decide("approve", op=actor.login, actor=actor)
        assert refused.error is not None
        assert refused.error.code is ErrorCode.FORBIDDEN
    assert Suspension.objects.get().state == "open"


@pytest.mark.parametrize(
    ("gated", "tool", "waits_for_leave"),
    [
        ({"destructive"}, Tool("drop", "", {}, destructive="yes"), True),
        ({"destructive"}, Tool("drop", "", {}), True),  # an unset hint is not a no
        ({"destructive"}, Tool("look", "", {}, read_only="yes"), False),
        ({"destructive"}, Tool("note", "", {}, destructive="no"), False),
        ({"look"}, Tool("look", "", {}, read_only="yes"), True),
        (set(), Tool("drop", "", {}, destructive="yes"), False),
    ],
)
def test_what_needs_leave(gated: set[str], tool: Tool, waits_for_leave: bool) -> None:
    assert approvals.needs_leave(tool, frozenset(gated)) is waits_for_leave


def test_a_seat_adds_to_what_the_company_keeps(stage: Stage) -> None:
    stage.company(budget="approvals: [destructive]", seat_budget="    approvals: [log_it]")
    assert approvals.gates(stage.snapshot, "baker") == {"destructive", "log_it"}
    assert approvals.gates(stage.snapshot, "chief") == {"destructive"}
    chart: Chart = stage.snapshot.chart
    assert approvals.person_above(chart, "baker") == "rita"
    assert approvals.person_above(chart, "rita") is None
