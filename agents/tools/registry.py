"""Where a seat's tools come from. Sources are code; what they offer is asked anew each turn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from agents.tools.discovery import discovery_tools
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


def builtin_tools() -> list[Tool]:
    """Returns every tool of ours by name, whether a seat has it today or not."""
    return sorted((_tool_of(entry) for entry in ACTIONS.all(Door.TOOL)), key=lambda t: t.name)


def surface(snapshot: Snapshot, handle: str, phase: str) -> tuple[Tool, ...]:
    """Returns the tools of a seat in a phase, sorted by name; the reviewer has none of them.

    Where two have one name, the seat's own goes first, then ours; the other gets a longer name.
    """
    if phase != EXECUTE:
        return ()
    offered = [tool for source in TOOL_SOURCES.values() for tool in source(snapshot, handle)]
    offered.extend(discovery_tools(snapshot, handle))
    found: dict[str, Tool] = {}
    for tool in sorted(offered, key=lambda tool: not tool.own):
        other = tool if tool.name not in found else replace(tool, name=_longer(tool))
        found[other.name] = other
    return tuple(found[name] for name in sorted(found))


def _longer(tool: Tool) -> str:
    digest = hashlib.sha256(f"{tool.source}\0{tool.name}".encode()).hexdigest()[:8]
    return f"{tool.name[:55]}_{digest}"
