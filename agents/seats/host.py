"""The seat host: the part of a worker process that grips seats and keeps the grip.

| thread | every | does |
|---|---|---|
| renewal | heartbeat (a third of the lease) | presence, reads back what it holds, Redis keys |
| sweep | 5 s, or sooner when mail falls due | takes and gives back seats, pokes those with work |
| Celery's main | — | only adds and cancels queues, as the bootstep asks |

The broker's consumer starts and stops at every loss of the broker, and before the last turns of a
warm shutdown have ended; so it owns nothing here. Leases are given back when their last turn is
over. A claim may wait for a lock, so it never runs on the renewal's thread: a holder frozen inside
its fence would otherwise block its own take-over.

Holds: `lease_of` gives a lease only while this process may start work under it.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from uuid import UUID

from django.db import DatabaseError
from prometheus_client import Counter, Gauge

from agents.seats import lease as leases
from agents.seats import placement, presence, redis_keys
from agents.seats.lease import Lease
from agents.seats.resources import RESOURCES
from crewlet.kernel import clock, db
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.queue import seat_queue

log = logging.getLogger(__name__)

DRAIN_LOG_SECONDS: Final = 10.0
EXIT_TEMPFAIL: Final = 75
WEDGED_LEAST_SECONDS: Final = 45.0
"""A pool that waits 30 s for a dead Postgres is slow, not wedged."""

CLAIMS = Counter("crewlet_lease_claims_total", "Seats that this node took.")
LOSSES = Counter("crewlet_lease_losses_total", "Seats that this node let go.", ["how"])
HELD = Gauge("crewlet_lease_held", "Seats that this node holds.")
HEARTBEAT = Gauge("crewlet_heartbeat_seconds", "How long the last renewal took.")


class Runner(Protocol):
    """What runs turns for the host; it lies above and the host knows no more of it."""

    def poke(self, seat_id: UUID) -> None:
        """Looks at a seat's mail soon, unless it is being looked at."""

    def busy(self, seat_id: UUID) -> bool:
        """Returns whether the seat is being looked at or its turn runs."""

    def in_flight(self) -> int:
        """Returns how many seats are being worked on."""

    def clear(self) -> None:
        """Forgets who waits for a slot; nothing of theirs was claimed."""

    def sweep(self, seats: list[UUID]) -> float | None:
        """Pokes those of the held seats that have work; returns seconds until more falls due."""


class QueueConsumer(Protocol):
    """The part of Celery's consumer that the host uses."""

    def call_soon(self, call: Callable[..., Any], *args: Any) -> Any:
        """Runs a call in the consumer's own loop."""

    def add_task_queue(self, queue: str) -> None:
        """Consumes a queue from now on."""

    def cancel_task_queue(self, queue: str) -> None:
        """Consumes a queue no more."""


@dataclass(frozen=True, slots=True)
class HostSettings:
    """One node: its name, and its numbers in seconds and counts."""

    node_id: str
    lease_ttl: float
    sweep_seconds: float
    capacity: int
    roles: frozenset[str] = frozenset({presence.SEATS_ROLE})

    @property
    def heartbeat(self) -> float:
        """Seconds between two renewals."""
        return self.lease_ttl / 3


@dataclass(slots=True)
class _Grip:
    lease: Lease
    quiet: bool = False


@dataclass(slots=True)
class _Beats:
    """When each duty of the host was last alive, on the monotonic clock."""

    renewal: float = field(default_factory=clock.monotonic)
    sweep: float = field(default_factory=clock.monotonic)


