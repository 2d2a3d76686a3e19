"""From mail to a turn, on one host with real threads, rows and fences."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction

from agents.dispatch import park
from agents.dispatch.turns import Stop, TurnContext
from agents.mail import claim, triggers
from agents.mail.triggers import TriggerKind
from agents.models.mail import Completion, DeadLetter, Delivery
from agents.models.seats import HoldReason, SeatHold, SeatLease
from agents.models.turns import Turn
from agents.seats import holds, presence
from agents.seats.host import SeatHost
from agents.seats.lease import Lease
from crewlet.kernel import clock, drain
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from tests.agents.play import (
    PlayedTurns,
    a_company,
    a_letter,
    a_node,
    an_open_turn,
    lapse,
    post_now,
    texts_of,
)
from tests.support.until import until

pytestmark = pytest.mark.django_db(transaction=True)

MakeHost = Callable[..., SeatHost]


@pytest.fixture
def kofi() -> UUID:
    return a_company("kofi")["kofi"]


def refused(turns: PlayedTurns, host: SeatHost, seat: UUID) -> bool:
    """Looks once, here and now; returns whether nothing ran and the mail was left as it was."""
    before = list(Delivery.objects.order_by("seq").values())
    ran = len(turns.ran)
    assert host.runner is not None
    host.runner.gate._work(seat)  # type: ignore[attr-defined]
    return len(turns.ran) == ran and before == list(Delivery.objects.order_by("seq").values())


def still(host: SeatHost) -> Callable[[], bool]:
    assert host.runner is not None
    gate = host.runner.gate  # type: ignore[attr-defined]
    return lambda: gate.in_flight() == 0 and gate.waiting() == 0


@pytest.mark.covers("RUN-5", "TURN-4")
def test_mail_becomes_one_turn_and_is_finished_with(kofi: UUID, make_host: MakeHost) -> None:
    turns = PlayedTurns()
    post_now(kofi, a_letter("one", n=1), a_letter("two", n=2))
    host = make_host(turns)
    host.start()
    until(lambda: Completion.objects.count() == 2, 10)
    turn = Turn.objects.get()
    assert list(texts_of(turn)) == ["one", "two"]
    assert (turn.outcome, turn.lease_epoch, turn.node) == ("completed", 1, host.incarnation)
    assert not Delivery.objects.exists()
    event = EngineEvent.objects.get(type="notifications_coalesced")
    assert event.payload == {"batch_key": "tracker:ENG-1", "count": 2}
    assert host.seats() == [kofi]


@pytest.mark.covers("TURN-1", "RUN-5")
def test_conversations_of_a_seat_run_one_after_the_other_oldest_first(
    kofi: UUID, make_host: MakeHost
) -> None:
    running = threading.Semaphore(1)

    def alone(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        assert running.acquire(blocking=False), "two turns of one seat at once"
        turns.settle(turn_id, lease)
        running.release()

    turns = PlayedTurns(alone)
    post_now(kofi, *(a_letter(f"m{n}", n=9 - n, batch_key=f"k{n}") for n in range(4)))
    make_host(turns).start()
    until(lambda: Completion.objects.count() == 4, 10)
    order = [texts_of(Turn.objects.get(id=turn_id))[0] for turn_id, _ in turns.ran]
    assert order == ["m3", "m2", "m1", "m0"]


@pytest.mark.covers("TURN-1", "RUN-36")
def test_seats_run_side_by_side_up_to_the_ceiling(make_host: MakeHost) -> None:
    seats = a_company("kofi", "mara", "ivo")
    together = threading.Barrier(2)
    most = []

    def meet(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        together.wait(timeout=10)  # two slots: each pair meets, a serial host would never
        most.append(host.runner.in_flight())  # type: ignore[union-attr]
        turns.settle(turn_id, lease)

    for handle in ("kofi", "mara"):
        post_now(seats[handle], a_letter())
        post_now(seats[handle], a_letter(batch_key="other"))
    host = make_host(PlayedTurns(meet), capacity=2)
    host.start()
    until(lambda: Completion.objects.count() == 4, 10)
    assert max(most) == 2


@pytest.mark.covers("TURN-1", "RUN-3")
def test_mail_that_comes_while_a_turn_runs_waits_and_is_the_next_turn(
    kofi: UUID, make_host: MakeHost
) -> None:
    here, go = threading.Event(), threading.Event()

    def slow(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        here.set()
        assert go.wait(10)
        turns.settle(turn_id, lease)

    turns = PlayedTurns(slow)
    post_now(kofi, a_letter("first", n=1))
    make_host(turns).start()
    assert here.wait(10)
    post_now(kofi, a_letter("second", n=2))
    waiting = Delivery.objects.get(turn=None)
    assert waiting.attempts == 0
    go.set()
    until(lambda: Completion.objects.count() == 2, 10)
    assert [texts_of(Turn.objects.get(id=turn_id)) for turn_id, _ in turns.ran] == [
        ["first"],
        ["second"],
    ]


@pytest.mark.covers("RUN-10", "TURN-3")
def test_partial_overlap_works_only_what_is_new(kofi: UUID, make_host: MakeHost) -> None:
    a, b, c = (a_letter(text, n=n) for n, text in enumerate("abc"))
    post_now(kofi, a, b, c)
    for letter in (a, b):
        Completion.objects.create(
            seat_id=kofi, event_id=letter.event_id, turn_id=new_id(), outcome="completed",
            at=clock.now(),
        )  # fmt: skip
    make_host(PlayedTurns()).start()
    until(lambda: Completion.objects.count() == 3, 10)
    assert texts_of(Turn.objects.get()) == ["c"]
    assert EngineEvent.objects.filter(type="turn_trigger_skipped").count() == 2


@pytest.mark.covers("TURN-2")
def test_an_informational_letter_needs_no_turn_and_does_not_come_back(
    kofi: UUID, make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = TriggerKind("fyi", "For your information", lambda _: ("none", ""), str, wakes=False)
    monkeypatch.setitem(triggers.TRIGGERS._entries, "fyi", quiet)
    told, asked = a_letter(kind="fyi", n=1, batch_key="a"), a_letter("do it", n=2, batch_key="b")
    post_now(kofi, told, asked)
    make_host(PlayedTurns()).start()
    until(lambda: Completion.objects.count() == 2, 10)
    assert texts_of(Turn.objects.get()) == ["do it"]
    assert post_now(kofi, told) == [False]


@pytest.mark.covers("RUN-3", "RUN-8", "RUN-21", "TURN-2")
def test_a_refused_look_says_why_and_leaves_the_mail_as_it_was(
    kofi: UUID, make_host: MakeHost
) -> None:
    turns = PlayedTurns()
    host = make_host(turns)
    post_now(kofi, a_letter())
    assert refused(turns, host, kofi), "no lease"

    presence.register(host.incarnation, "one", roles=frozenset({"seats"}), capacity=1, ttl=60)
    host.renew_once()
    host.runner.gate._limit = 0  # type: ignore[union-attr]  # nothing runs but what the test runs
    host._share()
    assert host.lease_of(kofi) is not None
    host._renewed_at = clock.monotonic() - host.settings.heartbeat
    assert refused(turns, host, kofi), "a stale renewal"
    host.renew_once()

    drain.raise_mark("up")
    assert refused(turns, host, kofi), "the engine drains"
    drain.lower()

    with transaction.atomic():
        holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=clock.now())
    assert refused(turns, host, kofi), "paused"
    with transaction.atomic():
        holds.put(kofi, HoldReason.NO_PROVIDER, by="engine", now=clock.now())
        holds.lift(kofi, HoldReason.SEAT_PAUSED)
    assert refused(turns, host, kofi), "no model"
    holds.lift(kofi, HoldReason.NO_PROVIDER)

    assert not refused(turns, host, kofi)
    assert Completion.objects.count() == 1


@pytest.mark.covers("TURN-83")
def test_a_budget_without_room_holds_the_mail_until_its_window_ends_or_is_raised(
    make_host: MakeHost,
) -> None:
    seats = a_company("kofi", token_budget={"day": 1000})
    kofi = seats["kofi"]
    spend(2000)
    turns = PlayedTurns()
    post_now(kofi, a_letter())
    host = make_host(turns)
    host.start()
    until(lambda: SeatHold.objects.filter(reason="budget_window").exists(), 10)
    hold = SeatHold.objects.get()
    assert hold.until is not None and hold.until > clock.now()
    assert {"scope", "period", "used", "limit", "refused_at"} <= set(hold.detail)
    assert EngineEvent.objects.filter(type="seat_budget_parked").count() == 1
    assert Delivery.objects.get().attempts == 0

    a_company("kofi", token_budget={"day": 9000})  # raised: released at once, not at midnight
    until(lambda: Completion.objects.count() == 1, 10)
    assert not SeatHold.objects.exists()
    assert EngineEvent.objects.filter(type="seat_budget_released").count() == 1


def spend(tokens: int) -> None:
    """Counts tokens in today's company window."""
    from agents.budgets import windows
    from agents.models.budgets import BudgetWindow
    from orgs import epochs

    for window in windows.windows_at(clock.now(), epochs.active().timezone):
        BudgetWindow.objects.create(
            scope=windows.COMPANY,
            kind=window.kind.value,
            starts_on=window.starts_on,
            ends_at=window.ends_at,
            used=tokens,
            tz="UTC",
        )


