"""Two real workers, real signals: what a company sees when one dies, freezes or is told to go."""

from __future__ import annotations

import signal
from typing import cast

import pytest
from django.db import connection, transaction

from agents.mail.post import post
from agents.models.mail import Completion, Delivery
from agents.models.seats import HoldReason, Node, SeatLease
from agents.models.turns import Turn
from agents.seats import holds, presence
from crewlet.kernel import clock
from crewlet.kernel.redis import client, key
from crewlet.ops import roster
from tests.agents.play import a_company, a_letter, post_now
from tests.support.played_worker import ENTERED, GO, role
from tests.support.processes import Process, Processes
from tests.support.until import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

READY = 60.0


def start(processes: Processes, node_id: str, play: str = "ends") -> Process:
    """Starts a worker and waits until it is a live node."""
    process = processes.start(role(node_id, play))

    def live() -> bool:
        assert not process.ended, process.output
        return Node.objects.filter(node_id=node_id, ended_at=None).exists()

    until(live, READY, what=f"{node_id} is live")
    return process


def entered() -> list[str]:
    return cast("list[str]", client().lrange(key(ENTERED), 0, -1))


def let_go() -> None:
    client().set(key(GO), "1")


def holders() -> dict[str, int]:
    found: dict[str, int] = {}
    for lease in SeatLease.objects.exclude(owner=None).select_related("owner"):
        name = lease.owner.node_id if lease.owner else ""
        found[name] = found.get(name, 0) + 1
    return found


def test_two_workers_share_the_seats_and_every_letter_is_worked_once(
    processes: Processes,
) -> None:
    seats = a_company("s1", "s2", "s3", "s4")
    one = start(processes, "one")
    until(lambda: holders() == {"one": 4}, READY, what="one holds everything")
    start(processes, "two")
    until(lambda: holders() == {"one": 2, "two": 2}, READY, what="the seats are shared")
    for handle in ("s1", "s2", "s3", "s4"):
        for n in range(5):
            post_now(seats[handle], a_letter(n=n, batch_key=f"k{n}"))
    until(lambda: Completion.objects.count() == 20, READY, what="all mail is worked")
    assert not Delivery.objects.exists()
    assert Turn.objects.count() == 20
    assert set(Turn.objects.values_list("outcome", flat=True)) == {"completed"}
    one.terminate()
    assert one.wait() == 0, one.output
    until(lambda: holders() == {"two": 4}, READY, what="two takes over what one gave back")


def test_a_wake_reaches_the_holder_well_before_the_sweep(processes: Processes) -> None:
    kofi = a_company("kofi")["kofi"]
    process = processes.start(role("one", "ends"), CREWLET_SWEEP_SECONDS="60")
    process.until_it_says(" ready.")
    until(lambda: holders() == {"one": 1}, READY)
    post_now(kofi, a_letter())
    until(lambda: Completion.objects.count() == 1, 5, what="the wake alone brought the turn")


