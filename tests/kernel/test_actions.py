"""The wrapper around every verb: once, guarded, recorded."""

from __future__ import annotations

import json
from threading import Barrier, Thread

import pytest
from django.db import IntegrityError, connection

from crewlet.kernel import drain
from crewlet.kernel.actions import ACTIONS, Args, Door, Doors, Outcome, Result, action, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import (
    CrewletError,
    Draining,
    ErrorCode,
    Fenced,
    Forbidden,
    Invalid,
    NotFound,
    Unavailable,
)
from crewlet.kernel.models import AuditEntry, EngineEvent, Operation
from crewlet.kernel.registry import RegistryError, thawed
from tests.kernel.conftest import REFUSAL, Probe, person, seat

pytestmark = pytest.mark.django_db(transaction=True)
ANA = person(Grant.WORK_WRITE, Grant.STATE_READ)


def call(
    note: str = "one", *, actor: Actor = ANA, op: str | None = None, **extra: object
) -> Outcome:
    return perform(actor, "probe", {"note": note, **extra}, op_id=op, door=Door.REST)


def test_a_write_leaves_its_effect_one_audit_row_and_one_operation(probe: Probe) -> None:
    result = call(op="k1").unwrap()

    assert result == Result("Noted one", ("note:one",), {"n": 1})
    audit = AuditEntry.objects.get()
    assert (audit.actor, audit.action, audit.door, audit.refs) == (
        "ana",
        "probe",
        "rest",
        ["note:one"],
    )
    assert Operation.objects.get().key == "ana/k1"
    assert probe.committed == ["one"]


@pytest.mark.covers("TURN-11")
def test_the_same_operation_id_answers_again_without_a_second_effect(probe: Probe) -> None:
    first, second = call(op="k1"), call(op="k1")

    assert (first.replayed, second.replayed) == (False, True)
    assert second.unwrap() == first.unwrap()
    assert probe.ran == ["one"]
    assert AuditEntry.objects.count() == 1


def test_the_same_operation_id_of_another_actor_is_another_operation(probe: Probe) -> None:
    call(op="k1")
    call(op="k1", actor=person(Grant.WORK_WRITE, login="bo"))

    assert len(probe.ran) == 2


def test_the_same_operation_id_with_other_arguments_is_a_conflict(probe: Probe) -> None:
    call(op="k1")
    with pytest.raises(CrewletError) as refused:
        call("two", op="k1")

    assert refused.value.code is ErrorCode.OPERATION_CONFLICT
    assert probe.ran == ["one"]


