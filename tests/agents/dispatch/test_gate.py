"""The gate: slots, order, and never two looks at one seat. Pure threads, no rows."""

from __future__ import annotations

import threading
from collections import Counter
from uuid import UUID

import pytest

from agents.dispatch.gate import Gate
from tests.support.until import until

A, B, C, D = (UUID(int=n) for n in range(1, 5))


class Bench:
    """Work that waits until it is let go, and remembers who came."""

    def __init__(self) -> None:
        self.came: list[UUID] = []
        self.go = threading.Semaphore(0)
        self.more: Counter[UUID] = Counter()

    def work(self, seat: UUID) -> bool:
        self.came.append(seat)
        assert self.go.acquire(timeout=10)
        self.more[seat] -= 1
        return self.more[seat] >= 0

    def let_go(self, n: int = 1) -> None:
        self.go.release(n)


@pytest.mark.covers("RUN-36")
def test_no_more_seats_run_than_there_are_slots_and_the_next_starts_when_one_frees() -> None:
    bench = Bench()
    gate = Gate(2, bench.work)
    for seat in (A, B, C, D):
        gate.poke(seat)
    until(lambda: len(bench.came) == 2, 5)
    assert (gate.in_flight(), gate.waiting()) == (2, 2)
    bench.let_go()
    until(lambda: len(bench.came) == 3 and bench.came[2] == C, 5)
    bench.let_go(3)
    until(lambda: gate.in_flight() == 0, 5)
    assert sorted(bench.came) == [A, B, C, D]


def test_a_seat_that_runs_is_looked_at_once_more_however_often_it_is_poked() -> None:
    bench = Bench()
    gate = Gate(4, bench.work)
    gate.poke(A)
    until(lambda: bench.came == [A], 5)
    for _ in range(5):
        gate.poke(A)
    assert gate.in_flight() == 1
    bench.let_go(2)
    until(lambda: gate.in_flight() == 0 and len(bench.came) == 2, 5)
    bench.let_go(9)
    assert bench.came == [A, A]


def test_a_seat_with_more_mail_goes_behind_those_who_wait() -> None:
    bench = Bench()
    bench.more[A] = 1
    gate = Gate(1, bench.work)
    gate.poke(A)
    until(lambda: bench.came == [A], 5)
    gate.poke(B)
    bench.let_go(3)
    until(lambda: gate.in_flight() == 0 and gate.waiting() == 0, 5)
    assert bench.came == [A, B, A]


@pytest.mark.covers("RUN-50")
def test_a_closed_gate_sends_home_who_waits_and_lets_running_work_end() -> None:
    bench = Bench()
    bench.more[A] = 5
    gate = Gate(1, bench.work)
    gate.poke(A)
    gate.poke(B)
    until(lambda: bench.came == [A], 5)
    gate.close()
    gate.poke(C)
    assert gate.waiting() == 0
    bench.let_go()
    until(lambda: gate.in_flight() == 0, 5)
    assert bench.came == [A]


def test_work_that_falls_over_frees_its_slot() -> None:
    came: list[UUID] = []

    def work(seat: UUID) -> bool:
        came.append(seat)
        if seat == A:
            raise RuntimeError("a bug")
        return False

    gate = Gate(1, work)
    gate.poke(A)
    gate.poke(B)
    until(lambda: came == [A, B] and gate.in_flight() == 0, 5)
    gate.poke(A)
    until(lambda: came == [A, B, A], 5)


def test_many_pokers_lose_no_look() -> None:
    looks: Counter[UUID] = Counter()
    pending: dict[UUID, int] = dict.fromkeys((A, B, C, D), 0)
    lock = threading.Lock()

    def work(seat: UUID) -> bool:
        with lock:
            looks[seat] += pending[seat]
            pending[seat] = 0
        return False

    gate = Gate(2, work)
    start = threading.Barrier(4)

    def poker(seat: UUID) -> None:
        start.wait()
        for _ in range(200):
            with lock:
                pending[seat] += 1
            gate.poke(seat)

    threads = [threading.Thread(target=poker, args=(seat,)) for seat in (A, B, C, D)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(lambda: gate.in_flight() == 0 and gate.waiting() == 0, 10)
    assert looks == Counter({A: 200, B: 200, C: 200, D: 200})