@pytest.mark.covers("TURN-12", "TURN-83")
def test_a_parked_turn_stays_the_seats_turn_and_goes_on_at_its_time(
    kofi: UUID, make_host: MakeHost
) -> None:
    later = clock.now() + timedelta(hours=1)

    def park_once(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        if len(turns.ran) == 1:
            turns.park(turn_id, lease, reason="provider", wake_at=later)
        else:
            turns.settle(turn_id, lease)

    turns = PlayedTurns(park_once)
    first = a_letter("first", n=1)
    post_now(kofi, first)
    host = make_host(turns)
    host.start()
    until(lambda: Turn.objects.filter(stage="parked").exists(), 10)
    post_now(kofi, a_letter("second", n=2, batch_key="other"))
    until(still(host), 10)
    host.sweep_once()
    until(still(host), 10)
    assert len(turns.ran) == 1
    assert Delivery.objects.get(event_id=first.event_id).attempts == 0
    assert Delivery.objects.exclude(turn=None).get().event_id == first.event_id

    Turn.objects.update(wake_at=clock.now())
    until(lambda: Completion.objects.count() == 2, 10)
    parked = turns.ran[0][0]
    assert turns.ran[1] == (parked, True)
    assert Turn.objects.get(id=parked).node_lost == 0


@pytest.mark.covers("TURN-12")
def test_a_turn_parked_for_its_model_goes_on_at_once_when_a_new_revision_comes_in(
    kofi: UUID, make_host: MakeHost
) -> None:
    turns = PlayedTurns()
    with connection.cursor() as cursor:
        letter = a_letter()
        post_now(kofi, letter)
        an_open_turn(
            cursor, kofi, [letter.event_id], stage="parked", park_reason="provider", epoch=0,
            wake_at=clock.now() + timedelta(hours=5),
        )  # fmt: skip
    make_host(turns).start()
    until(lambda: Completion.objects.count() == 1, 10)
    assert turns.ran[0][1] is True


@pytest.mark.covers("TURN-79")
def test_a_paused_seats_parked_turn_waits_unless_it_was_asked_to_stop(
    kofi: UUID, make_host: MakeHost
) -> None:
    stops: list[Stop | None] = []

    def heed(turns: PlayedTurns, turn_id: UUID, lease: Lease, context: TurnContext) -> None:
        stops.append(context.should_stop())
        turns.settle(turn_id, lease, "stopped")

    turns = PlayedTurns(heed)
    letter = a_letter()
    post_now(kofi, letter)
    with connection.cursor() as cursor:
        an_open_turn(cursor, kofi, [letter.event_id], stage="parked", wake_at=clock.now())
    with transaction.atomic():
        holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=clock.now(), note="enough")
    host = make_host(turns)
    host.start()
    until(lambda: host.seats() == [kofi], 10)
    host.sweep_once()
    until(still(host), 10)
    assert turns.ran == []
    with transaction.atomic():
        holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=clock.now(), stop_running=True)
    until(lambda: stops == [Stop("ana", "enough")], 10)
    until(lambda: Turn.objects.get().outcome == "stopped", 10)


