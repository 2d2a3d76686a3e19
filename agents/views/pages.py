"""The runtime's pages and their fragments: parse, ask, draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse

from agents.live import pages as queries
from agents.live.snapshot import seat_rows
from agents.views.chart import legend, sentence, tree
from agents.views.faces import OUTCOME_WORDS, quiet, turn_face
from agents.views.folds import folded
from agents.views.trace import one_round, trace
from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from orgs import epochs

SEAT_TURNS, RECENT_TURNS = 12, 40
OUTCOMES = ("", "completed", "failed", "skipped", "stopped")


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
def seat(request: HttpRequest, handle: str) -> HttpResponse:
    """Draws one seat."""
    return draw(request, "agents/seat.html", _seat(actor_of(request), handle))


@fragment
def seat_body(request: HttpRequest, handle: str) -> HttpResponse:
    """Draws the live part of a seat's page alone."""
    return draw(request, "agents/_seat_live.html", _seat(actor_of(request), handle))


@page
def live(request: HttpRequest) -> HttpResponse:
    """Draws what runs, what waits and what ended."""
    return draw(request, "agents/live.html", _live(request))


@fragment
def live_now(request: HttpRequest) -> HttpResponse:
    """Draws the running and the waiting turns alone."""
    return draw(request, "agents/_live_now.html", _live(request))


@fragment
def live_recent(request: HttpRequest) -> HttpResponse:
    """Draws the ended turns alone, or the page after `cursor`."""
    template = "agents/_turn_rows.html" if request.GET.get("cursor") else "agents/_live_recent.html"
    return draw(request, template, _live(request))


@page
def turn(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """Draws one turn."""
    return draw(request, "agents/turn.html", _turn(actor_of(request), turn_id))


@fragment
def turn_part(request: HttpRequest, turn_id: UUID, part: str) -> HttpResponse:
    """Draws the head, the transcript, the rail or the stop of a turn alone."""
    templates = {
        "head": "_turn_head",
        "transcript": "_turn_transcript",
        "rail": "_turn_rail",
        "stop": "_turn_stop",
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
    hours = queries.turn_hours(actor)
    week = queries.tokens_week(actor)
    return {
        "tree": tree(epochs.active().chart, rows),
        "legend": counts,
        "say": sentence(counts),
        "hours": [(row["completed"], row["sent_back"], row["failed"]) for row in hours],
        "ended": sum(row["completed"] + row["sent_back"] + row["failed"] for row in hours),
        "failed": sum(row["failed"] for row in hours),
        "skipped": sum(row["skipped"] for row in hours),
        "week": week and {**week, "pct": _percent(week)},
    }


def _percent(window: dict[str, Any]) -> float:
    return window["used"] / window["limit"] * 100 if window["limit"] else 0.0


def _seat(actor: Actor, handle: str) -> dict[str, Any]:
    detail = queries.seat_detail(actor, handle)
    found = queries.recent_turns(actor, seat=handle, stage="done", limit=SEAT_TURNS)
    running = [row for row in queries.running_turns(actor) if row["seat"]["handle"] == handle]
    parked = [row for row in queries.parked_turns(actor) if row["seat"]["handle"] == handle]
    return {
        "detail": detail,
        "row": _named(detail["row"]),
        "about": detail["about"],
        "open_turns": [turn_face(row) for row in (*running, *parked)],
        "lines": folded([turn_face(row) for row in found["turns"]], quiet),
        "shown": len(found["turns"]),
        "total": found["total"],
    }


def _live(request: HttpRequest) -> dict[str, Any]:
    actor = actor_of(request)
    outcome = request.GET.get("outcome", "")
    if outcome not in OUTCOMES:
        outcome = ""
    seat = request.GET.get("seat", "")
    cursor = request.GET.get("cursor", "")
    fold = _never if outcome == "skipped" else quiet
    found = queries.recent_turns(
        actor, seat=seat, outcome=outcome, stage="done", cursor=cursor, limit=RECENT_TURNS
    )
    return {
        "running": [turn_face(row) for row in queries.running_turns(actor)],
        "parked": [turn_face(row) for row in queries.parked_turns(actor)],
        "waiting": [row for row in seat_rows(actor) if row["activity"] == "needs"],
        "lines": folded([turn_face(row) for row in found["turns"]], fold),
        "next": found["next"],
        "total": found["total"],
        "outcome": outcome,
        "outcomes": [(name, OUTCOME_WORDS[name]) for name in OUTCOMES[1:]],
        "seat": seat,
    }


def _named(row: dict[str, Any]) -> dict[str, Any]:
    paused = row["paused"]
    return {**row, "paused": {**paused, "by": name_of(paused["by"])}} if paused else row


def name_of(author: str) -> str:
    """Returns what a person reads for an author: a seat's name for its handle."""
    seat = epochs.active().chart.seats.get(author)
    return seat.name if seat else author


def _never(row: Mapping[str, Any]) -> bool:
    return False


def _turn(actor: Actor, turn_id: UUID) -> dict[str, Any]:
    detail = queries.turn_detail(actor, turn_id)
    stop = detail.get("stop_request")
    if detail["outcome"] == "stopped" and detail["error"]:
        who, _, rest = detail["error"].partition(" ")
        detail = {**detail, "error": f"{name_of(who)} {rest}"}
    if stop:
        detail = {**detail, "stop_request": {**stop, "by": name_of(stop["by"])}}
    return {"detail": detail, **trace(detail, clock.now())}
