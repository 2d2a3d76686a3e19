"""Where a seat's tools come from. Sources are code; what they offer is asked anew each turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agents.tools.tool import Tool
from crewlet.doors.tool import tool_schema
from crewlet.kernel.actions import ACTIONS, Action, Door
from crewlet.kernel.registry import Registry

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

ToolSource = Callable[["Snapshot", str], Iterable[Tool]]
TOOL_SOURCES: Registry[ToolSource] = Registry("tool sources")

EXECUTE = "execute"


def _tool_of(entry: Action) -> Tool:
    return Tool(
        name=entry.name,
        description=entry.description,
        schema=tool_schema(entry),
        read_only="yes" if entry.reads else "no",
        destructive="yes" if entry.destructive else "no",
        open_world="yes" if entry.open_world else "no",
        surface=entry.surface,
        action=entry.name,
    )


_cache: dict[str, Tool] = {}


def action_tools(snapshot: Snapshot, handle: str) -> Iterable[Tool]:
    """Returns every action behind the tool door that is there for this company and seat."""
    for entry in ACTIONS.all(Door.TOOL):
        if entry.available is not None and not entry.available(snapshot.epoch, handle):
            continue
        if entry.name not in _cache:  # a schema costs a millisecond and never changes
            _cache[entry.name] = _tool_of(entry)
        yield _cache[entry.name]


def surface(snapshot: Snapshot, handle: str, phase: str) -> tuple[Tool, ...]:
    """Returns the tools of a seat in a phase, sorted by name; the reviewer has none of them."""
    if phase != EXECUTE:
        return ()
    found: dict[str, Tool] = {}
    for source in TOOL_SOURCES.values():
        for tool in source(snapshot, handle):
            found.setdefault(tool.name, tool)
    return tuple(found[name] for name in sorted(found))
