"""The directory of projects, and what one project is: its facts, its tags, its settings."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from crewlet.console.grid import Column, grid, sort_of
from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.kernel.authority import Grant, require
from tracker.queries.pages import assignees
from tracker.queries.projects import directory, project
from tracker.queries.tags import tags_by_project
from tracker.views.tabs import project_tabs

COLUMNS = (
    Column("key", "Key", sort=True, kind="key"),
    Column("name", "Name", sort=True),
    Column("unit", "Unit", sort=True, keep=2),
    Column("open", "Open", sort=True, num=True),
    Column("done", "Done", sort=True, num=True, keep=1),
    Column("closed", "Cancelled", sort=True, num=True, keep=3),
    Column("last_change", "Last change", sort=True, kind="time", keep=1),
    Column("by", "By", keep=3),
)
SHOWN = (("false", "Active"), ("only", "Archived"), ("true", "All"))
NONE_YET = {
    "title": "No projects yet",
    "text": "A unit that declares a project key in the company document gets one when the "
    "document is applied.",
}
NO_MATCH = {
    "title": "Nothing matches",
    "text": "No project passes these filters.",
    "url": "/work/projects",
    "act": "Clear filters",
}


@page
def projects(request: HttpRequest) -> HttpResponse:
    """Draws the directory."""
    return draw(request, "tracker/projects.html", _directory(request))


@fragment
def projects_region(request: HttpRequest) -> HttpResponse:
    """Draws the rows of the directory alone."""
    return draw(request, "tracker/_projects.html", _directory(request))


@page
def overview(request: HttpRequest, project: str) -> HttpResponse:
    """Draws what a project is."""
    return draw(request, "tracker/project_overview.html", _overview(request, project))


@fragment
def overview_region(request: HttpRequest, project: str) -> HttpResponse:
    """Draws the facts of a project alone."""
    return draw(request, "tracker/_project_overview.html", _overview(request, project))


def _directory(request: HttpRequest) -> dict[str, Any]:
    actor, given = actor_of(request), request.GET
    require(actor, Grant.STATE_READ)
    asked = {name: given.get(name, "").strip() for name in ("q", "unit", "archived")}
    column, down = sort_of(given, "", COLUMNS, "key")
    found = directory(actor, asked | {"sort": f"-{column}" if down else column})
    census = found.census | {"all": sum(found.census.values())}
    narrowed = any(asked.values())
    shown = grid(
        given,
        "",
        COLUMNS,
        [_line(row) for row in found.rows],
        label="Projects",
        empty=NO_MATCH if narrowed else NONE_YET,
        default_sort="key",
        sorted_by_caller=True,
    )
    counts = {"false": census["active"], "only": census["archived"], "true": census["all"]}
    return {
        "grid": shown,
        "asked": asked,
        "narrowed": narrowed,
        "total": len(found.rows),
        "shown": [
            {
                "value": name,
                "label": label,
                "count": counts[name],
                "here": name == (asked["archived"] or "false"),
            }
            for name, label in SHOWN
        ],
        "region_url": f"/ui/work/projects?{given.urlencode()}",
    }


def _line(row: dict[str, Any]) -> dict[str, Any]:
    counts, change = row["counts"], row["last_change"]
    peek = f"project:{row['key']}"
    name = {"text": row["name"], "url": row["url"], "peek": peek, "title": row["purpose"]}
    return {
        "id": f"project-row-{row['key']}",
        "peek": peek,
        "key": {"text": row["key"], "url": row["url"]},
        "name": name | ({"tag": "archived"} if row["archived"] else {}),
        "unit": row["unit"],
        "open": row["open"],
        "done": counts["done"],
        "closed": counts["closed"],
        "last_change": {"text": change["at"]} if change else None,
        "by": change["actor_name"] if change else None,
    }


def _overview(request: HttpRequest, key: str) -> dict[str, Any]:
    actor = actor_of(request)
    require(actor, Grant.STATE_READ)
    found = project(actor, key)
    tags = tags_by_project([found["key"]]).get(found["key"], [])
    return {
        "project": found,
        "tags": [tag for tag in tags if not tag["archived"]],
        "gone": [tag for tag in tags if tag["archived"]],
        "assignees": assignees(),
        "tabs": project_tabs(found["key"], "overview"),
    }
