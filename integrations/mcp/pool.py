"""The open servers of this process: one event loop in one thread, asked from many.

A seat's servers are of the node that holds its lease, shared ones of the node. One starts at its
first use and is closed when its seat is given back, after ten idle minutes, when the document says
otherwise than it was started with, and with the process.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from crewlet.kernel import clock
from crewlet.kernel.errors import Unavailable
from integrations.mcp.config import Key, Reach
from integrations.mcp.orphans import Orphans

if TYPE_CHECKING:
    from integrations.mcp.connection import Connection, Listing

log = logging.getLogger(__name__)
T = TypeVar("T")

IDLE_SECONDS: Final = 600.0
LOOK_SECONDS: Final = 15.0
LONGEST_PAUSE: Final = 60.0


@dataclass(slots=True)
class _Failure:
    """Why a server rests: `tries` in a row, until `until` by the monotonic clock."""

    message: str
    tries: int
    until: float
    digest: str


class Pool:
    """Opens, keeps and closes servers. Safe for many threads."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle = idle_seconds
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        # Only the loop's thread touches these.
        self._open: dict[Key, Connection] = {}
        self._failed: dict[Key, _Failure] = {}
        self._orphans = Orphans()

    def tools(self, reach: Reach) -> Listing:
        """Returns a server's tools, starting it when it is not open; raises `Unavailable`."""
        return self._wait(self._listed(reach))

    def call(self, reach: Reach, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Calls a tool and returns the server's raw result; raises `Unavailable` in words."""
        return self._wait(self._called(reach, name, arguments))

    def close_seat(self, seat_id: UUID) -> None:
        """Ends the servers of a seat and waits until they are gone."""
        if self._loop is not None:
            self._wait(self._close([key for key in list(self._open) if key[0] == seat_id]))

    def close_idle(self) -> None:
        """Ends the servers that nobody has asked for too long."""
        if self._loop is not None:
            self._wait(self._close(self._unused()))

    def stop(self) -> None:
        """Ends every server, the guard and the thread; the next use starts them anew."""
        with self._lock:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._close(list(self._open)), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        self._orphans.end()

    def running(self) -> list[Key]:
        """Returns which servers are open."""
        return sorted((key for key, one in list(self._open.items()) if not one.over), key=str)

    # -- in the loop's thread ------------------------------------------------------------------

    async def _listed(self, reach: Reach) -> Listing:
        connection = await self._connection(reach)
        try:
            return await connection.tools()
        except self._broken() as error:
            raise await self._gave_up(reach, connection, error, always=True) from error

    async def _called(self, reach: Reach, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        connection = await self._connection(reach)
        try:
            params = {"name": name, "arguments": arguments}
            return await connection.request("tools/call", params, reach.call_seconds)
        except self._broken() as error:
            raise await self._gave_up(reach, connection, error, always=False) from error

    async def _connection(self, reach: Reach) -> Connection:
        """Returns an open server that is as the document says now; two who ask get the same one."""
        if reach.lacks:
            raise Unavailable(f"The server {reach.server} cannot be asked: {reach.lacks}.")
        known = self._open.get(reach.key)
        if known is not None and (known.over or known.reach.digest != reach.digest):
            await self._close([reach.key])
            known = self._open.get(reach.key)
        if known is None:
            self._refuse_while_failed(reach)
            known = self._module().Connection(reach, self._orphans)
            self._open[reach.key] = known
        try:
            await known.opened()
        except self._broken() as error:
            raise await self._gave_up(reach, known, error, always=True) from error
        self._failed.pop(reach.key, None)
        return known

    def _refuse_while_failed(self, reach: Reach) -> None:
        failure = self._failed.get(reach.key)
        if failure is None or failure.digest != reach.digest:
            return
        left = failure.until - clock.monotonic()
        if left > 0:
            raise Unavailable(f"{failure.message} It is tried again in {left:.0f} s.")

    async def _gave_up(
        self, reach: Reach, connection: Connection, error: Any, *, always: bool
    ) -> Unavailable:
        """Ends a server that failed, and lets it rest longer each time; returns what is told."""
        if self._open.get(reach.key) is connection and (error.dead or always):
            del self._open[reach.key]
            before = self._failed.get(reach.key)
            tries = before.tries + 1 if before and before.digest == reach.digest else 1
            pause = min(LONGEST_PAUSE, 2.0 ** (tries - 1))
            self._failed[reach.key] = _Failure(
                str(error), tries, clock.monotonic() + pause, reach.digest
            )
            await connection.close()
        return Unavailable(str(error))

    def _unused(self) -> list[Key]:
        now = clock.monotonic()
        return [
            key
            for key, one in list(self._open.items())
            if one.over or (not one.calls and now - one.used_at >= self._idle)
        ]

    async def _close(self, keys: list[Key]) -> None:
        leaving = [self._open.pop(key) for key in keys if key in self._open]
        await asyncio.gather(*(one.close() for one in leaving))

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self._close(self._unused())

    # -- threads -------------------------------------------------------------------------------

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        # Every wait inside has an end of its own: starting, listing and calling are all timed.
        return asyncio.run_coroutine_threadsafe(work, self._started()).result()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_turn_over, args=(self._loop, self._look), name="mcp", daemon=True
                )
                self._thread.start()
            return self._loop

    def _module(self) -> Any:
        return import_module("integrations.mcp.connection")

    def _broken(self) -> Any:
        return self._module().Broken


def _turn_over(loop: asyncio.AbstractEventLoop, look: Any) -> None:
    asyncio.set_event_loop(loop)
    watching = loop.create_task(look())
    try:
        loop.run_forever()
    finally:
        watching.cancel()
        loop.run_until_complete(asyncio.gather(watching, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


POOL: Final = Pool()
atexit.register(POOL.stop)