class SeatHost:
    """Holds seats for one worker process. `start` once, `stop` once."""

    def __init__(self, settings: HostSettings) -> None:
        self.settings = settings
        self.incarnation = presence.mint(settings.node_id)
        self.runner: Runner | None = None
        self.leave: Callable[[], None] = _stay
        self.draining = False
        self.ended = False
        self._grips: dict[UUID, _Grip] = {}
        self._lock = threading.RLock()
        self._renewed_at = float("-inf")
        self._look = threading.Event()
        self._closing = threading.Event()
        self._consumer: QueueConsumer | None = None
        self._beats = _Beats()
        self._threads: list[threading.Thread] = []

    # -- what the runner asks ------------------------------------------------------------------

    def lease_of(self, seat_id: UUID) -> Lease | None:
        """Returns the lease under which work may start now, or None."""
        with self._lock:
            grip = self._grips.get(seat_id)
            return grip.lease if grip and not grip.quiet and not self.draining else None

    def holds(self, lease: Lease) -> bool:
        """Returns whether this very grip is still ours, as far as this process knows."""
        with self._lock:
            grip = self._grips.get(lease.seat_id)
            return grip is not None and grip.lease == lease

    def fresh(self) -> bool:
        """Returns whether the last renewal is younger than one heartbeat.

        Then the seat is ours for two more heartbeats at least, whatever the wall clock says.
        """
        return clock.monotonic() - self._renewed_at < self.settings.heartbeat

    def seats(self) -> list[UUID]:
        """Returns the seats held, in a stable order."""
        with self._lock:
            return sorted(self._grips)

    def fenced(self, lease: Lease) -> None:
        """Drops a seat that somebody else has taken: detach first, write nothing more."""
        with self._lock:
            grip = self._grips.get(lease.seat_id)
            if grip is None or grip.lease != lease:
                return
            del self._grips[lease.seat_id]
            HELD.set(len(self._grips))
        self._detach(lease.seat_id)
        self._close_resources(lease)
        LOSSES.labels("fenced").inc()
        log.warning("seat_lost", extra={"seat": str(lease.seat_id), "epoch": lease.epoch})

    # -- life ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Announces the node and starts the host's threads. Raises `Conflict` on a taken name."""
        s = self.settings
        at = clock.monotonic()
        presence.register(
            self.incarnation, s.node_id, roles=s.roles, capacity=s.capacity, ttl=s.lease_ttl
        )
        db.release()
        self._renewed_at = at
        for name, loop in (
            ("seat-renewal", self._renewal_loop),
            ("seat-sweep", self._sweep_loop),
            ("seat-watchdog", self._watchdog_loop),
        ):
            thread = threading.Thread(target=loop, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()
        log.info("node_started", extra={"node": self.incarnation})

    def begin_drain(self) -> None:
        """Starts no more work. Safe in a signal handler: it takes no lock of the host's."""
        self.draining = True
        self._look.set()

    def stop(self) -> None:
        """Waits for the running turns, however long they take, then gives everything back."""
        self.begin_drain()
        log.info(
            "engine_draining", extra={"node": self.incarnation, "in_flight": self._in_flight()}
        )
        presence.start_draining(self.incarnation)
        db.release()
        if self.runner:
            self.runner.clear()
        self._await_turns()
        self._closing.set()
        self._look.set()
        for thread in self._threads:
            thread.join(timeout=self.settings.lease_ttl)
        for grip in self._all():
            self._release(grip.lease, "drained")
        presence.end(self.incarnation)
        db.release()
        log.info("drain_complete", extra={"node": self.incarnation})

    def _await_turns(self) -> None:
        waited = 0.0
        while self._in_flight() and not self.ended:
            self._closing.wait(0.1)
            waited += 0.1
            if waited >= DRAIN_LOG_SECONDS:
                waited = 0.0
                log.info("drain_in_progress", extra={"in_flight": self._in_flight()})

    # -- queues --------------------------------------------------------------------------------

    def attach(self, consumer: QueueConsumer) -> None:
        """Consumes the queues of all held seats; the bootstep calls it at every (re)connection."""
        with self._lock:
            self._consumer = consumer
            seats = list(self._grips)
        for seat in seats:
            consumer.add_task_queue(seat_queue(seat))

    def detach(self) -> None:
        """Forgets the consumer; the seats stay held and the sweep goes on without a broker."""
        with self._lock:
            self._consumer = None

    def _consume(self, seat_id: UUID) -> None:
        with self._lock:
            consumer = self._consumer
        if consumer is not None:
            consumer.call_soon(consumer.add_task_queue, seat_queue(seat_id))

    def _detach(self, seat_id: UUID) -> None:
        with self._lock:
            consumer = self._consumer
        if consumer is not None:
            consumer.call_soon(consumer.cancel_task_queue, seat_queue(seat_id))

    # -- renewal -------------------------------------------------------------------------------

    def renew_once(self) -> None:
        """Renews the presence and reads back what Postgres says we hold.

        1. Take the monotonic time first: the database's clock reads later than that.
        2. Prolong our row. It is gone only when a supervisor ended this incarnation.
        3. Read our leases. A grip that is not among them was taken over: fenced.
        4. Set our Redis keys again, which a flush or a pause may have lost.
        """
        at = clock.monotonic()
        alive = presence.renew(
            self.incarnation, ttl=self.settings.lease_ttl, in_flight=self._in_flight()
        )
        if not alive:
            self._on_ended()
            return
        before = self._all()
        ours = leases.held(self.incarnation)
        for grip in before:
            if ours.get(grip.lease.seat_id) != grip.lease.epoch:
                self.fenced(grip.lease)
        self._renewed_at = at
        redis_keys.renew(self.incarnation, self.seats(), self.settings.lease_ttl)
        if not self.draining and presence.is_draining(self.incarnation):
            log.info("node_asked_to_drain", extra={"node": self.incarnation})
            self.begin_drain()
        HEARTBEAT.set(clock.monotonic() - at)

    def _on_ended(self) -> None:
        self.ended = True
        self.draining = True
        self._renewed_at = float("-inf")
        for grip in self._all():
            self.fenced(grip.lease)
        log.critical("node_ended", extra={"node": self.incarnation})

    def _renewal_loop(self) -> None:
        while not self._closing.wait(self.settings.heartbeat):
            try:
                self.renew_once()
            except DatabaseError as error:
                # Unknown is not "no": nothing is shed, and nothing new starts until one works.
                log.warning("lease_renew_failed", extra={"error": str(error)})
            except Exception:
                log.exception("lease_renew_failed")
            finally:
                _release_connection()
            self._beats.renewal = clock.monotonic()
            if self.ended:
                self.leave()
                return

    # -- sweep ---------------------------------------------------------------------------------

    def sweep_once(self) -> float | None:
        """Takes or gives back seats and pokes those with work; returns seconds to the next look."""
        if self.draining:
            self._release_idle()
            return None
        self._share(leaving=self._leave_removed())
        if self.runner is None:
            return None
        return self.runner.sweep(self.seats())

    def _sweep_loop(self) -> None:
        wait = 0.0
        while not self._closing.is_set():
            self._look.wait(wait)
            self._look.clear()
            if self._closing.is_set() or self.ended:
                return
            wait = self.settings.sweep_seconds
            try:
                soon = self.sweep_once()
                wait = wait if soon is None else max(0.05, min(wait, soon))
            except DatabaseError as error:
                log.warning("sweep_failed", extra={"error": str(error)})
            except Exception:
                # A bug in one duty of the sweep must not take the others' wakes with it.
                log.exception("sweep_failed")
            finally:
                _release_connection()
            self._beats.sweep = clock.monotonic()

    def _share(self, *, leaving: frozenset[UUID] = frozenset()) -> None:
        total, nodes = leases.counts()
        share = placement.fair_share(total, nodes)
        # A busy seat that left the company is no part of anybody's share.
        held = [seat for seat in self.seats() if seat not in leaving]
        for seat in placement.to_give_back(held, share, self._busy):
            self._hand_back(seat)
        room = placement.room(len(held), share)
        if not room or not self.fresh():
            return
        s = self.settings
        for lease in leases.claim(self.incarnation, s.node_id, room=room, ttl=s.lease_ttl):
            self._acquire(lease)

    def _acquire(self, lease: Lease) -> None:
        """Opens what the seat needs, then lets work start: an orphan first, then its queue."""
        opened = []
        try:
            for resource in RESOURCES.values():
                resource.open(lease)
                opened.append(resource)
        except Exception:
            log.exception("seat_acquire_failed", extra={"seat": str(lease.seat_id)})
            for resource in reversed(opened):
                resource.close(lease)
            leases.give_up(lease, self.settings.node_id, self.settings.lease_ttl)
            return
        with self._lock:
            self._grips[lease.seat_id] = _Grip(lease)
            HELD.set(len(self._grips))
        CLAIMS.inc()
        publish(
            EventType.SEAT_CLAIMED,
            summary=f"{self.settings.node_id} took the seat.",
            actor="engine:seats",
            seat_id=lease.seat_id,
            payload={"node": self.incarnation, "epoch": lease.epoch},
        )
        if self.runner:
            self.runner.poke(lease.seat_id)
        self._consume(lease.seat_id)
        log.info("seat_claimed", extra={"seat": str(lease.seat_id), "epoch": lease.epoch})

    def _leave_removed(self) -> frozenset[UUID]:
        held = self.seats()
        leaving = leases.removed(held) if held else []
        for seat in leaving:
            self._hand_back(seat)
        return frozenset(leaving)

    def _release_idle(self) -> None:
        for seat in self.seats():
            self._hand_back(seat)

    def _hand_back(self, seat_id: UUID) -> None:
        """Lets an idle seat go; quiet first, so that a poke in between starts nothing."""
        with self._lock:
            grip = self._grips.get(seat_id)
            if grip is None:
                return
            grip.quiet = True
        if self._busy(seat_id):
            if not self.draining:
                grip.quiet = False
            return
        self._detach(seat_id)
        self._release(grip.lease, "given_back")

    def _release(self, lease: Lease, how: str) -> None:
        with self._lock:
            grip = self._grips.get(lease.seat_id)
            if grip is None or grip.lease != lease:
                return
            del self._grips[lease.seat_id]
            HELD.set(len(self._grips))
        self._close_resources(lease)
        leases.release(lease)
        LOSSES.labels(how).inc()
        log.info("seat_released", extra={"seat": str(lease.seat_id), "how": how})

    def _close_resources(self, lease: Lease) -> None:
        for resource in reversed(list(RESOURCES.values())):
            try:
                resource.close(lease)
            except Exception:
                log.exception("seat_resource_not_closed", extra={"seat": str(lease.seat_id)})

    # -- watchdog ------------------------------------------------------------------------------

    def _watchdog_loop(self) -> None:
        limit = max(self.settings.lease_ttl, WEDGED_LEAST_SECONDS)
        while not self._closing.wait(1.0):
            if self.draining:
                continue
            now = clock.monotonic()
            for duty in ("renewal", "sweep"):
                silent = now - getattr(self._beats, duty)
                if silent > limit + self.settings.sweep_seconds:
                    _die(f"The {duty} of node {self.incarnation} hung for {silent:.0f} s.")

    def _all(self) -> list[_Grip]:
        with self._lock:
            return list(self._grips.values())

    def _busy(self, seat_id: UUID) -> bool:
        return self.runner is not None and self.runner.busy(seat_id)

    def _in_flight(self) -> int:
        return self.runner.in_flight() if self.runner else 0


def _stay() -> None:
    """What a host does about being ended where nobody runs it as a process of its own."""


def _die(message: str) -> None:
    # Straight to the terminal and out: a wedged process is trusted with neither log nor cleanup.
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"{message}\n".encode())
    os._exit(EXIT_TEMPFAIL)


def _release_connection() -> None:
    try:
        db.release()
    except DatabaseError as error:
        log.warning("connection_release_failed", extra={"error": str(error)})
