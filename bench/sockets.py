"""Fan-out: one frame on the live ring, 200 sockets of one real web process.

The clients live in this process and share the machine with the server, so a client's own work is
part of every millisecond here.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect

from bench.figures import Aim, Spread, percentile, table
from bench.machine import cpu_seconds, resident_mb
from bench.place import TOKEN, BenchProblem, Place, accepts, child, free_port, until
from bench.plan import SOCKETS, Plan
from crewlet.kernel import db, live
from crewlet.ops import roster

LAST_MS: Final = 100.0
MARK: Final = "bench-frame"
PADDING: Final = "x" * 230
"""Brings a frame to about 400 bytes with its envelope."""
JOINING: Final = 20
WAIT_SECONDS: Final = 20.0


@dataclass
class SocketFigures:
    """What broadcasts took: milliseconds to the last and to the middle socket, server CPU."""

    last: list[float] = field(default_factory=list)
    middle: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0
    sustained: float = 0.0
    frame_bytes: int = 0
    resident_mb: float = 0.0

    @property
    def cpu_us_a_send(self) -> float:
        """Microseconds of server CPU for one frame to one socket."""
        return self.cpu_ms * 1000 / SOCKETS

    def show(self) -> str:
        """Returns the table."""
        row = [
            f"{SOCKETS} sockets, {self.frame_bytes} bytes",
            Spread.of(self.last).show(),
            f"{percentile(self.last, 0.95):.1f}",
            Spread.of(self.middle).show(),
            f"{self.cpu_ms:.1f}",
            f"{self.cpu_us_a_send:.0f}",
            f"{self.sustained:.0f}",
            f"{self.sustained * SOCKETS:.0f}",
            f"{self.resident_mb:.0f}",
        ]
        head = [
            "fan-out, uvicorn", "last client ms", "p95", "median client ms", "CPU ms a broadcast",
            "CPU us a send", "broadcasts/s", "sends/s", "RSS MB",
        ]  # fmt: skip
        return table(head, [row])

    def aims(self) -> list[Aim]:
        """Returns the goal and what was measured."""
        p95 = percentile(self.last, 0.95)
        return [Aim(f"last of {SOCKETS} sockets, p95", p95, LAST_MS, "ms")]

    def as_json(self) -> dict[str, Any]:
        """Returns it as the JSON report keeps it."""
        return {
            "sockets": SOCKETS,
            "broadcasts": len(self.last),
            "frame_bytes": self.frame_bytes,
            "last_p95_ms": round(percentile(self.last, 0.95), 2),
            "last_ms": Spread.of(self.last).as_json(),
            "median_ms": Spread.of(self.middle).as_json(),
            "cpu_ms_per_broadcast": round(self.cpu_ms, 2),
            "cpu_us_per_send": round(self.cpu_us_a_send, 1),
            "broadcasts_per_second": round(self.sustained, 1),
            "sends_per_second": round(self.sustained * SOCKETS, 1),
            "resident_mb": round(self.resident_mb, 1),
        }


def measured(place: Place, plan: Plan) -> SocketFigures:
    """Starts web, opens the sockets, and sends."""
    port = free_port()
    with ExitStack() as stack:
        role = roster.web(port)
        web = child(stack, "web process", role.argv, place.folder / "web.log", role.environment)
        until(lambda: accepts(port), what="web to listen")
        return asyncio.run(_fan_out(port, web.pid, plan))


@dataclass
class _Crowd:
    """All sockets: when each one had frame `n`, and who waits for the last of them."""

    arrived: dict[int, list[float]] = field(default_factory=dict)
    full: dict[int, asyncio.Event] = field(default_factory=dict)
    bytes: int = 0

    def expect(self, n: int) -> None:
        self.arrived[n], self.full[n] = [], asyncio.Event()

    def take(self, text: str) -> None:
        at = time.monotonic()
        _, mark, rest = text.partition(MARK)
        if not mark:
            return
        n = int(rest[1 : rest.index(";")])
        self.bytes = len(text)
        self.arrived[n].append(at)
        if len(self.arrived[n]) == SOCKETS:
            self.full[n].set()

    async def everybody_has(self, n: int) -> None:
        try:
            await asyncio.wait_for(self.full[n].wait(), WAIT_SECONDS)
        except TimeoutError:
            got = len(self.arrived[n])
            raise BenchProblem(f"Frame {n} reached {got} of {SOCKETS} sockets.") from None


async def _fan_out(port: int, pid: int, plan: Plan) -> SocketFigures:
    crowd, figures = _Crowd(), SocketFigures()
    sockets = await _join(port)
    listeners = [asyncio.create_task(_listen(socket, crowd)) for socket in sockets]
    try:
        for n in range(5):
            await _broadcast(crowd, n)
        before = cpu_seconds(pid)
        for n in range(5, 5 + plan.broadcasts):
            last, middle = await _broadcast(crowd, n)
            figures.last.append(last)
            figures.middle.append(middle)
        figures.cpu_ms = (cpu_seconds(pid) - before) * 1000 / plan.broadcasts
        figures.sustained = await _burst(crowd, 10_000, plan.burst)
        figures.frame_bytes, figures.resident_mb = crowd.bytes, resident_mb(pid)
    finally:
        for listener in listeners:
            listener.cancel()
        await asyncio.gather(*(socket.close() for socket in sockets))
    return figures


async def _join(port: int) -> list[ClientConnection]:
    gate = asyncio.Semaphore(JOINING)

    async def one() -> ClientConnection:
        async with gate:
            socket = await connect(
                f"ws://127.0.0.1:{port}/ws/stream",
                additional_headers={"Authorization": f"Bearer {TOKEN}"},
                compression=None,
                max_size=None,
                open_timeout=WAIT_SECONDS,
                ping_interval=None,
            )
            await socket.send(json.dumps({"kind": "hello", "v": 1, "topics": ["agents"]}))
            first = json.loads(await asyncio.wait_for(socket.recv(), WAIT_SECONDS))
            if first["kind"] != "snapshot":
                raise BenchProblem(f"A socket began with {first} instead of a snapshot.")
            return socket

    return list(await asyncio.gather(*(one() for _ in range(SOCKETS))))


async def _listen(socket: ClientConnection, crowd: _Crowd) -> None:
    async for text in socket:
        crowd.take(str(text))


def _send(n: int) -> None:
    live.push("event", {"id": f"{MARK}:{n};", "summary": PADDING}, topics=("agents",))
    db.release()


def _send_all(first: int, count: int) -> None:
    for n in range(first, first + count):
        _send(n)


async def _broadcast(crowd: _Crowd, n: int) -> tuple[float, float]:
    crowd.expect(n)
    began = time.monotonic()
    await asyncio.to_thread(_send, n)
    await crowd.everybody_has(n)
    arrived = crowd.arrived[n]
    return (max(arrived) - began) * 1000, (median(arrived) - began) * 1000


async def _burst(crowd: _Crowd, first: int, count: int) -> float:
    """Sends frames without a pause; returns broadcasts a second until the last one is everywhere.

    A socket's queue holds 256 frames, so a burst within that loses none, however slow it is.
    """
    for n in range(first, first + count):
        crowd.expect(n)
    began = time.monotonic()
    await asyncio.to_thread(_send_all, first, count)
    for n in range(first, first + count):
        await crowd.everybody_has(n)
    return count / (time.monotonic() - began)