@pytest.mark.covers("RUN-11", "RUN-24")
def test_an_orphaned_turn_goes_on_under_the_new_epoch_and_is_not_claimed_anew(
    kofi: UUID, make_host: MakeHost
) -> None:
    letter = a_letter()
    post_now(kofi, letter)
    dead = a_node("dead")
    SeatLease.objects.create(seat_id=kofi, epoch=4, owner_id=dead)
    with connection.cursor() as cursor:
        turn_id = an_open_turn(
            cursor, kofi, [letter.event_id], stage="phase", lease_epoch=4, node=dead
        )
    lapse(dead)
    turns = PlayedTurns()
    make_host(turns).start()
    until(lambda: Completion.objects.count() == 1, 10)
    assert turns.ran == [(turn_id, True)]
    turn = Turn.objects.get()
    assert (turn.lease_epoch, turn.node_lost, turn.outcome) == (5, 1, "completed")


def test_a_turn_that_falls_over_is_taken_up_again_and_the_fifth_loss_is_poison(
    kofi: UUID, make_host: MakeHost
) -> None:
    def fall(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        raise RuntimeError("the engine has a bug")

    turns = PlayedTurns(fall)
    bad, good = a_letter("bad", n=1), a_letter("good", n=2, batch_key="other")
    post_now(kofi, bad, good)
    make_host(turns).start()
    until(lambda: DeadLetter.objects.filter(event_id=bad.event_id).exists(), 15)
    poisoned = Turn.objects.get(id=turns.ran[0][0])
    assert (poisoned.outcome, poisoned.error_kind, poisoned.node_lost) == ("failed", "node_lost", 5)
    assert [turn_id for turn_id, _ in turns.ran[:5]] == [poisoned.id] * 5
    assert not Completion.objects.filter(event_id=bad.event_id).exists()
    turns.script = lambda t, turn_id, lease, _: t.settle(turn_id, lease)
    until(lambda: Completion.objects.filter(event_id=good.event_id).exists(), 10)


@pytest.mark.covers("RUN-8", "TURN-7", "TURN-12")
def test_a_turn_that_failed_before_its_first_round_comes_back_after_its_pause(
    kofi: UUID, make_host: MakeHost
) -> None:

    def fail_once(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        if len(turns.ran) > 1:
            turns.settle(turn_id, lease)
            return
        with transaction.atomic(), connection.cursor() as cursor:
            claim.release(cursor, turn_id, "no answer")
            cursor.execute(
                "UPDATE agents_turn SET stage='done', outcome='failed' WHERE id=%s", (turn_id,)
            )

    turns = PlayedTurns(fail_once)
    post_now(kofi, a_letter())
    make_host(turns).start()
    until(lambda: Completion.objects.count() == 1, 10)
    first, second = Turn.objects.order_by("attempt")
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.work_key == second.work_key


@pytest.mark.covers("RUN-22", "RUN-25")
def test_a_host_that_lost_its_seat_drops_it_and_the_turn_is_told(
    kofi: UUID, make_host: MakeHost
) -> None:
    here = threading.Event()
    seen: list[str] = []

    def taken_over(turns: PlayedTurns, turn_id: UUID, lease: Lease, context: TurnContext) -> None:
        assert context.lease_fresh()
        lapse(lease.owner)
        SeatLease.objects.filter(seat_id=kofi).update(owner_id=other, epoch=lease.epoch + 1)
        here.set()
        until(lambda: not context.lease_fresh(), 10)
        seen.append("not fresh")
        turns.settle(turn_id, lease)  # Fenced

    other = a_node("other")
    letter = a_letter()
    post_now(kofi, letter)
    host = make_host(PlayedTurns(taken_over))
    host.start()
    assert here.wait(10)
    host.renew_once()
    until(still(host), 10)
    assert seen == ["not fresh"]
    assert host.seats() == []
    assert not Completion.objects.exists()
    assert Delivery.objects.get().event_id == letter.event_id


@pytest.mark.covers("TURN-77")
def test_a_person_who_stops_one_turn_is_named_to_it(kofi: UUID) -> None:
    from agents.models.turns import StopRequest

    with connection.cursor() as cursor:
        turn_id = an_open_turn(cursor, kofi, [])
    assert park.stop_of(turn_id, kofi) is None
    StopRequest.objects.create(turn_id=turn_id, by="ana", reason="wrong item", at=clock.now())
    assert park.stop_of(turn_id, kofi) == Stop("ana", "wrong item")


def test_a_turn_that_parks_again_at_once_does_not_spin(kofi: UUID, make_host: MakeHost) -> None:
    def park_again(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        turns.park(turn_id, lease, reason="budget", wake_at=clock.now() + timedelta(hours=1))

    turns = PlayedTurns(park_again)
    post_now(kofi, a_letter())
    host = make_host(turns)
    presence.register(host.incarnation, "one", roles=frozenset({"seats"}), capacity=1, ttl=60)
    host.renew_once()
    look = host.runner.gate._work  # type: ignore[union-attr]
    host.runner.gate._limit = 0  # type: ignore[union-attr]
    host._share()
    assert [look(kofi), look(kofi)] == [False, False]
    assert [resumed for _, resumed in turns.ran] == [False, True]
