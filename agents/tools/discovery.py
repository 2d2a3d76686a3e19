"""How a seat finds tools that are not shown to it: list a server, then activate what it needs.

A server may offer hundreds of tools, and each one's schema would be paid for in every request. So
a phase begins with the names of the servers only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from agents.tools.tool import Tool
from crewlet.kernel.nearest import nearest
from crewlet.kernel.registry import Registry

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

LIST: Final = "list_mcp_server_tools"
ACTIVATE: Final = "activate_tool"
NAMES: Final = frozenset({LIST, ACTIVATE})
_LINE_CHARS: Final = 200


class ToolServers(Protocol):
    """Servers whose tools a seat discovers."""

    def names(self, snapshot: Snapshot, handle: str) -> tuple[str, ...]:
        """Returns the servers that a seat has."""
        ...

    def absent(self, snapshot: Snapshot, handle: str) -> Mapping[str, str]:
        """Returns those of them that could not be asked last time, and why."""
        ...

    def ask(self, snapshot: Snapshot, handle: str, server: str) -> None:
        """Reads a server's tools anew, for its tool source; raises `CrewletError` in words."""
        ...


TOOL_SERVERS: Registry[ToolServers] = Registry("servers of tools")


def _one_text(name: str, says: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": says}},
        "required": [name],
        "additionalProperties": False,
    }


_LISTING: Final = Tool(
    name=LIST,
    description="",
    schema=_one_text("server", "The server's name."),
    read_only="yes",
    destructive="no",
    idempotent="yes",
)
_ACTIVATING: Final = Tool(
    name=ACTIVATE,
    description=(
        "Shows you a tool of a server in full, from your next answer on and until this phase ends; "
        "then call it by its name. Doing it again changes nothing."
    ),
    schema=_one_text("name", f"The tool's name, as {LIST} gives it."),
    read_only="yes",
    destructive="no",
    idempotent="yes",
)


def discovery_tools(snapshot: Snapshot, handle: str) -> tuple[Tool, ...]:
    """Returns the two tools, or none for a seat without servers."""
    names = servers_of(snapshot, handle)
    if not names:
        return ()
    absent = {n for s in TOOL_SERVERS.values() for n in s.absent(snapshot, handle)}
    there = ", ".join(name for name in names if name not in absent) or "none"
    words = f"Lists the tools of one server, each with what it does. Servers that you have: {there}"
    if absent:
        words += f". Not answering when last asked, so their tools are absent: {_some(absent)}"
    return (_ACTIVATING, replace(_LISTING, description=f"{words}."))


def servers_of(snapshot: Snapshot, handle: str) -> tuple[str, ...]:
    """Returns the names of the seat's servers, in the order of the company document."""
    return tuple(n for s in TOOL_SERVERS.values() for n in s.names(snapshot, handle))


def ask(snapshot: Snapshot, handle: str, server: str) -> None:
    """Has a server of the seat listed anew; raises `CrewletError` when it cannot be."""
    for servers in TOOL_SERVERS.values():
        if server in servers.names(snapshot, handle):
            servers.ask(snapshot, handle, server)


def listing(server: str, tools: Iterable[Tool]) -> str:
    """Returns the whole list of a server's tools by name, with the first line of each."""
    found = sorted((tool for tool in tools if tool.server == server), key=lambda tool: tool.name)
    if not found:
        return f"{server} offers no tools."
    lines = [f"- {tool.name}: {_first_line(tool)}" for tool in found]
    count = "1 tool" if len(found) == 1 else f"{len(found)} tools"
    return "\n".join([f"{server} offers {count}. Show yourself one with {ACTIVATE}.", *lines])


def _first_line(tool: Tool) -> str:
    first = next((line.strip() for line in tool.description.splitlines() if line.strip()), "")
    return first if len(first) <= _LINE_CHARS else f"{first[:_LINE_CHARS]}…"


def unknown_server(server: str, names: Iterable[str]) -> str:
    """Says that a seat has no such server."""
    return f"You have no server `{server}`. Servers that you have: {_some(names)}."


def activate_first(name: str) -> str:
    """Says that a tool is there and not shown yet."""
    return (
        f"`{name}` was not run: it is not shown to you yet. Call {ACTIVATE} with this name; its "
        "arguments are then described from your next answer on."
    )


def unknown_tool(name: str, tools: Iterable[Tool], servers: Iterable[str]) -> str:
    """Says that no tool has a name, and how one is found."""
    near = nearest(name, [tool.name for tool in tools])
    guess = f" Did you mean {near}?" if near else ""
    return (
        f"There is no tool `{name}`.{guess} {LIST} shows what a server offers; the servers that "
        f"you have: {_some(servers)}."
    )


def _some(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
