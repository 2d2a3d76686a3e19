"""The host: what it does on a beat, on a blip, at its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from uuid import UUID

import pytest
from django.db import OperationalError

from agents.models.seats import Node, SeatLease
from agents.seats import lease as leases
from agents.seats import presence, redis_keys
from agents.seats.host import HostSettings, SeatHost
from agents.seats.lease import Lease
from agents.seats.resources import RESOURCES
from crewlet.kernel import clock
from crewlet.kernel.queue import seat_queue
from crewlet.kernel.redis import client
from tests.agents.play import a_company, a_node, lapse
from tests.support.until import until

pytestmark = pytest.mark.django_db(transaction=True)


class Idle:
    """A runner that runs nothing but says what it was told."""

    def __init__(self) -> None:
        self.poked: list[UUID] = []
        self.working: set[UUID] = set()
        self.cleared = threading.Event()

    def poke(self, seat_id: UUID) -> None:
        self.poked.append(seat_id)

    def busy(self, seat_id: UUID) -> bool:
        return seat_id in self.working

    def in_flight(self) -> int:
        return len(self.working)

    def clear(self) -> None:
        self.cleared.set()

    def sweep(self, seats: list[UUID]) -> float | None:
        return None


class Consumer:
    """The part of Celery's consumer that the host touches."""

    def __init__(self) -> None:
        self.queues: list[str] = []

    def call_soon(self, call: Callable[..., object], *args: object) -> None:
        call(*args)

    def add_task_queue(self, queue: str) -> None:
        self.queues.append(queue)

    def cancel_task_queue(self, queue: str) -> None:
        self.queues.remove(queue)


MakeHost = Callable[..., SeatHost]


@pytest.fixture
def make_host() -> Iterator[MakeHost]:
    """Makes hosts that the test drives by hand: registered and renewed, no threads."""
    made: list[SeatHost] = []

    def make(node_id: str = "one", *, ttl: float = 60.0) -> SeatHost:
        host = SeatHost(HostSettings(node_id, lease_ttl=ttl, sweep_seconds=60, capacity=4))
        host.runner = Idle()
        presence.register(
            host.incarnation, node_id, roles=frozenset({"seats"}), capacity=4, ttl=ttl
        )
        host.renew_once()
        made.append(host)
        return host

    yield make
    for host in made:
        if host.runner is not None:
            host.runner.working.clear()  # type: ignore[attr-defined]
        host.stop()


def idle(host: SeatHost) -> Idle:
    assert isinstance(host.runner, Idle)
    return host.runner


def test_an_acquired_seat_is_looked_at_and_its_queue_consumed(make_host: MakeHost) -> None:
    kofi = a_company("kofi")["kofi"]
    host, consumer = make_host(), Consumer()
    host.attach(consumer)
    host.sweep_once()
    assert host.seats() == [kofi]
    assert idle(host).poked == [kofi]
    assert consumer.queues == [seat_queue(kofi)]
    assert host.lease_of(kofi) == Lease(kofi, 1, host.incarnation)


def test_a_broker_that_comes_and_goes_moves_no_seat(make_host: MakeHost) -> None:
    kofi = a_company("kofi")["kofi"]
    host = make_host()
    host.sweep_once()
    for _ in range(3):
        consumer = Consumer()
        host.attach(consumer)
        assert consumer.queues == [seat_queue(kofi)]
        host.detach()
    assert SeatLease.objects.get().epoch == 1
    assert host.lease_of(kofi) is not None


def test_a_flushed_redis_is_filled_again_at_the_next_beat(make_host: MakeHost) -> None:
    kofi = a_company("kofi")["kofi"]
    host = make_host()
    host.sweep_once()
    client().flushdb()
    host.renew_once()
    assert client().get(redis_keys.lease_key(kofi)) == host.incarnation
    assert host.seats() == [kofi]


@pytest.mark.covers("RUN-25")
def test_a_seat_that_was_taken_over_is_detached_at_the_next_beat(make_host: MakeHost) -> None:
    kofi = a_company("kofi")["kofi"]
    host, consumer = make_host(), Consumer()
    host.attach(consumer)
    host.sweep_once()
    SeatLease.objects.update(owner_id=a_node("two"), epoch=2)
    host.renew_once()
    assert host.seats() == []
    assert consumer.queues == []
    assert SeatLease.objects.get().owner_id is not None, "the new holder's grip is untouched"
    assert host.lease_of(kofi) is None


