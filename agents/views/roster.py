"""The seats as lists: the roster, the teams, one team."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict

from agents.live import pages as queries
from agents.views.chart import LEGEND, activity_of, legend
from agents.views.tabs import agents_tabs
from crewlet.console.grid import Column, grid
from crewlet.console.pages import actor_of, draw, page
from crewlet.console.templatetags.ui import tokens
from crewlet.kernel.errors import NotFound
from crewlet.kernel.nearest import nearest
from orgs import epochs

Row = Mapping[str, Any]
HOUR, DAY = 60, 24 * 60
TONES = {"working": "work", "needs": "need", "stopped": "stop", "idle": "idle", "person": "idle"}
ORDER = {key: place for place, (key, _) in enumerate(LEGEND)}

SEATS = (
    Column("name", "Name", sort=True),
    Column("unit", "Unit", sort=True, keep=2),
    Column("kind", "Kind", sort=True, keep=3),
    Column("state", "State", sort=True),
    Column("item", "On", kind="key", keep=1),
    Column("since", "Since", sort=True, num=True, keep=3),
    Column("turns", "Turns, 7 days", sort=True, num=True, keep=2),
    Column("tokens", "Tokens today", sort=True, num=True, keep=2),
    Column("mail", "Mail waiting", sort=True, num=True, keep=1),
)
WORKLOAD = (
    Column("name", "Name", sort=True),
    Column("state", "State", sort=True),
    Column("work", "Open items", sort=True, num=True),
    Column("mail", "Mail waiting", sort=True, num=True),
    Column("turns", "Turns, 7 days", sort=True, num=True, keep=2),
    Column("tokens", "Tokens today", sort=True, num=True, keep=1),
)
TEAMS = (
    Column("name", "Team", sort=True),
    Column("type", "Kind", sort=True, keep=3),
    Column("lead", "Lead", sort=True, keep=1),
    Column("members", "Members", sort=True, num=True),
    Column("work", "Open items", sort=True, num=True, keep=2),
    Column("states", "Now", keep=1),
)
NOBODY = {
    "title": "No seats yet",
    "text": "Apply a company document that declares units and roles.",
    "url": "/settings/general",
    "act": "Open settings",
}
NO_TEAMS = {**NOBODY, "title": "No teams yet", "text": "The company document declares no units."}


@page
def roster(request: HttpRequest) -> HttpResponse:
    """Draws every seat as a row, or with `view=workload` by what lies with it."""
    rows = queries.roster(actor_of(request))
    workload = request.GET.get("view") == "workload"
    shown = _workload(request.GET, rows) if workload else _seats(request.GET, rows)
    context = {"tabs": agents_tabs("roster"), "grid": shown, "workload": workload}
    return draw(request, "agents/roster.html", context)


@page
def teams(request: HttpRequest) -> HttpResponse:
    """Draws every unit as a row."""
    chart = epochs.active().chart
    rows = {row["handle"]: row for row in queries.roster(actor_of(request))}
    lines = [_team_line(unit, rows) for unit in chart.walk_units()]
    shown = grid(request.GET, "", TEAMS, lines, label="Teams", empty=NO_TEAMS)
    return draw(request, "agents/teams.html", {"tabs": agents_tabs("teams"), "grid": shown})


@page
def team(request: HttpRequest, unit: str) -> HttpResponse:
    """Draws one unit: what it is for, who is in it and what they do."""
    chart = epochs.active().chart
    found = chart.units.get(unit)
    if found is None:
        near = nearest(unit, chart.units)
        raise NotFound(f"There is no team '{unit}'." + (f" Did you mean {near}?" if near else ""))
    rows = {row["handle"]: row for row in queries.roster(actor_of(request))}
    members = [rows[handle] for handle in found.members if handle in rows]
    context = {
        "tabs": agents_tabs("teams"),
        "team": found,
        "lead": rows.get(found.lead or ""),
        "legend": [entry for entry in legend(members) if entry["count"]],
        "above": chart.units.get(found.parent or ""),
        "below": [chart.units[key] for key in found.children],
        "grid": _workload(request.GET, members),
    }
    return draw(request, "agents/team.html", context)


def _seats(query: QueryDict, rows: list[dict[str, Any]]) -> dict[str, Any]:
    lines = [_line(row) for row in rows]
    return grid(query, "", SEATS, lines, label="Every seat", empty=NOBODY)


def _workload(query: QueryDict, rows: list[dict[str, Any]]) -> dict[str, Any]:
    lines = [_line(row) for row in rows]
    return grid(query, "", WORKLOAD, lines, label="Workload", empty=NOBODY, default_sort="-work")


def _line(row: Row) -> dict[str, Any]:
    now, today = activity_of(row), row["today"]
    peek = f"seat:{row['handle']}"
    name = {"text": row["name"], "url": row["url"], "peek": peek, "title": f"@{row['handle']}"}
    state = {"text": row["word"], "tone": TONES[now], "title": row["reason"], "sort": ORDER[now]}
    item = {"text": row["key"], "url": f"/work/{row['key']}", "peek": f"item:{row['key']}"}
    return {
        "id": f"seat-row-{row['handle']}",
        "peek": peek,
        "name": name | ({"tag": "person"} if row["kind"] == "human" else {}),
        "unit": row["role"],
        "kind": "Agent" if row["kind"] == "agent" else "Person",
        "state": state,
        "item": item if row["key"] else "",
        "since": None if row["secs"] is None else {"text": _span(row["secs"]), "sort": row["secs"]},
        "turns": row["turns_7d"],
        "tokens": _today(today) if today else None,
        "mail": row["mail"],
        "work": _work(row),
    }


def _work(row: Row) -> Any:
    count = row["work"]
    if not count:
        return count
    return {"text": count, "url": f"/work?assignee={row['handle']}", "sort": count}


def _today(window: Row) -> dict[str, Any]:
    used, limit = window["used"], window["limit"]
    text = f"{tokens(used)} of {tokens(limit)}" if limit else tokens(used)
    return {"text": text, "sort": used}


def _span(seconds: int) -> str:
    minutes = seconds // 60
    if minutes < HOUR:
        return f"{minutes} min"
    return f"{minutes // HOUR} h" if minutes < DAY else f"{minutes // DAY} d"


def _team_line(unit: Any, rows: Mapping[str, Row]) -> dict[str, Any]:
    members = [rows[handle] for handle in unit.members if handle in rows]
    lead = rows.get(unit.lead or "")
    work = [row["work"] for row in members if row["work"] is not None]
    now = [f"{entry['count']} {entry['label'].lower()}" for entry in legend(members)
           if entry["count"]]  # fmt: skip
    return {
        "name": {"text": unit.name, "url": f"/agents/teams/{unit.key}"},
        "type": unit.type,
        "lead": {"text": lead["name"], "url": lead["url"], "peek": f"seat:{lead['handle']}",
                 "tag": "inherited" if unit.lead_inherited else None} if lead else "",
        "members": len(members),
        "work": sum(work) if work else None,
        "states": ", ".join(now),
    }  # fmt: skip
