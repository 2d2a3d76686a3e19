"""The gate: how many seats of this node are worked on at once, and who is next.

One entry per seat: a seat runs, waits, or neither. A poke for a running seat says "look again" and
takes no slot; a poke past the ceiling waits in order and starts the instant a slot frees. A seat
that has more mail goes to the end of the line, so that a busy one starves nobody.

| | not here | waits | runs | runs, again |
|---|---|---|---|---|
| poke | waits | waits | runs, again | runs, again |
| a slot frees | — | runs | — | — |
| work ends | — | — | not here (waits, if it said there is more) | waits |

Threads are made when there is work and end when there is none.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from uuid import UUID

from prometheus_client import Gauge

log = logging.getLogger(__name__)

WAITING = Gauge("crewlet_gate_waiting", "Seats that wait for a slot of this node.")
IN_USE = Gauge("crewlet_gate_in_use", "Slots of this node in use.")

Work = Callable[[UUID], bool]


class Gate:
    """Runs `work(seat)` for poked seats, at most `limit` at once and never twice for one seat.

    `work` returns whether to look at the seat again. An exception out of it is logged and ends the
    look; the sweep pokes the seat again.
    """

    def __init__(self, limit: int, work: Work) -> None:
        self._limit = limit
        self._work = work
        self._lock = threading.Lock()
        self._waiting: dict[UUID, None] = {}
        self._running: set[UUID] = set()
        self._again: set[UUID] = set()
        self._threads = 0
        self._closed = False

    def poke(self, seat_id: UUID) -> None:
        """Sees to it that the seat is looked at after this moment."""
        with self._lock:
            if self._closed:
                return
            if seat_id in self._running:
                self._again.add(seat_id)
                return
            self._waiting.setdefault(seat_id)
            WAITING.set(len(self._waiting))
            # Every thread either works or is about to look at the line, so threads beyond the
            # seats at hand would find nothing.
            wanted = min(self._limit, len(self._running) + len(self._waiting))
            start = self._threads < wanted
            self._threads += start
        if start:
            threading.Thread(target=self._serve, name="turn", daemon=True).start()

    def busy(self, seat_id: UUID) -> bool:
        """Returns whether the seat is being worked on."""
        with self._lock:
            return seat_id in self._running

    def in_flight(self) -> int:
        """Returns how many seats are being worked on."""
        with self._lock:
            return len(self._running)

    def waiting(self) -> int:
        """Returns how many seats wait for a slot."""
        with self._lock:
            return len(self._waiting)

    def close(self) -> None:
        """Lets nobody in any more and sends home who waits; running work goes on."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            self._again.clear()
            WAITING.set(0)

    def _serve(self) -> None:
        while (seat_id := self._next()) is not None:
            more = False
            try:
                more = self._work(seat_id)
            except Exception:
                log.exception("seat_look_failed", extra={"seat": str(seat_id)})
            finally:
                self._done(seat_id, more=more)

    def _next(self) -> UUID | None:
        with self._lock:
            if not self._waiting:
                self._threads -= 1
                return None
            seat_id = next(iter(self._waiting))
            del self._waiting[seat_id]
            self._running.add(seat_id)
            self._gauge()
            return seat_id

    def _done(self, seat_id: UUID, *, more: bool) -> None:
        with self._lock:
            self._running.discard(seat_id)
            again = seat_id in self._again
            self._again.discard(seat_id)
            if (more or again) and not self._closed:
                self._waiting.setdefault(seat_id)
            self._gauge()

    def _gauge(self) -> None:
        WAITING.set(len(self._waiting))
        IN_USE.set(len(self._running))
