"""The runtime's pages and their fragments: parse, ask, draw."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse

from agents.live import pages as queries
from agents.live.snapshot import seat_rows
from agents.live.waits import card
from agents.prompts.prefetch import PREFETCHES
from agents.views.chart import legend, sentence, tree
from agents.views.tabs import agents_tabs
from agents.views.trace import fate, one_round, trace
from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from orgs import epochs


@page
def agents(request: HttpRequest) -> HttpResponse:
    """Draws the org chart."""
    return draw(request, "agents/agents.html", _chart(actor_of(request)))


@fragment
def agents_chart(request: HttpRequest) -> HttpResponse:
    """Draws the chart alone, for when seats come or go."""
    return draw(request, "agents/_chart.html", _chart(actor_of(request)))


@fragment
def agents_strip(request: HttpRequest) -> HttpResponse:
    """Draws the line of counts alone."""
    return draw(request, "agents/_strip.html", _chart(actor_of(request)))


@page
def turn(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """Draws one turn."""
    return draw(request, "agents/turn.html", _turn(actor_of(request), turn_id))


@fragment
def turn_part(request: HttpRequest, turn_id: UUID, part: str) -> HttpResponse:
    """Draws the head, the transcript, the rail, the stop or the steering of a turn alone."""
    templates = {
        "head": "_turn_head",
        "transcript": "_turn_transcript",
        "rail": "_turn_rail",
        "stop": "_turn_stop",
        "charge": "_turn_charge",
    }
    if part not in templates:
        raise Http404(f"A turn has no part '{part}'.")
    return draw(request, f"agents/{templates[part]}.html", _turn(actor_of(request), turn_id))


@fragment
def turn_round(
    request: HttpRequest, turn_id: UUID, phase: str, iteration: int, number: int
) -> HttpResponse:
    """Draws one round alone, finished or live."""
    detail = queries.turn_detail(actor_of(request), turn_id)
    found = one_round(detail, phase, iteration, number)
    if found is None:
        raise Http404("This round is not there yet.")
    return draw(request, "ui/round.html", {"r": found})


def _chart(actor: Actor) -> dict[str, Any]:
    rows = seat_rows(actor)
    counts = legend(rows)
    week = queries.tokens_week(actor)
    return {
        "tabs": agents_tabs("chart"),
        "tree": tree(epochs.active().chart, rows),
        "legend": counts,
        "say": sentence(counts),
        **hours_of(actor),
        "week": week and {**week, "pct": _percent(week)},
    }


def hours_of(actor: Actor) -> dict[str, Any]:
    """Returns the last 24 hours of ended turns: the columns and their sums."""
    hours = queries.turn_hours(actor)
    return {
        "hours": [(row["completed"], row["sent_back"], row["failed"]) for row in hours],
        "ended": sum(row["completed"] + row["sent_back"] + row["failed"] for row in hours),
        "failed": sum(row["failed"] for row in hours),
        "skipped": sum(row["skipped"] for row in hours),
    }


def _percent(window: dict[str, Any]) -> float:
    return window["used"] / window["limit"] * 100 if window["limit"] else 0.0


def name_of(author: str) -> str:
    """Returns what a person reads for an author: a seat's name for its handle."""
    seat = epochs.active().chart.seats.get(author)
    return seat.name if seat else author


def _turn(actor: Actor, turn_id: UUID) -> dict[str, Any]:
    detail = queries.turn_detail(actor, turn_id)
    stop = detail.get("stop_request")
    if detail["outcome"] == "stopped" and detail["error"]:
        who, _, rest = detail["error"].partition(" ")
        detail = {**detail, "error": f"{name_of(who)} {rest}"}
    if stop:
        detail = {**detail, "stop_request": {**stop, "by": name_of(stop["by"])}}
    blocks = {key for key, _ in PREFETCHES.items()}
    drawn = trace(detail, clock.now(), blocks)
    return {
        "detail": detail,
        **drawn,
        "waits": [card({**wait, "by": name_of(wait["by"] or "")}, detail["seat"])
                  for wait in detail.get("waits", [])],
        "notes": [{**note, "name": name_of(note["by"]), "fate": fate(note)}
                  for note in detail.get("notes", [])],
    }  # fmt: skip