@pytest.mark.covers("RUN-21")
def test_nothing_new_starts_when_the_last_beat_is_older_than_a_heartbeat(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_company("kofi")
    host = make_host(ttl=60)
    start = clock.monotonic()
    assert host.fresh()
    monkeypatch.setattr(clock, "monotonic", lambda: start + 20.5)
    assert not host.fresh()
    host.sweep_once()
    assert host.seats() == [], "a host that is not sure of itself takes nothing"
    host.renew_once()
    assert host.fresh()
    host.sweep_once()
    assert len(host.seats()) == 1


def test_an_unreachable_store_sheds_no_seat(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_company("kofi")
    host = make_host()
    host.sweep_once()

    def down(*_: object, **__: object) -> bool:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(presence, "renew", down)
        with pytest.raises(OperationalError):
            host.renew_once()
        assert len(host.seats()) == 1
    host.renew_once()
    assert len(host.seats()) == 1


@pytest.mark.covers("RUN-25")
def test_a_node_above_its_share_gives_idle_seats_back_two_a_sweep(make_host: MakeHost) -> None:
    a_company("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8")
    one = make_host("one")
    one.sweep_once()
    assert len(one.seats()) == 8
    two = make_host("two")
    busy = one.seats()[0]
    idle(one).working.add(busy)
    counts = []
    for _ in range(4):
        one.sweep_once()
        two.sweep_once()
        counts.append((len(one.seats()), len(two.seats())))
    assert counts == [(6, 2), (4, 4), (4, 4), (4, 4)]
    assert busy in one.seats()
    assert not set(one.seats()) & set(two.seats())


@pytest.mark.covers("RUN-25")
def test_a_seat_that_left_the_company_is_let_go_when_idle(make_host: MakeHost) -> None:
    seats = a_company("kofi", "mara")
    host = make_host()
    host.sweep_once()
    idle(host).working.add(seats["kofi"])
    a_company("mara")
    host.sweep_once()
    assert sorted(host.seats()) == sorted([seats["kofi"], seats["mara"]])
    idle(host).working.clear()
    host.sweep_once()
    assert host.seats() == [seats["mara"]]


@pytest.mark.covers("RUN-25", "RUN-50")
def test_draining_starts_nothing_and_releases_each_seat_as_it_idles(make_host: MakeHost) -> None:
    seats = a_company("kofi", "mara")
    host = make_host()
    host.sweep_once()
    idle(host).working.add(seats["kofi"])
    host.begin_drain()
    assert host.lease_of(seats["mara"]) is None
    host.sweep_once()
    assert host.seats() == [seats["kofi"]]
    stopped = threading.Thread(target=host.stop)
    stopped.start()
    assert idle(host).cleared.wait(10)
    assert SeatLease.objects.get(seat_id=seats["kofi"]).owner_id == host.incarnation
    idle(host).working.clear()
    stopped.join(10)
    assert not stopped.is_alive()
    assert not SeatLease.objects.exclude(owner=None).exists()
    assert Node.objects.get().ended_at is not None


def test_a_node_that_was_asked_to_drain_does(make_host: MakeHost) -> None:
    a_company("kofi")
    host = make_host()
    host.sweep_once()
    presence.start_draining(host.incarnation)
    host.renew_once()
    assert host.draining
    host.sweep_once()
    assert host.seats() == []


def test_an_ended_incarnation_drops_everything_at_its_next_beat(make_host: MakeHost) -> None:
    a_company("kofi")
    host = make_host()
    host.sweep_once()
    presence.end_if_live("one")
    host.renew_once()
    assert host.ended
    assert host.seats() == []
    assert not host.fresh()


@pytest.mark.covers("RUN-24")
def test_a_resource_that_does_not_open_leaves_the_seat_to_others(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_company("kofi")
    log: list[str] = []

    class Fine:
        def open(self, lease: Lease) -> None:
            log.append("open")

        def close(self, lease: Lease) -> None:
            log.append("close")

    class Broken(Fine):
        def open(self, lease: Lease) -> None:
            raise RuntimeError("no socket")

    monkeypatch.setitem(RESOURCES._entries, "fine", Fine())
    monkeypatch.setitem(RESOURCES._entries, "broken", Broken())
    host = make_host()
    host.sweep_once()
    assert host.seats() == []
    assert log == ["open", "close"]
    host.sweep_once()
    assert log == ["open", "close"], "not tried again here for one lease"
    assert SeatLease.objects.get().owner_id is None


def test_the_threads_of_a_started_host_renew_and_take_seats_by_themselves() -> None:
    kofi = a_company("kofi")["kofi"]
    gone = a_node("gone")
    SeatLease.objects.create(seat_id=kofi, epoch=3, owner_id=gone)
    lapse(gone)
    host = SeatHost(HostSettings("one", lease_ttl=1.0, sweep_seconds=0.1, capacity=1))
    host.start()
    try:
        until(lambda: host.seats() == [kofi], 10)
        first = Node.objects.get(id=host.incarnation).expires_at
        until(lambda: Node.objects.get(id=host.incarnation).expires_at > first, 10)
        until(host.fresh, 10, what="a renewal makes the host fresh")
        assert SeatLease.objects.get().epoch == 4
    finally:
        host.stop()
    assert SeatLease.objects.get().owner_id is None


def written_down(
    monkeypatch: pytest.MonkeyPatch, log: list[str], host: SeatHost, consumer: Consumer
) -> None:
    """Notes in `log` what a host does with a seat, in order."""

    class Socket:
        def open(self, lease: Lease) -> None:
            log.append("resource opened")

        def close(self, lease: Lease) -> None:
            log.append("resource closed")

    runner = idle(host)
    monkeypatch.setitem(RESOURCES._entries, "socket", Socket())
    monkeypatch.setattr(runner, "poke", lambda seat: log.append("looked at"))
    monkeypatch.setattr(consumer, "add_task_queue", lambda queue: log.append("consumed"))
    monkeypatch.setattr(consumer, "cancel_task_queue", lambda queue: log.append("detached"))
    given_back = leases.release

    def release(lease: Lease) -> bool:
        log.append("released")
        return given_back(lease)

    monkeypatch.setattr(leases, "release", release)
    host.attach(consumer)


@pytest.mark.covers("RUN-24", "RUN-25")
def test_a_seat_is_opened_before_it_is_worked_and_closed_the_other_way_round(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the seat needs, then what an earlier holder left, then new wakes."""
    a_company("kofi")
    log: list[str] = []
    host = make_host()
    written_down(monkeypatch, log, host, Consumer())
    host.sweep_once()
    assert log == ["resource opened", "looked at", "consumed"]
    log.clear()
    a_company("mara")
    host.sweep_once()
    assert log[:3] == ["detached", "resource closed", "released"]


@pytest.mark.covers("RUN-25")
def test_a_seat_that_was_taken_over_is_detached_first_and_not_given_back(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is somebody else's to give."""
    a_company("kofi")
    log: list[str] = []
    host = make_host()
    written_down(monkeypatch, log, host, Consumer())
    host.sweep_once()
    SeatLease.objects.update(owner_id=a_node("two"), epoch=2)
    log.clear()
    host.renew_once()
    assert log == ["detached", "resource closed"]


@pytest.mark.covers("RUN-50")
def test_a_node_drains_in_one_order(make_host: MakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing new, presence out of the count, who waits for a slot sent home, running
    turns awaited for as long as they take, seats given back, the node ended."""
    kofi = a_company("kofi")["kofi"]
    log: list[str] = []
    host = make_host()
    runner = idle(host)
    host.sweep_once()
    runner.working.add(kofi)
    written_down(monkeypatch, log, host, Consumer())
    log.clear()
    real_start, real_end, real_clear = presence.start_draining, presence.end, runner.clear

    def start_draining(incarnation: str) -> None:
        assert host.draining and host.lease_of(kofi) is None
        log.append("presence drains")
        real_start(incarnation)

    def clear() -> None:
        log.append("waiting sent home")
        real_clear()

    def end(incarnation: str) -> None:
        log.append("node ended")
        real_end(incarnation)

    monkeypatch.setattr(presence, "start_draining", start_draining)
    monkeypatch.setattr(presence, "end", end)
    monkeypatch.setattr(runner, "clear", clear)
    stopped = threading.Thread(target=host.stop)
    stopped.start()
    assert runner.cleared.wait(10)
    assert SeatLease.objects.get().owner_id == host.incarnation, "a running turn keeps its seat"
    log.append("turn ended")
    runner.working.clear()
    stopped.join(10)
    assert not stopped.is_alive()
    assert log == [
        "presence drains", "waiting sent home", "turn ended", "resource closed", "released",
        "node ended",
    ]  # fmt: skip
