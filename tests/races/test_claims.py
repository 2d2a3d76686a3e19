"""Who wins when many take, post, settle and pause at once: real connections, one barrier."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar
from uuid import UUID

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper

from agents.mail import claim
from agents.models.mail import Completion, Delivery
from agents.models.seats import HoldReason, SeatLease
from agents.models.turns import Turn
from agents.seats import holds, presence, redis_keys
from agents.seats import lease as leases
from agents.seats.lease import Lease
from crewlet.kernel import clock, db
from crewlet.kernel.errors import Conflict, Fenced
from crewlet.kernel.redis import client
from tests.agents.play import a_company, a_letter, a_node, an_open_turn, lapse, post_now
from tests.support.until import until

T = TypeVar("T")
TTL = 60.0


def at_once(*calls: Callable[[], T]) -> list[T | Exception]:
    """Runs the calls on threads with connections of their own, let go together."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T | Exception:
        try:
            connection.ensure_connection()
            barrier.wait(timeout=10)
            return call()
        except Exception as error:  # noqa: BLE001  # the test looks at it
            return error
        finally:
            db.release()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@contextmanager
def commit() -> Iterator[CursorWrapper]:
    with transaction.atomic(), connection.cursor() as cursor:
        yield cursor


@pytest.mark.covers("RUN-20")
def test_of_many_nodes_each_seat_has_exactly_one_holder() -> None:
    a_company(*(f"s{n}" for n in range(12)))
    nodes = [a_node(f"n{n}") for n in range(6)]
    client().flushdb()

    def take(node: str) -> list[Lease]:
        return leases.claim(node, node.partition(":")[0], room=12, ttl=TTL)

    taken = at_once(*(lambda node=node: take(node) for node in nodes))
    assert not [x for x in taken if isinstance(x, Exception)], taken
    seats = Counter(lease.seat_id for x in taken if not isinstance(x, Exception) for lease in x)
    assert set(seats.values()) == {1}
    held = {row.seat_id: row.owner_id for row in SeatLease.objects.exclude(owner=None)}
    for answer in taken:
        assert not isinstance(answer, Exception)
        assert all(held[lease.seat_id] == lease.owner for lease in answer)


def test_without_redis_each_seat_still_has_exactly_one_holder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a_company(*(f"s{n}" for n in range(6)))
    nodes = [a_node(f"n{n}") for n in range(6)]
    monkeypatch.setattr(redis_keys, "reserve", lambda _me, seats, _ttl: list(seats))
    answers = at_once(
        *(lambda node=node: leases.claim(node, "n", room=6, ttl=TTL) for node in nodes)
    )
    seats = Counter(lease.seat_id for x in answers if not isinstance(x, Exception) for lease in x)
    assert len(seats) == 6
    assert set(seats.values()) == {1}
    assert set(SeatLease.objects.values_list("epoch", flat=True)) == {1}


def test_of_two_processes_of_one_name_one_boots() -> None:
    answers = at_once(*[lambda: a_node("same")] * 4)
    assert len([x for x in answers if isinstance(x, str)]) == 1
    assert len([x for x in answers if isinstance(x, Conflict)]) == 3


@pytest.mark.covers("RUN-22")
def test_a_take_over_never_slips_between_a_proof_and_its_commit() -> None:
    """The writer proved its lease and has not committed: the taker waits until it has."""
    a_company("kofi")
    one, two = a_node("one"), a_node("two")
    (mine,) = leases.claim(one, "one", room=1, ttl=TTL)
    lapse(one)
    client().flushdb()
    proved, may_commit = threading.Event(), threading.Event()

    def write() -> str:
        with commit() as cursor:
            leases.fence(cursor, mine.seat_id, mine.epoch)
            proved.set()
            assert may_commit.wait(10)
        return "written"

    def take() -> list[Lease]:
        assert proved.wait(10)
        early = leases.claim(two, "two", room=1, ttl=TTL)
        may_commit.set()
        return early

    written, early = at_once(write, take)
    assert written == "written"
    assert early == []
    (theirs,) = leases.claim(two, "two", room=1, ttl=TTL)
    with pytest.raises(Fenced), commit() as cursor:
        leases.fence(cursor, mine.seat_id, mine.epoch)
    assert theirs.epoch == mine.epoch + 1


def test_ending_a_node_waits_for_its_writer_and_refuses_the_next() -> None:
    a_company("kofi")
    one = a_node("one")
    (mine,) = leases.claim(one, "one", room=1, ttl=TTL)
    proved, ended = threading.Event(), threading.Event()
    seen: list[bool] = []

    def write() -> None:
        with commit() as cursor:
            leases.fence(cursor, mine.seat_id, mine.epoch)
            proved.set()
            until(_somebody_waits, 10)
            seen.append(ended.is_set())

    def end() -> None:
        assert proved.wait(10)
        presence.end(one)
        ended.set()

    assert at_once(write, end) == [None, None]
    assert seen == [False], "the end came before the commit that was proved"
    with pytest.raises(Fenced), commit() as cursor:
        leases.fence(cursor, mine.seat_id, mine.epoch)


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


