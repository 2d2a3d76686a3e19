"""A worker process: the seat host tied to Celery's life, without leaning on it.

| Celery | does here |
|---|---|
| worker starts (before its consumer) | the host announces itself and starts its threads |
| consumer starts, at every (re)connection | the held seats' queues are consumed |
| consumer stops, at every loss of the broker too | the consumer is forgotten, nothing else |
| first SIGTERM or SIGINT | drain: nothing new starts; the next signal kills, as by default |
| worker shut down, its pool empty | waits for the running turns, gives the seats back |
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from celery import Celery, bootsteps, signals
from django.conf import settings
from django.db import DatabaseError

from agents import wake as doorbell
from agents.dispatch import sweep
from agents.dispatch.dispatcher import Dispatcher
from agents.dispatch.gate import Gate
from agents.dispatch.turns import JournalledTurns, Turns
from agents.llm import chain
from agents.seats.host import EXIT_TEMPFAIL, HostSettings, SeatHost
from agents.seats.presence import SEATS_ROLE
from crewlet.kernel import db, tracing
from crewlet.kernel.errors import Conflict, Unavailable
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.queue import WORKER_SOCKET_SECONDS, transport_options
from crewlet.kernel.registry import freeze_all
from orgs import epochs

log = logging.getLogger(__name__)

DUTY_PREFIX: Final = "duty."


class TurnRunner:
    """Runs turns for a host: the gate in front, the dispatcher behind."""

    def __init__(self, host: SeatHost, turns: Turns, limit: int) -> None:
        self.gate = Gate(limit, Dispatcher(host, turns).look)

    def poke(self, seat_id: UUID) -> None:
        """Looks at a seat's mail soon."""
        self.gate.poke(seat_id)

    def busy(self, seat_id: UUID) -> bool:
        """Returns whether the seat is being worked on."""
        return self.gate.busy(seat_id)

    def in_flight(self) -> int:
        """Returns how many seats are being worked on."""
        return self.gate.in_flight()

    def clear(self) -> None:
        """Sends home who waits for a slot."""
        self.gate.close()

    def sweep(self, seats: list[UUID]) -> float | None:
        """Pokes the held seats that have work."""
        return sweep.run_once(self.gate, seats)


@dataclass(slots=True)
class _Process:
    host: SeatHost | None = None


_process = _Process()


def build_host(host_settings: HostSettings, turns: Turns | None = None) -> SeatHost:
    """Returns a host with its runner, not started yet."""
    host = SeatHost(host_settings)
    host.runner = TurnRunner(host, turns or JournalledTurns(), host_settings.capacity)
    return host


def wake(seat_id: UUID) -> None:
    """Answers a wake: the doorbell may ring again, then the seat is looked at.

    In this order: mail that commits after the look rings anew. A wake for a seat that this process
    does not hold is forgotten; its holder's sweep finds the mail.
    """
    doorbell.answered(seat_id)
    host = _process.host
    if host is not None and host.runner is not None and host.lease_of(seat_id) is not None:
        host.runner.poke(seat_id)


def in_flight() -> int:
    """Returns how many seats this process works on; 0 in a process without a host."""
    host = _process.host
    return host.runner.in_flight() if host and host.runner else 0


class SeatQueues(bootsteps.StartStopStep):
    """Ties the queues of held seats to Celery's consumer."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, c: Any) -> None:
        """Consumes the held seats' queues on a fresh connection."""
        if _process.host is not None:
            _process.host.attach(c)

    def stop(self, c: Any) -> None:
        """Forgets the consumer. The broker may just be gone: no seat moves for that."""
        if _process.host is not None:
            _process.host.detach()


def install(app: Celery, turns: Turns | None = None) -> None:
    """Makes a Celery app host seats when it is run as a seat worker."""
    app.steps["consumer"].add(SeatQueues)
    app.conf.broker_transport_options = transport_options(WORKER_SOCKET_SECONDS)

    def on_init(sender: Any = None, **_: Any) -> None:
        freeze_all()
        if _is_duty(sender):
            return
        env = settings.CREWLET
        tracing.configure()
        _warm()
        _process.host = build_host(
            HostSettings(env.node_id, env.lease_ttl, env.sweep_seconds, env.max_concurrent), turns
        )
        _process.host.leave = _end_process
        _boot(_process.host)
        publish(EventType.ORG_STARTED, summary=f"Node {env.node_id} started.", actor="engine:host")

    signals.worker_init.connect(on_init, weak=False)
    signals.worker_shutting_down.connect(_on_signal, weak=False)
    signals.worker_shutdown.connect(_on_shutdown, weak=False)


def _warm() -> None:
    """Imports what the first turn needs, before a seat is held that could be woken."""
    try:
        chain.warm(epochs.active())
    except (Unavailable, DatabaseError) as error:
        # No company yet, or no database: the host says so itself, or waits for one.
        log.info("worker_not_warmed", extra={"why": str(error)})
    finally:
        db.release()


def _boot(host: SeatHost) -> None:
    try:
        host.start()
    except Conflict as error:
        # Celery logs what a signal's receiver raises and goes on; only an exit ends it.
        sys.stderr.write(f"{error.message}\n")
        sys.exit(EXIT_TEMPFAIL)


def _end_process() -> None:
    # Declared dead while it lives: it holds nothing any more, and a supervisor starts it anew.
    os.kill(os.getpid(), signal.SIGTERM)


def _is_duty(worker: Any) -> bool:
    name = str(getattr(worker, "hostname", worker) or "")
    return name.startswith(DUTY_PREFIX) or SEATS_ROLE not in settings.CREWLET.roles


def _on_signal(**_: Any) -> None:
    # Celery would swallow the second signal and drain on; the operator means it.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _process.host is not None:
        _process.host.begin_drain()


def _on_shutdown(**_: Any) -> None:
    host = _process.host
    if host is None:
        return
    _process.host = None
    host.stop()
    publish(
        EventType.ORG_STOPPED,
        summary=f"Node {host.settings.node_id} stopped.",
        actor="engine:host",
    )
