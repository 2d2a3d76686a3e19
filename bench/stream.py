"""A storm: 2,000 events a second through the hub of one web process to 50 sockets.

Events come in transactions of twenty, as a busy company's do, from a second process' worth of work
in this one. Every socket has to get every event, or be told by a `gap` that it did not; the aim is
that nobody has to be told, and that the server has not grown when the storm is over.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction
from websockets.asyncio.client import ClientConnection, connect

from bench.figures import Aim, table
from bench.machine import cpu_seconds, resident_mb
from bench.place import TOKEN, BenchProblem, Place, accepts, child, free_port, until
from bench.plan import Plan
from crewlet.kernel import db, live
from crewlet.ops import roster

LISTENERS: Final = 50
RATE: Final = 2_000
TOGETHER: Final = 20
MARK: Final = "storm-"
GROWTH_MB: Final = 10.0
WAIT_SECONDS: Final = 30.0


@dataclass
class StreamFigures:
    """What was sent, what arrived, and what it cost the server."""

    seconds: float = 0.0
    sent: int = 0
    arrived: list[int] = field(default_factory=list)
    dropped: int = 0
    behind_ms: float = 0.0
    cpu_share: float = 0.0
    grown_mb: float = 0.0

    @property
    def rate(self) -> float:
        """Events a second that were really sent."""
        return self.sent / self.seconds

    @property
    def lost(self) -> int:
        """Events that some socket neither got nor was told of."""
        return sum(self.sent - got for got in self.arrived) - self.dropped

    def show(self) -> str:
        """Returns the table."""
        row = [
            f"{LISTENERS} sockets", f"{self.rate:.0f}", f"{self.sent}", str(self.lost),
            str(self.dropped), f"{self.behind_ms:.0f}", f"{self.cpu_share:.2f}",
            f"{self.grown_mb:.1f}",
        ]  # fmt: skip
        head = [
            "storm", "events/s", "events", "lost", "told as a gap", "last one behind ms",
            "cores of web", "grown MB",
        ]  # fmt: skip
        return table(head, [row])

    def aims(self) -> list[Aim]:
        """Returns the goals and what was measured."""
        return [
            Aim("storm: events a second", self.rate, RATE * 0.95, "/s", at_least=True),
            Aim("storm: events lost without a word", self.lost, 0, "events"),
            Aim("storm: events dropped with a gap told", self.dropped, 0, "events"),
            Aim("storm: growth of web", self.grown_mb, GROWTH_MB, "MB"),
        ]

    def as_json(self) -> dict[str, Any]:
        """Returns it as the JSON report keeps it."""
        return {
            "sockets": LISTENERS,
            "events": self.sent,
            "events_per_second": round(self.rate, 1),
            "lost": self.lost,
            "dropped": self.dropped,
            "behind_ms": round(self.behind_ms, 1),
            "web_cores": round(self.cpu_share, 3),
            "grown_mb": round(self.grown_mb, 2),
        }


def measured(place: Place, plan: Plan) -> StreamFigures:
    """Starts web, opens the sockets, and storms."""
    port = free_port()
    with ExitStack() as stack:
        role = roster.web(port)
        web = child(stack, "web process", role.argv, place.folder / "storm.log", role.environment)
        until(lambda: accepts(port), what="web to listen")
        return asyncio.run(_storm(port, web.pid, plan))


@dataclass
class _Ear:
    """One socket: how many events it has, whether the last one came, what it was told it lost."""

    last: int
    got: int = 0
    told: int = 0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, text: str) -> None:
        """Counts without parsing: a client's work is done beside the sender's, in one process."""
        if MARK in text:
            self.got += 1
            if f'"{MARK}{self.last}"' in text:
                self.done.set()
        elif '"gap"' in text:
            self.told += int(json.loads(text)["data"]["dropped"])


async def _storm(port: int, pid: int, plan: Plan) -> StreamFigures:
    figures = StreamFigures(sent=int(plan.stream_seconds * RATE))
    sockets = [await _join(port) for _ in range(LISTENERS)]
    warm = [_Ear(TOGETHER - 1) for _ in sockets]
    await _heard(sockets, warm, 0, TOGETHER)
    before, began = resident_mb(pid), time.monotonic()
    cpu = cpu_seconds(pid)
    ears = [_Ear(TOGETHER + figures.sent - 1) for _ in sockets]
    sent_at = await _heard(sockets, ears, TOGETHER, figures.sent)
    ended = time.monotonic()
    figures.seconds, figures.behind_ms = sent_at - began, (ended - sent_at) * 1000
    figures.cpu_share = (cpu_seconds(pid) - cpu) / (ended - began)
    figures.arrived, figures.dropped = [ear.got for ear in ears], sum(ear.told for ear in ears)
    figures.grown_mb = max(0.0, resident_mb(pid) - before)
    await asyncio.gather(*(socket.close() for socket in sockets))
    return figures


async def _heard(
    sockets: list[ClientConnection], ears: list[_Ear], first: int, count: int
) -> float:
    """Sends events and waits until every ear has the last; returns when that one was sent."""
    listeners = [
        asyncio.create_task(_listen(socket, ear)) for socket, ear in zip(sockets, ears, strict=True)
    ]
    try:
        sent_at = await asyncio.to_thread(_send_all, first, count)
        await asyncio.wait_for(asyncio.gather(*(ear.done.wait() for ear in ears)), WAIT_SECONDS)
    except TimeoutError:
        late = sum(not ear.done.is_set() for ear in ears)
        raise BenchProblem(f"{late} of {len(ears)} sockets never saw the last event.") from None
    finally:
        for listener in listeners:
            listener.cancel()
    return sent_at


def _send_all(first: int, count: int) -> float:
    """Sends at the rate, a transaction of `TOGETHER` at a time; late ones are not caught up."""
    began = time.monotonic()
    for start in range(0, count, TOGETHER):
        with transaction.atomic():
            for n in range(start, min(start + TOGETHER, count)):
                data = {"id": f"{MARK}{first + n}", "summary": "x" * 120}
                live.push("event", data, topics=("agents",))
        due = began + (start + TOGETHER) / RATE
        time.sleep(max(0.0, due - time.monotonic()))
    db.release()
    return time.monotonic()


async def _join(port: int) -> ClientConnection:
    socket = await connect(
        f"ws://127.0.0.1:{port}/ws/stream",
        additional_headers={"Authorization": f"Bearer {TOKEN}"},
        compression=None, max_size=None, open_timeout=WAIT_SECONDS, ping_interval=None,
    )  # fmt: skip
    await socket.send(json.dumps({"kind": "hello", "v": 1, "topics": ["agents"]}))
    await asyncio.wait_for(socket.recv(), WAIT_SECONDS)
    return socket


async def _listen(socket: ClientConnection, ear: _Ear) -> None:
    async for text in socket:
        ear.take(str(text))
