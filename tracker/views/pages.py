"""Work as list and board, one item, the form of a new one: parse, ask, draw."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict

from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from orgs.inbox import company_zone, snooze_choices
from tracker.queries import pages as queries
from tracker.queries import projects as project_queries
from tracker.views.filters import chips, figures, selects
from tracker.views.tabs import project_tabs
from tracker.views.work_grid import work_grid

SHAPES = ("list", "board")
FILTERS = ("status", "assignee", "q")
PAGE_KEYS = ("cols", "cursor", "peek", "shape", "still")
YEAR = 365 * 24 * 3600
"""Seconds for which a browser remembers a choice."""
COLUMNS_COOKIE = "cw_cols_work_list"
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
    answer = draw(request, "tracker/work.html", context)
    if "cols" in request.GET:
        _remember(answer, request.GET["cols"])
    return answer


@fragment
def work_region(request: HttpRequest, project: str = "") -> HttpResponse:
    """Draws the list or the board alone, or the list's next page."""
    context = _work(request, project)
    template = "tracker/_region.html"
    if request.GET.get("cursor"):
        template = f"tracker/{context['more']}.html"
    return draw(request, template, context)


@page
def item(request: HttpRequest, key: str) -> HttpResponse:
    """Draws one item, between its neighbours of the list that the address names."""
    context = _item(request, key)
    context["place"] = _place(request, context["key"], context["item"]["project"])
    return draw(request, "tracker/item.html", context)


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
            "projects": project_queries.projects(actor),
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
    more = {
        name: ",".join(given.getlist(name))
        for name in given
        if name not in (*FILTERS, *PAGE_KEYS) and (given[name] or name == "group")
    }
    found = _read(request, project, shape, more)
    base = f"/work/{project}" if project else "/work"
    kept = [(name, value) for name in FILTERS for value in given.getlist(name) if value]
    kept += list(more.items())
    _address(found, base, shape, kept)
    chosen = given.get("cols") or request.COOKIES.get(COLUMNS_COOKIE, "")
    looks = [("cols", chosen)] if chosen else []
    rest = [("shape", shape), *kept, *looks, ("cursor", found["next"])]
    if kept:
        _name_list(found, [*kept, *([("project", project)] if project else [])])
    return {
        **found,
        "shape": shape,
        "base": base,
        "region_url": f"/ui{base}?{urlencode([('shape', shape), *kept, *looks])}",
        "chips": chips(found, base, shape, kept),
        "shapes": [
            {"id": name, "url": f"{base}?{urlencode([('shape', name), *kept])}"} for name in SHAPES
        ],
        "more_url": f"/ui{base}?{urlencode(rest)}",
        "clear_url": f"{base}?{urlencode({'shape': shape})}",
        "q": given.get("q", ""),
        "chosen_status": next(iter(_status(given)), ""),
        "chosen_assignee": given.get("assignee", ""),
        "grid": _grid(request, found, kept, looks, f"/ui{base}?{urlencode(rest)}")
        if shape == "list"
        else None,
        "cols": chosen,
        "more": _more_of(shape, more),
        "lane": {"id": more.get("group", ""), "total": found["total"], "next": found["next"]}
        | _lane_urls(base, kept, more.get("group", ""), found["next"]),
        "topic": f"project:{project}" if project else "work",
        "selects": selects(more, found["tags"]),
        "figures": figures(found["totals"]),
        "project_tabs": project_tabs(project.upper(), "items", found["total"]) if project else [],
    }


def _status(given: QueryDict) -> list[str]:
    return [value for value in given.getlist("status") if value]


def _read(request: HttpRequest, project: str, shape: str, more: dict[str, str]) -> dict[str, Any]:
    given = request.GET
    return queries.work_page(
        actor_of(request),
        project=project,
        status=_status(given),
        assignee=given.get("assignee", ""),
        q=given.get("q", "").strip(),
        shape="bands" if shape == "list" and _banded(given) else shape,
        cursor=given.get("cursor", ""),
        query=more,
    )


