"""From the commit of a letter to the first request that the model server receives.

An idle node: a real seat worker with Celery and Valkey, whose seats have no mail. One letter at a
time; the next one is posted when its turn has ended. Both stamps are taken on this machine's
monotonic clock: ours by the first hook after the commit, the other by the model server.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection, transaction

from agents.mail.letters import Mail
from agents.mail.post import post
from bench.company import PROJECT, Company, fast_seats
from bench.figures import Aim, Spread, percentile, table
from bench.place import Place, child, until
from bench.plan import Plan
from crewlet.kernel import clock, db
from crewlet.kernel.ids import new_id
from crewlet.ops import roster

P95_MS: Final = 150.0
QUIET_SECONDS: Final = 0.05
"""Between a turn's end and the next letter, so that the node is idle and not just finishing."""


@dataclass
class WakeFigures:
    """Milliseconds from commit to first request, one a letter; the first one is apart."""

    first: float
    idle: list[float]

    def show(self) -> str:
        """Returns the table."""
        row = [
            "mail's commit to the first model call",
            f"{percentile(self.idle, 0.5):.1f}",
            f"{percentile(self.idle, 0.95):.1f}",
            Spread.of(self.idle).show(),
            f"{self.first:.0f}",
        ]
        return table(["idle node, ms", "p50", "p95", "min/median/max", "first of a process"], [row])

    def aims(self) -> list[Aim]:
        """Returns the goal and what was measured."""
        return [Aim("wake to first model call, p95", percentile(self.idle, 0.95), P95_MS, "ms")]

    def as_json(self) -> dict[str, Any]:
        """Returns it as the JSON report keeps it."""
        return {
            "letters": len(self.idle),
            "p50_ms": round(percentile(self.idle, 0.5), 2),
            "p95_ms": round(percentile(self.idle, 0.95), 2),
            "first_ms": round(self.first, 1),
            **Spread.of(self.idle).as_json(),
        }


def measured(place: Place, company: Company, plan: Plan) -> WakeFigures:
    """Starts a worker, waits until it holds the seats, and wakes them one by one."""
    with ExitStack() as stack:
        role = roster.worker("bench-worker")
        child(stack, "worker", role.argv, place.folder / "worker.log", role.environment)
        until(lambda: _held() == len(company.seats) - 1, what="the worker to hold the agent seats")
        handles = fast_seats()
        taken = [_one(place, company, handles[n % len(handles)]) for n in range(plan.letters + 1)]
    return WakeFigures(taken[0], taken[1:])


def _held() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM agents_seatlease WHERE owner_id IS NOT NULL")
        return int(cursor.fetchone()[0])


def _one(place: Place, company: Company, handle: str) -> float:
    place.quick.reset()
    committed: list[float] = []
    with transaction.atomic():
        # The first hook after the commit, before the doorbell is rung.
        transaction.on_commit(lambda: committed.append(time.monotonic()))
        assert post(company.seats[handle], _letter())  # noqa: S101 - a letter that is there twice
    until(lambda: not company.waiting(), what=f"the turn of {handle}")
    db.release()
    arrived = min(float(row["at"]) for row in place.quick.stats()["received"])
    time.sleep(QUIET_SECONDS)
    return (arrived - committed[0]) * 1000


def _letter() -> Mail:
    event = new_id()
    text = f"Item: {PROJECT}-1 — Count what came in\nReason: mentioned\nFrom: Ana (@ana, human)"
    return Mail(
        event_id=event, kind="work_item", source="bench", batch_key=f"event:{event}",
        conversation=f"event:{event}", ts=clock.now(), reply_kind="none",
        payload={
            "summary": "Count what came in",
            "sender": {"handle": "ana", "name": "Ana", "kind": "human"},
            "text": text,
        },
    )  # fmt: skip
