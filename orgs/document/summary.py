"""The facts of a company file, told whenever it can be read as one, whatever is wrong in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from orgs.chart import Chart
from orgs.document.dialect import data_at
from orgs.document.outline import outline_of
from orgs.document.validation import Reading
from orgs.document.variables import references


def facts(reading: Reading) -> dict[str, Any] | None:
    """Gives name, counts, handles, leads, schedules and references; None when unreadable.

    Parts that this version refuses (schedules, servers, workers) are counted from what is written.
    """
    data = reading.data
    if not isinstance(data, dict):
        return None
    outline, chart = outline_of(data), reading.chart
    counted = Counter(seat.handle for seat in outline.seats if seat.handle)
    kinds = Counter(seat.kind for seat in outline.seats)
    return {
        "name": outline.name,
        "seats": len(outline.seats),
        "agents": kinds["agent"],
        "humans": kinds["human"],
        "units": len(outline.units),
        "handles": [seat.handle for seat in outline.seats if seat.handle],
        "duplicate_handles": sorted(handle for handle, count in counted.items() if count > 1),
        "unit_leads": {unit.key: unit.lead for unit in chart.walk_units()},
        "schedules": list(_schedules(data, chart)),
        "mcp_servers": _servers(data),
        "llm_providers": _providers(data),
        "workers": _keys(data_at(data, ("workers",))),
        "dangling_manages": [d.reference for d in chart.dangling if d.field == "manages"],
        "referenced_variables": list(references(data)),
        "unsupported": list(reading.unsupported),
    }


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _providers(data: dict[str, Any]) -> dict[str, Any]:
    llm = data_at(data, ("providers", "llm"))
    return {
        key: entry.get("type") for key, entry in _items(llm) if isinstance(entry.get("type"), str)
    }


def _items(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, entry in value.items() if isinstance(value, dict) else ():
        if isinstance(entry, dict):
            yield key, entry


def _servers(data: dict[str, Any]) -> dict[str, bool]:
    listed = data.get("mcp_servers")
    return {
        str(entry["name"]): entry.get("shared") is True
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict) and "name" in entry
    }


def _schedules(data: dict[str, Any], chart: Chart) -> Iterator[dict[str, Any]]:
    for seat in chart.walk():
        runners = [seat.handle] if seat.is_agent else []
        for entry in _entries(data, seat.path):
            yield _schedule(entry, f"seat:{seat.handle}", None, runners)
    for unit in chart.walk_units():
        members = [h for h in unit.members if chart.seats[h].is_agent]
        lead = [unit.lead] if unit.lead and chart.seats[unit.lead].is_agent else []
        for entry in _entries(data, unit.path):
            target = "lead" if entry.get("target") == "lead" else "each"
            yield _schedule(
                entry, f"unit:{unit.key}", target, lead if target == "lead" else members
            )


def _entries(data: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[dict[str, Any]]:
    listed = data_at(data, (*path, "schedules"))
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            yield entry


def _schedule(
    entry: dict[str, Any], scope: str, target: str | None, runners: list[str]
) -> dict[str, Any]:
    return {
        "scope": scope,
        "name": entry.get("name"),
        "cron": entry.get("cron"),
        "target": target,
        "runners": runners,
    }
