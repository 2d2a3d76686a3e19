"""Which calls need a person's leave, and whose. Pure.

The company and each seat may name tools (`approvals`), or say `destructive` for all that may
destroy something. A tool of another system that says nothing about itself counts as destructive
unless it is proven to read: an unset hint is not a no.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agents.tools.tool import Tool

if TYPE_CHECKING:
    from orgs.chart import Chart
    from orgs.epochs import Snapshot

DESTRUCTIVE: Final = "destructive"


def gates(snapshot: Snapshot, handle: str) -> frozenset[str]:
    """Returns what needs leave when this seat calls it: the company's words and the seat's own."""
    role = snapshot.chart.seats[handle].role
    own = role.approvals if role is not None else ()
    return frozenset((*snapshot.document.approvals, *own))


def needs_leave(tool: Tool, gated: frozenset[str]) -> bool:
    """Returns whether a call of this tool waits for a person."""
    if tool.name in gated:
        return True
    if DESTRUCTIVE not in gated or tool.proven_read:
        return False
    return tool.destructive != "no"


def person_above(chart: Chart, handle: str) -> str | None:
    """Returns the nearest person above a seat, None when only agents or nobody lead it."""
    seen: set[str] = set()
    level = list(chart.managers(handle))
    while level:
        for name in level:
            if not chart.seats[name].is_agent:
                return name
        seen.update(level)
        above = [upper for name in level for upper in chart.managers(name)]
        level = [name for name in dict.fromkeys(above) if name not in seen]
    return None
