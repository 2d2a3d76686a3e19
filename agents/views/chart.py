"""The org chart as nested lists: the stylesheet lays them out, so nothing here has coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crewlet.console.words import spelled
from orgs.chart import Chart

Rows = Mapping[str, Mapping[str, Any]]
LEGEND = (
    ("working", "Working"),
    ("needs", "Needs a person"),
    ("stopped", "Stopped"),
    ("idle", "Idle"),
    ("person", "People"),
)
IDLE = "no agent is working"


def tree(chart: Chart, seats: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns `head` (seats of no unit) and `units` (top units with seats and sub-units)."""
    rows = {row["handle"]: row for row in seats}
    head = [rows[seat.handle] for seat in chart.walk() if not seat.unit and seat.handle in rows]
    top = [_unit(chart, key, rows) for key, unit in chart.units.items() if unit.parent is None]
    return {"head": head, "units": top}


def _unit(chart: Chart, key: str, rows: Rows) -> dict[str, Any]:
    unit = chart.units[key]
    own_lead = None if unit.lead_inherited else unit.lead
    members = sorted(unit.members, key=lambda handle: handle != own_lead)
    seats = [{**rows[handle], "lead": handle == own_lead} for handle in members if handle in rows]
    subs = [_unit(chart, child, rows) for child in unit.children]
    return {
        "key": key,
        "name": unit.name,
        "purpose": unit.purpose,
        "seats": seats,
        "subs": subs,
        "count": len(seats) + sum(sub["count"] for sub in subs),
    }


def legend(seats: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the five states with how many seats are in each."""
    found = [activity_of(row) for row in seats]
    return [{"key": key, "label": label, "count": found.count(key)} for key, label in LEGEND]


def activity_of(row: Mapping[str, Any]) -> str:
    """Returns the state of a seat as the chart counts it; people are a state of their own."""
    if row["kind"] == "human":
        return "person"
    return str(row["activity"])


def sentence(counts: Iterable[Mapping[str, Any]]) -> str:
    """Returns what the agents do now in words; states with nobody in them are left out."""
    by = {row["key"]: int(row["count"]) for row in counts}
    working = by.get("working", 0)
    first = _agents(working, "agent is working", "agents are working") if working else IDLE
    rest = []
    if by.get("needs"):
        rest.append(_agents(by["needs"], "waits on a person", "wait on a person"))
    if by.get("stopped"):
        rest.append(_agents(by["stopped"], "is stopped", "are stopped"))
    said = (first, " and ".join(rest))
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in said if part)


def _agents(count: int, one: str, many: str) -> str:
    return f"{spelled(count)} {one if count == 1 else many}"