@pytest.mark.covers("RUN-1")
def test_mail_whose_wake_was_lost_is_found_by_the_sweep(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents import wake

    kofi = a_company("kofi")["kofi"]
    start(processes, "one")
    until(lambda: holders() == {"one": 1}, READY)
    monkeypatch.setattr(wake, "_send", lambda _seat: None)
    post_now(kofi, a_letter())
    until(lambda: Completion.objects.count() == 1, 10, what="the sweep found it")


@pytest.mark.covers("RUN-11", "PEER-15")
@pytest.mark.parametrize("supervised", [True, False])
def test_a_killed_workers_turn_is_taken_up_by_another(
    processes: Processes, *, supervised: bool
) -> None:
    kofi = a_company("kofi")["kofi"]
    letter = a_letter()
    post_now(kofi, letter)
    one = start(processes, "one", "waits")
    (turn_id,) = until(entered, READY, what="the turn runs")
    one.kill()
    if supervised:  # a supervisor that saw it die ends its incarnation: nothing waits for a lease
        presence.end_if_live("one")
    let_go()
    start(processes, "two", "waits")
    until(lambda: Completion.objects.count() == 1, READY, what="the turn is finished elsewhere")
    turn = Turn.objects.get()
    assert str(turn.id) == turn_id
    assert (turn.outcome, turn.node_lost, turn.lease_epoch) == ("completed", 1, 2)
    assert entered() == [turn_id, turn_id]
    assert not Delivery.objects.exists()


@pytest.mark.covers("RUN-20", "RUN-22")
def test_a_worker_that_froze_past_its_lease_writes_nothing_when_it_wakes(
    processes: Processes,
) -> None:
    kofi = a_company("kofi")["kofi"]
    post_now(kofi, a_letter())
    one = start(processes, "one", "waits")
    until(entered, READY, what="the turn runs")
    one.freeze()
    start(processes, "two", "waits")
    until(lambda: len(entered()) == 2, READY, what="two took the turn over")
    let_go()
    until(lambda: Completion.objects.count() == 1, READY, what="two finished it")
    done = Completion.objects.get()
    one.thaw()
    until(lambda: "seat_lost" in one.output or "node_ended" in one.output, READY, what=one.output)
    assert Completion.objects.get() == done
    turn = Turn.objects.get()
    assert (turn.lease_epoch, turn.node.partition(":")[0]) == (2, "two")
    assert done.lease_epoch == 2


@pytest.mark.covers("RUN-50", "TURN-81")
def test_sigterm_lets_the_running_turn_finish_and_starts_no_other(processes: Processes) -> None:
    kofi = a_company("kofi")["kofi"]
    post_now(kofi, a_letter("first", n=1))
    one = start(processes, "one", "waits")
    until(entered, READY, what="the turn runs")
    one.until_it_says(" ready.")  # before it, Celery does not listen to signals yet
    post_now(kofi, a_letter("second", n=2, batch_key="other"))
    one.terminate()
    one.until_it_says("engine_draining")
    assert not one.ended
    let_go()
    assert one.wait() == 0, one.output
    assert Turn.objects.get().outcome == "completed"
    left = Delivery.objects.get()
    assert (left.payload["text"], left.attempts, left.turn_id) == ("second", 0, None)
    assert not SeatLease.objects.exclude(owner=None).exists()
    assert Node.objects.get().ended_at is not None


@pytest.mark.covers("RUN-52", "TURN-81")
def test_a_second_signal_kills_at_once_and_the_turn_goes_on_elsewhere(
    processes: Processes,
) -> None:
    kofi = a_company("kofi")["kofi"]
    post_now(kofi, a_letter())
    one = start(processes, "one", "waits")
    until(entered, READY, what="the turn runs")
    one.until_it_says(" ready.")
    one.terminate()
    one.until_it_says("engine_draining")
    one.terminate()
    assert one.wait(5) == -signal.SIGTERM, one.output
    let_go()
    start(processes, "two", "waits")
    until(lambda: Completion.objects.count() == 1, READY, what="the turn is finished elsewhere")
    assert Turn.objects.get().node_lost == 1


@pytest.mark.covers("TURN-77", "TURN-79")
def test_pause_with_stop_ends_the_turn_wherever_it_runs(processes: Processes) -> None:
    kofi = a_company("kofi")["kofi"]
    post_now(kofi, a_letter())
    start(processes, "one", "waits")
    until(entered, READY, what="the turn runs")
    with transaction.atomic():
        holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=clock.now(), stop_running=True)
    until(lambda: Turn.objects.get().outcome == "stopped", READY)
    post_now(kofi, a_letter())
    assert Delivery.objects.count() == 1


def test_mail_that_kills_every_worker_is_set_aside_after_five(processes: Processes) -> None:
    kofi = a_company("kofi")["kofi"]
    with transaction.atomic():
        post(kofi, a_letter("poison"))
    for _ in range(5):
        process = start(processes, "one", "dies")
        process.wait(READY)
        presence.end_if_live("one")
    start(processes, "one")
    with connection.cursor() as cursor:

        def buried() -> bool:
            cursor.execute("SELECT count(*) FROM agents_deadletter")
            return bool(cursor.fetchone()[0])

        until(buried, READY, what="the letter is a dead letter")
    turn = Turn.objects.get()
    assert (turn.outcome, turn.error_kind, turn.node_lost) == ("failed", "node_lost", 5)


def test_a_second_process_of_the_same_name_does_not_boot(processes: Processes) -> None:
    a_company("kofi")
    start(processes, "one")
    twin = processes.start(role("one", "ends"))
    assert twin.wait(READY) == 75
    assert "CREWLET_NODE_ID" in twin.output
    assert Node.objects.filter(ended_at=None).count() == 1


def test_a_worker_that_was_declared_dead_leaves_by_itself(processes: Processes) -> None:
    a_company("kofi")
    one = start(processes, "one")
    until(lambda: holders() == {"one": 1}, READY)
    presence.end_if_live("one")
    assert one.wait(READY) == 0, one.output
    assert "node_ended" in one.output
    assert SeatLease.objects.get().owner_id is None


def test_beat_ticks_and_the_duty_worker_does_what_is_due(processes: Processes) -> None:
    a_company("kofi")
    duty = processes.start_worker("two", duty=True)
    processes.start(roster.beat())
    until(lambda: client().exists(key("duty", "a2a_channels")), READY, what=duty.output)
    assert not Node.objects.exists(), "a duty worker takes no seats"
    duty.terminate()
    assert duty.wait() == 0, duty.output
