"""The Celery tasks of the runtime. Each is one line: rows are the truth, a task says "look"."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from agents.dispatch import duties, worker
from crewlet.kernel import clock
from crewlet.kernel.queue import RUN_SEAT, TICK


@shared_task(name=RUN_SEAT, ignore_result=True)
def run_seat(seat_id: str) -> None:
    """Looks at a seat's mail, if this process holds the seat."""
    worker.wake(UUID(seat_id))


@shared_task(name=TICK, ignore_result=True)
def tick() -> None:
    """Does the duties that are due."""
    duties.tick(clock.now())
