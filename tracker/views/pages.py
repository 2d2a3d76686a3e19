"""Work as list and board, one item, the form of a new one: parse, ask, draw."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from orgs.inbox import company_zone, snooze_choices
from tracker.queries import pages as queries
from tracker.views.filters import chips, selects
from tracker.views.tabs import project_tabs

SHAPES = ("list", "board")
FILTERS = ("status", "assignee", "q")
PAGE_KEYS = ("cols", "cursor", "peek", "shape", "still")
KINDS = ("all", "comments", "changes", "turns")
_TURN_ENDS = {
    "turn skipped": "had nothing to do",
    "turn stopped": "was stopped",
    "turn failed": "failed in a turn",
}
_SHOWN_KINDS = {
    "comments": {"comment", "ask"},
    "changes": {"change"},
    "turns": {"turn"},
}


@page
def work(request: HttpRequest, project: str = "") -> HttpResponse:
    """Draws the work of the company or of one project, as list or board."""
    context = _work(request, project)
    return draw(request, "tracker/work.html", context)


@fragment
def work_region(request: HttpRequest, project: str = "") -> HttpResponse:
    """Draws the list or the board alone, or the list's next page."""
    context = _work(request, project)
    more = "tracker/_cards.html" if context["shape"] == "board" else "tracker/_rows.html"
    template = more if request.GET.get("cursor") else "tracker/_region.html"
    return draw(request, template, context)


@page
def projects(request: HttpRequest) -> HttpResponse:
    """Draws every project."""
    found = queries.projects(actor_of(request))
    return draw(request, "tracker/projects.html", {"projects": found})


@page
def item(request: HttpRequest, key: str) -> HttpResponse:
    """Draws one item."""
    return draw(request, "tracker/item.html", _item(request, key))


@fragment
def item_part(request: HttpRequest, key: str, part: str) -> HttpResponse:
    """Draws the head, the asks, the timeline or the fields of an item alone."""
    context = _item(request, key)
    return draw(request, f"tracker/_item_{part}.html", context)


@page
def new_item(request: HttpRequest) -> HttpResponse:
    """Draws the form of a new item; the address may fill it in."""
    actor = actor_of(request)
    work_page = queries.work_page(actor, limit=1)
    given = {
        name: request.GET.get(name, "")
        for name in ("project", "parent", "assignee", "title", "status")
    }
    return draw(
        request,
        "tracker/new_item.html",
        {
            "projects": queries.projects(actor),
            "assignees": work_page["assignees"],
            "statuses": work_page["statuses"],
            "priorities": queries.PRIORITIES,
            "given": given,
        },
    )


@fragment
def find(request: HttpRequest) -> HttpResponse:
    """Completes `#` in a text field."""
    rows = queries.find_items(actor_of(request), request.GET.get("q", ""))
    return draw(request, "tracker/_find.html", {"rows": rows})


def _work(request: HttpRequest, project: str) -> dict[str, Any]:
    given = request.GET
    shape = given.get("shape", "board" if project else "list")
    shape = shape if shape in SHAPES else "list"
    status = [value for value in given.getlist("status") if value]
    more = {
        name: ",".join(given.getlist(name))
        for name in given
        if name not in (*FILTERS, *PAGE_KEYS) and (given[name] or name == "group")
    }
    found = queries.work_page(
        actor_of(request),
        project=project,
        status=status,
        assignee=given.get("assignee", ""),
        q=given.get("q", "").strip(),
        shape=shape,
        cursor=given.get("cursor", ""),
        query=more,
    )
    groups = {row["id"]: row["group"] for row in found["statuses"]}
    for lane in found["lanes"]:
        lane["group"] = groups.get(lane["id"], "active")
    base = f"/work/{project}" if project else "/work"
    kept = [(name, value) for name in FILTERS for value in given.getlist(name) if value]
    kept += list(more.items())
    columns = found.get("columns", [])
    for column in columns:
        query = [*kept, ("group", column["id"]), ("cursor", column["next"])]
        column["more_url"] = f"/ui{base}?{urlencode([('shape', shape), *query])}"
    plain = shape == "list" and not given.get("cursor") and not columns
    return {
        **found,
        "columns": columns,
        "shape": shape,
        "base": base,
        "region_url": f"/ui{base}?{urlencode([('shape', shape), *kept])}",
        "chips": chips(found, base, shape, kept),
        "shapes": [
            {"id": name, "url": f"{base}?{urlencode([('shape', name), *kept])}"} for name in SHAPES
        ],
        "more_url": f"/ui{base}?{urlencode([('shape', shape), *kept, ('cursor', found['next'])])}",
        "clear_url": f"{base}?{urlencode({'shape': shape})}",
        "q": given.get("q", ""),
        "chosen_status": status[0] if status else "",
        "chosen_assignee": given.get("assignee", ""),
        "bands": _bands(found) if plain else [],
        "topic": f"project:{project}" if project else "work",
        "selects": selects(more),
        "project_tabs": project_tabs(project.upper(), "items", found["total"]) if project else [],
    }


def _bands(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the list's items under their states, in the order of the workflow."""
    bands = []
    for status in found["statuses"]:
        rows = [row for row in found["items"] if row["status"] == status["id"]]
        if rows:
            bands.append({**status, "rows": rows})
    return bands


def _item(request: HttpRequest, key: str) -> dict[str, Any]:
    actor = actor_of(request)
    found = queries.item_page(actor, key)
    kind = request.GET.get("show", "all")
    kind = kind if kind in KINDS else "all"
    activity = found["activity"]
    shown = _SHOWN_KINDS.get(kind)
    answered = {row["answers"] for row in activity if row.get("answers")}
    return {
        **found,
        "key": found["item"]["key"],
        "show": kind,
        "counts": _counts(activity),
        "activity": [_told(row) for row in activity if shown is None or row["kind"] in shown],
        "answered": answered,
        "turn_rows": {str(row["id"]): row for row in found.get("turns", [])},
        "me": _me(actor),
        "snooze": snooze_choices(clock.now(), company_zone()),
        "done_subs": sum(1 for row in found["subs"] if row["group"] in ("done", "closed")),
        "sub_pct": _share(found["subs"]),
    }


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """Says how a turn ended as a sentence that begins with who had it."""
    if row["kind"] != "turn":
        return row
    return {**row, "text": _TURN_ENDS.get(row["text"], row["text"])}


def _counts(activity: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": kind,
            "label": kind.capitalize(),
            "count": sum(1 for row in activity if row["kind"] in _SHOWN_KINDS[kind])
            if kind in _SHOWN_KINDS
            else None,
        }
        for kind in KINDS
    ]


def _share(subs: list[dict[str, Any]]) -> float:
    done = sum(1 for row in subs if row["group"] in ("done", "closed"))
    return done / len(subs) * 100 if subs else 0.0


def _me(actor: Actor) -> str:
    return actor.handle or ""