def _address(found: dict[str, Any], base: str, shape: str, kept: list[tuple[str, str]]) -> None:
    """Says of each lane and column where what follows its last card is."""
    groups = {row["id"]: row["group"] for row in found["statuses"]}
    for lane in found["lanes"]:
        lane["group"] = groups.get(lane["id"], "active")
        lane.update(_lane_urls(base, kept, lane["id"], lane.get("next", "")))
    for column in found["columns"]:
        column["more_url"] = _column_url(base, shape, kept, column) if column["next"] else ""


def _remember(answer: HttpResponse, columns: str) -> None:
    """Keeps the columns that were chosen for the next list whose address names none."""
    answer.set_cookie(
        COLUMNS_COOKIE,
        columns,
        max_age=YEAR,
        samesite="Lax",
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _more_of(shape: str, query: dict[str, str]) -> str:
    """Returns the template of a following page: of a list, of a column or of a board's lane."""
    if shape == "list":
        return "_rows"
    return "_lane_more" if query.get("group_by") == "status" else "_cards"


def _lane_urls(base: str, kept: list[tuple[str, str]], lane: str, cursor: str) -> dict[str, str]:
    """Returns where the following cards of a lane are, and the list that shows them all."""
    rest = [pair for pair in kept if pair[0] not in {"group", "group_by", "sort"}]
    following = [*rest, ("group_by", "status"), ("group", lane), ("cursor", cursor)]
    alone = [pair for pair in rest if pair[0] != "status"]
    return {
        "more_url": f"/ui{base}?{urlencode([('shape', 'board'), *following])}",
        "list_url": f"{base}?{urlencode([('shape', 'list'), *alone, ('status', lane)])}",
    }


def _name_list(found: dict[str, Any], query: list[tuple[str, str]]) -> None:
    """Lets every row of a filtered or sorted list open its item as one of that list."""
    asked = urlencode([pair for pair in query if pair[0] not in {"group", "group_by", "group_by2"}])
    rest = f"?{urlencode({'list': asked})}"
    for part in (found, *found.get("columns", []), *found["lanes"]):
        for row in part["items"]:
            row["url"] += rest


def _banded(given: QueryDict) -> bool:
    """Whether a list stands under its states: unless it is grouped otherwise, or goes on."""
    by = given.get("group_by", "")
    return by in {"", "status"} and "group" not in given and not given.get("cursor")


def _column_url(base: str, shape: str, kept: list[tuple[str, str]], column: dict[str, Any]) -> str:
    """Returns where the following rows or cards of one column come from."""
    by = [] if any(name == "group_by" for name, _ in kept) else [("group_by", "status")]
    query = [*kept, *by, ("group", column["id"]), ("cursor", column["next"])]
    return f"/ui{base}?{urlencode([('shape', shape), *query])}"


def _grid(
    request: HttpRequest,
    found: dict[str, Any],
    kept: list[tuple[str, str]],
    looks: list[tuple[str, str]],
    more_url: str,
) -> dict[str, Any]:
    """Returns the list as a grid; what goes on a band has no title of its own."""
    rest = {
        "title": "",
        "total": found["total"],
        "items": found["items"],
        "more_url": more_url if found["next"] else "",
    }
    # Of the page and of its fragment the same, so that its links are too.
    query = QueryDict(urlencode([("shape", "list"), *kept, *looks]))
    parts = [part for part in found.get("columns", []) if part["items"]] or [rest]
    return work_grid(query, parts, actor_of(request), found["total"])


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


def _place(request: HttpRequest, key: str, project: str) -> dict[str, Any] | None:
    """Returns the item's place in the list it was opened from, else in its project by hand."""
    listed = request.GET.get("list", "")
    query = dict(parse_qsl(listed)) or {"project": project, "sort": "rank"}
    found = queries.place_of(actor_of(request), key, query)
    if found is None:
        return None
    rest = f"?{urlencode({'list': listed})}" if listed else ""
    return {
        "position": found.position,
        "total": found.total,
        "previous": f"/work/{found.previous}{rest}" if found.previous else "",
        "next": f"/work/{found.next}{rest}" if found.next else "",
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
