"""A seat's page: what it is for, what it does now, its turns, how it is set up."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from agents.live import pages as queries
from agents.queries import diary
from agents.queries.turns import SORTS
from agents.views.faces import quiet, turn_face
from agents.views.folds import folded
from agents.views.pages import name_of
from agents.views.tabs import seat_tab, seat_tabs
from agents.views.turn_grid import turn_grid
from crewlet.console.pages import actor_of, draw, fragment, page

SEAT_TURNS = 12
PAGE_TURNS = 50
NO_TURNS = "A turn starts when mail arrives: an assigned item, a mention, an ask."


@page
def seat(request: HttpRequest, handle: str) -> HttpResponse:
    """Draws one seat, on the tab that `tab=` names."""
    context = _seat(request, handle)
    if context["tab"] == "turns":
        context["grid"] = _turns(request, handle)
    if context["tab"] == "memory":
        cursor = request.GET.get("cursor", "")
        context["memory"] = diary.notes(actor_of(request), handle, cursor=cursor)
    return draw(request, "agents/seat.html", context)


@fragment
def seat_body(request: HttpRequest, handle: str) -> HttpResponse:
    """Draws the live part of a seat's page alone."""
    return draw(request, "agents/_seat_live.html", _seat(request, handle))


def seat_context(request: HttpRequest, handle: str) -> dict[str, Any]:
    """Returns what the overview of a seat draws."""
    return _seat(request, handle)


def _seat(request: HttpRequest, handle: str) -> dict[str, Any]:
    actor = actor_of(request)
    detail = queries.seat_detail(actor, handle)
    found = queries.recent_turns(actor, seat=handle, stage="done", limit=SEAT_TURNS)
    running = [row for row in queries.running_turns(actor) if row["seat"]["handle"] == handle]
    parked = [row for row in queries.parked_turns(actor) if row["seat"]["handle"] == handle]
    row = detail["row"]
    tab = seat_tab(row["kind"], request.GET.get("tab", ""))
    return {
        "tab": tab,
        "tabs": seat_tabs(handle, row["kind"], tab),
        "detail": detail,
        "row": _named(row),
        "about": detail["about"],
        "setup": detail.get("setup"),
        "figures": detail.get("figures"),
        "nearest": nearest_ceiling(detail["budget"]),
        "open_turns": [turn_face(each) for each in (*running, *parked)],
        "lines": folded([turn_face(each) for each in found["turns"]], quiet),
        "shown": len(found["turns"]),
        "total": found["total"],
    }


def nearest_ceiling(windows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Returns the window with a ceiling that is fullest, or None when none has one."""
    bound = [window for window in windows if window["limit"]]
    fullest = max(bound, key=lambda window: window["used"] / window["limit"], default=None)
    if fullest is None:
        return None
    return {**fullest, "pct": min(100.0, fullest["used"] / fullest["limit"] * 100)}


def _turns(request: HttpRequest, handle: str) -> dict[str, Any]:
    empty = {"title": "No turns yet", "text": NO_TURNS,
             "url": f"/work/new?assignee={handle}", "act": "Assign an item"}  # fmt: skip

    def ask(sort: str, cursor: str) -> dict[str, Any]:
        return queries.recent_turns(
            actor_of(request), seat=handle, stage="done", sort=sort, cursor=cursor,
            limit=PAGE_TURNS,
        )  # fmt: skip

    return turn_grid(request.GET, ask, empty=empty, sorts=SORTS, own=True)


def _named(row: dict[str, Any]) -> dict[str, Any]:
    paused = row["paused"]
    return {**row, "paused": {**paused, "by": name_of(paused["by"])}} if paused else row