@pytest.mark.covers("RUN-22")
def test_a_holder_frozen_in_its_fence_loses_its_transaction_and_then_its_seat() -> None:
    a_company("kofi")
    one, two = a_node("one"), a_node("two")
    (mine,) = leases.claim(one, "one", room=1, ttl=TTL)
    lapse(one)
    client().flushdb()
    proved, taken = threading.Event(), threading.Event()

    def frozen() -> str:
        with commit() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '300ms'")
            leases.fence(cursor, mine.seat_id, mine.epoch)
            proved.set()
            assert taken.wait(10)
            cursor.execute("SELECT 1")
        return "wrote"

    def take() -> int:
        assert proved.wait(10)
        got = until(lambda: leases.claim(two, "two", room=1, ttl=TTL), 10)
        taken.set()
        return got[0].epoch

    wrote, epoch = at_once(frozen, take)
    assert isinstance(wrote, Exception), "the frozen holder wrote after it had lost the seat"
    assert epoch == 2


@pytest.mark.covers("RUN-4")
def test_of_one_event_posted_by_many_at_once_one_letter_waits() -> None:
    kofi = a_company("kofi")["kofi"]
    letter = a_letter()
    answers = at_once(*[lambda: post_now(kofi, letter)[0]] * 8)
    assert sorted(answers, key=str) == [False] * 7 + [True]
    assert Delivery.objects.count() == 1


@pytest.mark.covers("RUN-10")
def test_an_event_posted_while_it_is_settled_is_worked_once() -> None:
    """Either post sees the completion or the claim does; no order works it twice."""
    kofi = a_company("kofi")["kofi"]
    for n in range(8):
        letter = a_letter(n=n)
        post_now(kofi, letter)
        with commit() as cursor:
            turn = an_open_turn(cursor, kofi, [letter.event_id])

        def settle(turn: UUID = turn) -> int:
            with commit() as cursor:
                cursor.execute("UPDATE agents_turn SET stage = 'done' WHERE id = %s", (turn,))
                return claim.settle(cursor, turn, "completed")

        at_once(settle, lambda letter=letter: post_now(kofi, letter))  # type: ignore[misc]
        with commit() as cursor:
            left = claim.drop_worked(cursor, kofi, claim.take(cursor, kofi))
        assert left == []
    assert Completion.objects.count() == 8
    assert not Delivery.objects.exists()


@pytest.mark.covers("TURN-1")
def test_a_second_running_turn_of_a_seat_is_refused_by_the_table() -> None:
    kofi = a_company("kofi")["kofi"]

    def open_one() -> UUID:
        with commit() as cursor:
            return an_open_turn(cursor, kofi, [])

    answers = at_once(*[open_one] * 4)
    assert len([x for x in answers if isinstance(x, UUID)]) == 1
    assert all(isinstance(x, UUID | IntegrityError) for x in answers)
    assert Turn.objects.count() == 1


@pytest.mark.covers("TURN-79")
def test_of_two_pausers_one_wins_and_the_other_is_told_who() -> None:
    kofi = a_company("kofi")["kofi"]

    def pause(by: str) -> holds.Hold:
        with transaction.atomic():
            return holds.put(kofi, HoldReason.SEAT_PAUSED, by=by, now=clock.now())

    answers = at_once(*(lambda by=by: pause(by) for by in ("ana", "ben", "cy")))
    made = [x for x in answers if isinstance(x, holds.Hold)]
    assert len(made) == 3
    (winner,) = [x for x in made if x.created]
    assert {x.by for x in made} == {winner.by}


def test_a_claim_that_waits_gives_up_within_its_lock_timeout() -> None:
    kofi = a_company("kofi")["kofi"]
    post_now(kofi, a_letter())
    locked, tried = threading.Event(), threading.Event()

    def operator() -> None:
        with commit() as cursor:
            cursor.execute("SELECT 1 FROM agents_delivery FOR UPDATE")
            locked.set()
            assert tried.wait(10)

    def claimer() -> str:
        assert locked.wait(10)
        try:
            with commit() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = {leases.LOCK_TIMEOUT_MS}")
                claim.take(cursor, kofi)
        except OperationalError:
            return "gave up"
        finally:
            tried.set()
        return "took"

    assert at_once(operator, claimer)[1] == "gave up"
