"""One open server: the handshake, its tools page by page, and calls. Lives in the pool's loop.

Loaded with the first server only; see `child`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import CONNECTION_CLOSED, Implementation

from crewlet.kernel import clock
from crewlet.kernel.redact import clean
from integrations.mcp.child import LastWords, running
from integrations.mcp.config import Reach
from integrations.mcp.hiding import hide
from integrations.mcp.orphans import Orphans

PAGES: Final = 100
_SELF: Final = Implementation(name="crewlet", version="0.1.0")


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of a server as it sent them, each name once, and what was odd about the list."""

    tools: tuple[dict[str, Any], ...]
    warning: str = ""


class Broken(Exception):
    """A server did not do what it was asked; the message names it and says why."""

    def __init__(self, message: str, *, dead: bool = False) -> None:
        super().__init__(message)
        self.dead = dead


class Connection:
    """A server that is starting, open or over. `run` is its whole life, in a task of its own."""

    def __init__(self, reach: Reach, orphans: Orphans) -> None:
        self.reach = reach
        self.used_at = clock.monotonic()
        self.calls = 0
        self.over = False
        self._orphans = orphans
        self._words = LastWords(reach)
        self._rpc: JSONRPCDispatcher[Any] | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._life = asyncio.create_task(self._run())

    async def opened(self) -> None:
        """Waits until the server has answered the handshake; raises `Broken`."""
        await asyncio.shield(self._ready)

    async def close(self) -> None:
        """Ends the server and waits until it is gone."""
        self._leave.set()
        await asyncio.wait([self._life])

    async def tools(self) -> Listing:
        """Reads every page of the list. One that goes in circles stops with what came so far."""
        found: dict[str, dict[str, Any]] = {}
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(PAGES):
            asked: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            page = await self.request("tools/list", asked, self.reach.start_seconds)
            listed = page.get("tools")
            for tool in listed if isinstance(listed, list) else []:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    found.setdefault(tool["name"], tool)
            told = page.get("nextCursor")
            cursor = told if isinstance(told, str) and told else None
            if cursor is None:
                return Listing(tuple(found.values()))
            if cursor in seen:
                return Listing(
                    tuple(found.values()),
                    f"its list of tools goes in circles: the page after {cursor[:60]!r} came twice",
                )
            seen.add(cursor)
        return Listing(
            tuple(found.values()), f"its list of tools has more than {PAGES} pages; these are read"
        )

    async def request(self, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Sends one request and returns its raw result; raises `Broken` in words."""
        rpc = self._rpc
        if rpc is None or self.over:
            raise Broken(self._told("is not running any more."), dead=True)
        self.calls += 1
        try:
            async with asyncio.timeout(seconds):
                return await rpc.send_raw_request(method, params)
        except TimeoutError:
            raise Broken(
                self._told(f"did not answer {method} within {seconds:g} s."), dead=False
            ) from None
        except MCPError as error:
            dead = error.code == CONNECTION_CLOSED
            why = "ended while it was asked." if dead else f"refused: {error.message}"
            raise Broken(self._told(why), dead=dead) from error
        finally:
            self.calls -= 1
            self.used_at = clock.monotonic()

    async def _run(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.reach.start_seconds):
                    streams = await stack.enter_async_context(self._streams())
                    self._rpc = JSONRPCDispatcher(*streams)
                    session = ClientSession(dispatcher=self._rpc, client_info=_SELF)
                    await stack.enter_async_context(session)
                    await session.initialize()
                self._ready.set_result(None)
                await self._leave.wait()
                self.over = True
        except Exception as error:  # noqa: BLE001 - what a vendor's wire raises costs that server
            self._fail(self._why(error))
        finally:
            self.over = True

    def _why(self, raised: Exception) -> str:
        error = _alone(raised)
        if isinstance(error, TimeoutError):
            return f"did not start within {self.reach.start_seconds:g} s."
        if isinstance(error, MCPError):
            dead = error.code == CONNECTION_CLOSED
            return "ended while it started." if dead else f"refused: {error.message}"
        return f"could not be started: {type(error).__name__}: {error}"

    def _fail(self, why: str) -> None:
        if not self._ready.done():
            self._ready.set_exception(Broken(self._told(why), dead=True))
            self._ready.exception()  # whoever waits has it; nobody waiting is no fault

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[Any]:
        if not self.reach.url:
            async with running(self.reach, self._words, self._orphans, self._leave) as streams:
                yield streams
            return
        async with (
            create_mcp_http_client(headers=dict(self.reach.own)) as client,
            streamable_http_client(self.reach.url, http_client=client) as streams,
        ):
            yield streams

    def _told(self, why: str) -> str:
        said = hide(f"The server {self.reach.server} {why}{self._words.tell()}", self.reach.secrets)
        return clean(said)


def _alone(error: BaseException) -> BaseException:
    """Returns what went wrong first, out of the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
