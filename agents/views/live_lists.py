"""Two lists of Live: the runs that are open, and what agents ask one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from agents.api.asked import one_of
from agents.live import pages as queries
from agents.queries import asks
from agents.views.faces import turn_face
from agents.views.tabs import live_tabs
from agents.views.turn_grid import next_url
from crewlet.console.grid import Column, grid
from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.console.templatetags.ui import spell_seconds
from crewlet.kernel.actors import Actor
from orgs import epochs

Row = Mapping[str, Any]
PAGE_ASKS = 50
STATE_WORDS = {"open": "Waits for an answer", "answered": "Answered", "expired": "Not answered"}
_TONES = {"open": "work", "answered": "done", "expired": "stop"}
COLUMNS = (
    Column("brief", "Question", wide=True),
    Column("from", "From"),
    Column("to", "To"),
    Column("state", "State"),
    Column("waited", "Waited", num=True, keep=2),
    Column("item", "Item", kind="key", keep=3),
    Column("asking", "Asked in", keep=3),
    Column("answering", "Answered in", keep=1),
    Column("at", "Asked", kind="time", keep=2),
)


@page
def runs(request: HttpRequest) -> HttpResponse:
    """Draws the coding runs, and the turns that hold a worker or are to go on."""
    return draw(request, "agents/live_runs.html", _open(actor_of(request)))


@fragment
def runs_body(request: HttpRequest) -> HttpResponse:
    """Draws the open turns alone."""
    return draw(request, "agents/_live_runs.html", _open(actor_of(request)))


@page
def colleagues(request: HttpRequest) -> HttpResponse:
    """Draws the asks between agents, fifty a page, as `state=` and `seat=` narrow them."""
    return draw(request, "agents/live_a2a.html", _asks(request))


@fragment
def colleagues_body(request: HttpRequest) -> HttpResponse:
    """Draws the list of asks alone."""
    return draw(request, "agents/_live_a2a.html", _asks(request))


def _open(actor: Actor) -> dict[str, Any]:
    return {
        "tabs": live_tabs("runs"),
        "running": [turn_face(row) for row in queries.running_turns(actor)],
        "parked": [turn_face(row) for row in queries.parked_turns(actor)],
    }


def _asks(request: HttpRequest) -> dict[str, Any]:
    given = request.GET
    state, seat = one_of(given, "state", asks.STATES), given.get("seat", "")
    found = asks.asks(
        actor_of(request), state=state, seat=seat, cursor=given.get("cursor", ""), limit=PAGE_ASKS
    )
    empty = {"title": "No agent asked another yet", "url": "/agents", "act": "See the agents",
             "text": "A question to a colleague is one ask and one answer; it stands here with "
                     "both turns."}  # fmt: skip
    if state or seat:
        empty = {"title": "No ask matches", "url": "/live/a2a", "act": "Clear filters",
                 "text": "The list has rows that this filter leaves out."}  # fmt: skip
    shown = grid(
        given, "", COLUMNS, [_line(row) for row in found["asks"]], label="Asks between agents",
        empty=empty, total=found["total"], next_url=next_url(given, found["next_cursor"] or ""),
        sorted_by_caller=True,
    )  # fmt: skip
    return {
        "tabs": live_tabs("a2a"),
        "grid": shown,
        "query": given.urlencode(),
        "state": state,
        "seat": seat,
        "states": STATE_WORDS.items(),
        "seats": [
            {"handle": each.handle, "name": each.name}
            for each in epochs.active().chart.walk()
            if each.is_agent
        ],
        "narrowed": bool(state or seat),
    }


def _line(row: Row) -> dict[str, Any]:
    return {
        "id": f"ask-{row['id']}",
        "brief": {"text": row["brief"].strip().split("\n", 1)[0], "title": row["answer"]},
        "from": _seat(row["from"]),
        "to": _seat(row["to"]),
        "state": {"text": STATE_WORDS[row["state"]], "tone": _TONES[row["state"]]},
        "waited": spell_seconds(row["secs"]),
        "item": {"text": row["item"]["key"], "url": row["item"]["url"]} if row["item"] else "",
        "asking": _turn(row["asking_turn"]),
        "answering": _turn(row["answering_turn"]),
        "at": row["opened_at"],
    }


def _seat(party: Row) -> dict[str, str]:
    return {
        "text": party["name"],
        "url": party["url"],
        "title": f"@{party['handle']}",
        "peek": f"seat:{party['handle']}",
    }


def _turn(ident: str | None) -> dict[str, str] | str:
    if ident is None:
        return ""
    return {"text": "Turn", "url": f"/live/turns/{ident}", "peek": f"turn:{ident}"}