def test_eight_racers_with_one_operation_id_have_one_effect(probe: Probe) -> None:
    barrier, answers = Barrier(8), []

    def race() -> None:
        barrier.wait()
        try:
            answers.append(call(op="k1").unwrap().message)
        finally:
            connection.close()

    threads = [Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == ["Noted one"] * 8
    assert probe.committed == ["one"]
    assert (AuditEntry.objects.count(), EngineEvent.objects.count()) == (1, 1)


def test_a_refusal_rolls_the_effect_back_and_stays_stored(probe: Probe) -> None:
    probe.fail_with = REFUSAL
    outcome = call(op="k1")
    probe.fail_with = None
    again = call(op="k1")

    assert (outcome.status, again.status, again.replayed) == ("refused", "refused", True)
    assert again.error is not None and again.error.detail == {"current_version": 3}
    assert EngineEvent.objects.count() == 0
    assert probe.committed == []
    assert AuditEntry.objects.get().refused == "conflict"


def test_a_bug_leaves_nothing_behind(probe: Probe) -> None:
    probe.fail_with = IntegrityError("broken")
    with pytest.raises(IntegrityError):
        call(op="k1")

    assert (Operation.objects.count(), AuditEntry.objects.count()) == (0, 0)


@pytest.mark.parametrize("undecided", [Fenced("gone"), Unavailable("later")])
def test_what_was_not_decided_is_not_stored(probe: Probe, undecided: CrewletError) -> None:
    probe.fail_with = undecided
    with pytest.raises(type(undecided)):
        call(op="k1")
    probe.fail_with = None

    assert call(op="k1").status == "applied"


def test_a_missing_grant_is_refused_by_name_and_touches_nothing(probe: Probe) -> None:
    outcome = call(actor=person(Grant.STATE_READ))

    assert outcome.error is not None and outcome.error.code is ErrorCode.FORBIDDEN
    assert outcome.error.detail["grants"] == ["work:write"]
    assert probe.ran == []


@pytest.mark.covers("ORG-121")
def test_a_rule_refuses_everybody_whom_it_does_not_fit(probe: Probe) -> None:
    for actor in (ANA, seat()):
        outcome = call("forbidden", actor=actor)
        with pytest.raises(Forbidden, match="not for you"):
            outcome.unwrap()


@pytest.mark.covers("ORG-121")
def test_an_agent_seat_may_use_what_lists_the_tool_door_and_nothing_else(probe: Probe) -> None:

    class PeopleArgs(Args):
        """Arguments of a verb for people."""

    with thawed(ACTIONS):

        @action("for_people", args=PeopleArgs, doors=Doors.PEOPLE, grant=Grant.WORK_WRITE)
        def for_people(actor: Actor, args: PeopleArgs, target: None) -> Result:
            """For people."""
            return Result("done")

        allowed = perform(seat(), "probe", {"note": "x"}, op_id=None, door=Door.TOOL)
        with pytest.raises(NotFound):
            perform(seat(), "for_people", {}, op_id=None, door=Door.TOOL)
        refused = perform(seat(), "for_people", {}, op_id=None, door=Door.REST)

    assert allowed.status == "applied"
    assert isinstance(refused.error, Forbidden)


def test_bad_arguments_are_refused_by_field_and_claim_no_operation(probe: Probe) -> None:
    with pytest.raises(Invalid) as refused:
        perform(ANA, "probe", {"times": "many", "colour": 1}, op_id="k1", door=Door.REST)

    fields = {problem["field"] for problem in refused.value.detail["problems"]}
    assert fields == {"note", "times", "colour"}
    assert Operation.objects.count() == 0


@pytest.mark.covers("ORG-121")
def test_an_unknown_action_answers_the_nearest_ones(probe: Probe) -> None:
    with pytest.raises(NotFound, match=r"Did you mean .*probe"):
        perform(ANA, "prob", {}, op_id=None, door=Door.REST)


def test_a_read_needs_its_grant_and_leaves_no_row(probe: Probe) -> None:
    assert perform(ANA, "look", {}, op_id=None, door=Door.REST).status == "applied"
    assert perform(person(), "look", {}, op_id=None, door=Door.REST).status == "refused"
    assert (Operation.objects.count(), AuditEntry.objects.count()) == (0, 0)


def test_the_fence_runs_first_and_the_journal_inside_the_same_commit(probe: Probe) -> None:
    order: list[str] = []
    probe.hook = lambda: order.append("effect")

    def within(outcome: Outcome) -> None:
        assert connection.in_atomic_block
        order.append("journal")

    perform(
        ANA,
        "probe",
        {"note": "x"},
        op_id="k1",
        door=Door.TOOL,
        scope="turn:1",
        before=lambda: order.append("fence"),
        within=within,
    )
    assert order == ["fence", "effect", "journal"]


def test_a_fence_that_does_not_hold_leaves_nothing(probe: Probe) -> None:
    def fenced() -> None:
        raise Fenced("another holder")

    with pytest.raises(Fenced):
        perform(ANA, "probe", {"note": "x"}, op_id="k1", door=Door.TOOL, before=fenced)
    assert (probe.ran, Operation.objects.count()) == ([], 0)


@pytest.mark.covers("RUN-51")
def test_while_draining_people_wait_and_a_running_turn_goes_on(probe: Probe) -> None:
    drain.raise_mark("test")
    with pytest.raises(Draining) as refused:
        call()
    assert refused.value.retry_after is not None
    assert perform(seat(), "probe", {"note": "x"}, op_id=None, door=Door.TOOL).status == "applied"

    drain.lower()
    assert call().status == "applied"


def test_a_write_costs_at_most_eight_statements(
    probe: Probe, django_assert_max_num_queries: pytest.FixtureDef[object]
) -> None:
    call("warm")
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        call("counted")


def test_two_verbs_cannot_share_a_name_or_an_argument_model(probe: Probe) -> None:
    entry = ACTIONS.named("probe")
    with thawed(ACTIONS):
        with pytest.raises(RegistryError, match="twice"):
            ACTIONS.register("probe", entry)
        with pytest.raises(RuntimeError, match="is probe's already"):
            action("probe_two", args=entry.args)(entry.function)


def test_outcomes_survive_being_stored(probe: Probe) -> None:
    probe.fail_with = REFUSAL
    stored = call(op="k1").to_json()
    row = Operation.objects.get().outcome
    assert json.loads(json.dumps(row)) == stored
