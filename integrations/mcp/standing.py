"""How the company's servers stand, and every tool by its source."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any, Final

from agents.tools.registry import builtin_tools
from agents.tools.tool import Tool
from crewlet.kernel.errors import Unavailable
from crewlet.ops.checks import Finding
from integrations.mcp import source, store
from integrations.mcp.config import Key, Reach, every
from integrations.mcp.pool import POOL
from integrations.models.mcp import MCPServer, MCPTool, ServerState
from orgs import epochs
from orgs.document.parts import ToolServer
from orgs.epochs import Snapshot

log = logging.getLogger(__name__)

HINTS: Final = ("read_only", "destructive", "idempotent", "open_world")


def everything() -> dict[str, Any]:
    """Returns the servers with their tools, and the tools of ours, as plain data."""
    return {"servers": servers(), "tools": tools()}


def servers() -> list[dict[str, Any]]:
    """Returns the company's servers in the order of its document, one row a seat for each that
    is not shared; a server that no seat has the variables for has one row that says so."""
    snapshot = epochs.active()
    reaches = list(every(snapshot))
    rows = _rows(reach.key for reach in reaches)
    known = store.tools_of(reach.key for reach in reaches) if reaches else {}
    found: list[dict[str, Any]] = []
    for entry in snapshot.document.mcp_servers:
        own = [reach for reach in reaches if reach.server == entry.name]
        if not own:
            found.append(_unused(entry))
        found += [_server(snapshot, entry, one, rows.get(one.key), known[one.key]) for one in own]
    return found


def tools() -> list[dict[str, Any]]:
    """Returns every tool that the company knows of, ours first, each source's by name."""
    snapshot = epochs.active()
    found = [_tool(tool) for tool in builtin_tools()]
    listed: dict[tuple[str, str], dict[str, Any]] = {}
    for server in servers():
        for tool in server["tools"]:
            listed.setdefault((tool["source"], tool["name"]), tool)
    order = {f"mcp:{entry.name}": n for n, entry in enumerate(snapshot.document.mcp_servers)}
    return found + sorted(listed.values(), key=lambda one: (order[one["source"]], one["name"]))


def ask_wanted(now: datetime) -> int:
    """Asks the servers that a person wants asked; returns how many. A duty of the company.

    What it starts it ends again: a server belongs to the nodes that use it.
    """
    wanted = store.wanted_anew()
    if not wanted:
        return 0
    chosen = [reach for reach in every(epochs.active()) if reach.key in wanted]
    store.forget_asking(wanted - {reach.key for reach in chosen})
    return _ask_all(chosen)


def refresh(server: str = "") -> list[dict[str, Any]]:
    """Asks the company's servers, or one, from this process; returns how they stand."""
    chosen = [reach for reach in every(epochs.active()) if server in ("", reach.server)]
    _ask_all(chosen)
    return [row for row in servers() if server in ("", row["name"])]


def server_down() -> Finding | None:
    """A server of tools does not answer: its tools are missing from the seats that have it."""
    if not MCPServer.objects.filter(state=ServerState.FAILED).exists():
        return None
    try:
        here = {reach.key: reach for reach in every(epochs.active())}
    except Unavailable:
        return None
    down = store.failures_of(here)
    if not down:
        return None
    names = ", ".join(sorted({name for _, name in down}))
    return Finding(
        f"{len(down)} of {len(here)} tool servers do not answer: {names}",
        "Settings, MCP servers shows why, with their last lines. Once it is mended, press Refresh "
        "there or run `manage.py tools refresh`.",
    )


def _ask_all(chosen: list[Reach]) -> int:
    for reach in chosen:
        try:
            source.ask(reach)
        except Unavailable as error:
            log.warning("mcp_server_failed", extra={
                "server": reach.server, "why": error.message,
            })  # fmt: skip
    if chosen:
        POOL.stop()
    return len(chosen)


def _rows(keys: Any) -> dict[Key, MCPServer]:
    wanted = set(keys)
    names = {name for _, name in wanted}
    found = MCPServer.objects.filter(name__in=names)
    return {(row.seat_id, row.name): row for row in found if (row.seat_id, row.name) in wanted}


def _server(
    snapshot: Snapshot,
    entry: ToolServer,
    reach: Reach,
    row: MCPServer | None,
    known: list[MCPTool],
) -> dict[str, Any]:
    state = row.state if row else ServerState.NEW.value
    return {
        **_face(entry),
        "seat": snapshot.handles[reach.seat_id] if reach.seat_id else None,
        "state": "unset" if reach.lacks else state,
        "error": f"It {reach.lacks[3:]}." if reach.lacks else (row.error if row else ""),
        "warning": row.warning if row else "",
        "since": row.changed_at if row else None,
        "listed_at": row.listed_at if row else None,
        "asked": bool(row and row.asked_at),
        "tools": [_known(entry, tool) for tool in known],
    }


def _unused(entry: ToolServer) -> dict[str, Any]:
    return {
        **_face(entry),
        "seat": None,
        "state": "unset",
        "error": "It is not shared, and no seat or unit gives it variables under `mcp_env`.",
        "warning": "",
        "since": None,
        "listed_at": None,
        "asked": False,
        "tools": [],
    }


def _face(entry: ToolServer) -> dict[str, Any]:
    return {
        "name": entry.name,
        "transport": entry.transport.value,
        "shared": entry.shared,
        "where": entry.url or entry.command or "",
    }


def _known(entry: ToolServer, row: MCPTool) -> dict[str, Any]:
    tool = source.tool_of(row, entry)
    overridden = [hint for hint in HINTS if getattr(tool, hint) != row.hints.get(hint, "unknown")]
    return {**_tool(tool), "server_name": row.name, "overridden": overridden}


def _tool(tool: Tool) -> dict[str, Any]:
    properties = tool.schema.get("properties")
    first = next((line for line in tool.description.splitlines() if line.strip()), "")
    return {
        "name": tool.name,
        "source": tool.source,
        "title": tool.title,
        "summary": first[:300],
        **{hint: getattr(tool, hint) for hint in HINTS},
        "delivers": tool.delivers,
        "arguments": len(properties) if isinstance(properties, dict) else 0,
        "server_name": tool.name,
        "overridden": [],
    }
