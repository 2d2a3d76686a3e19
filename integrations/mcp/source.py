"""MCP servers as a source of a seat's tools."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from agents.tools.run_call import CallResult
from agents.tools.tool import Tool
from crewlet.kernel import db
from crewlet.kernel.errors import NotFound, Unavailable
from integrations.mcp import store
from integrations.mcp.config import Reach, reaches
from integrations.mcp.naming import overridden, tool_name
from integrations.mcp.pool import POOL
from integrations.mcp.results import result_of

if TYPE_CHECKING:
    from integrations.models.mcp import MCPTool
    from orgs.document.parts import ToolServer
    from orgs.epochs import Snapshot


def tools(snapshot: Snapshot, handle: str) -> Iterator[Tool]:
    """Yields the tools that are known of the servers of a seat; starts none of them."""
    found = reaches(snapshot, handle)
    if not found:
        return
    entries = {entry.name: entry for entry in snapshot.document.mcp_servers}
    known = store.tools_of(reach.key for reach in found)
    for reach in found:
        if not reach.lacks:
            for row in known[reach.key]:
                yield tool_of(row, entries[reach.server], reach)


def tool_of(row: MCPTool, entry: ToolServer, reach: Reach | None = None) -> Tool:
    """Returns a stored tool as the runtime knows it; without `reach` it cannot be run."""
    prefixed = entry.tool_prefix + row.name
    hints = overridden(row.hints, entry.tool_annotations, row.name, prefixed)
    return Tool(
        name=tool_name(entry.name, prefixed),
        description=row.description or row.title,
        schema=row.schema,
        title=row.title,
        source=f"mcp:{entry.name}",
        own=not entry.shared,
        run=partial(_run, reach, row.name) if reach else None,
        **hints,
    )


def _run(reach: Reach, name: str, arguments: dict[str, Any]) -> CallResult:
    try:
        answer = POOL.call(reach, name, arguments)
    except Unavailable as error:
        return CallResult.failed(error.message)
    return result_of(answer, reach.secrets)


class Servers:
    """The MCP servers of the company, for the tools that discover what they offer."""

    def names(self, snapshot: Snapshot, handle: str) -> tuple[str, ...]:
        """Returns the servers that a seat has, each once."""
        return tuple(dict.fromkeys(reach.server for reach in reaches(snapshot, handle)))

    def absent(self, snapshot: Snapshot, handle: str) -> dict[str, str]:
        """Returns those of them that could not be asked last time, and why."""
        found = reaches(snapshot, handle)
        failed = store.failures_of(reach.key for reach in found) if found else {}
        return {
            reach.server: reach.lacks or failed[reach.key]
            for reach in found
            if reach.lacks or reach.key in failed
        }

    def ask(self, snapshot: Snapshot, handle: str, server: str) -> None:
        """Asks a server of the seat for its tools and keeps them; raises in words."""
        reach = next((r for r in reaches(snapshot, handle) if r.server == server), None)
        if reach is None:
            raise NotFound(f"This seat has no server {server}.")
        ask(reach)


def ask(reach: Reach) -> None:
    """Asks a server for its tools and keeps what it says; raises `Unavailable`."""
    db.release()
    try:
        listing = POOL.tools(reach)
    except Unavailable as error:
        store.failed(reach, error.message)
        raise
    store.listed(reach, listing.tools, listing.warning)


class Children:
    """Ties a seat's own servers to its lease: they start at first use, and end with it."""

    def open(self, lease: Any) -> None:
        """Starts nothing yet."""

    def close(self, lease: Any) -> None:
        """Ends the servers that were started for the seat."""
        POOL.close_seat(lease.seat_id)
