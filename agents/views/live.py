"""Live: what runs now, what waits, what just happened; ended turns and events as lists."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from agents.api.asked import bad, flag, one_of, seat_id
from agents.live import pages as queries
from agents.live.snapshot import seat_rows
from agents.queries import feed, rows, traces
from agents.queries.turns import SORTS
from agents.views import axis, peeks
from agents.views.faces import OUTCOME_WORDS, PHASES, phase_name, turn_face
from agents.views.pages import hours_of
from agents.views.tabs import live_tabs
from agents.views.turn_grid import next_url, turn_grid
from crewlet.console.grid import Column, grid
from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.console.windows import WORDS, day_of, midnight, window_of
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.events import CATEGORIES, EventType
from orgs import epochs

Row = Mapping[str, Any]
SHOWN_PHASES, MORE_PHASES, PAGE_TURNS, PAGE_EVENTS = 20, 60, 100, 50
QUIET_SECONDS, STALLED_SECONDS = 120, 600
STEPS = ("context", "execute", "review")
EVENT_WINDOWS = ("15m", "1h", "6h", "1d", "today", "7d", "30d")
CATEGORY_NAMES = tuple(sorted(set(CATEGORIES.values())))
EVENT_COLUMNS = (
    Column("text", "What"),
    Column("type", "Type", kind="mono", keep=2),
    Column("category", "Category", keep=3),
    Column("actor", "By", keep=1),
    Column("at", "When", kind="time"),
)
_NO_MATCH = {"text": "The list has rows that this filter leaves out.", "act": "Clear filters"}


@page
def live(request: HttpRequest) -> HttpResponse:
    """Draws what runs, what waits and what just happened."""
    actor = actor_of(request)
    context = _now(actor) | _phases(actor, "", SHOWN_PHASES)
    context |= hours_of(actor) | {"tabs": live_tabs("live"), "fresh": 0}
    return draw(request, "agents/live.html", context)


@fragment
def live_now(request: HttpRequest) -> HttpResponse:
    """Draws the running and the waiting turns alone."""
    return draw(request, "agents/_live_now.html", _now(actor_of(request)))


@fragment
def live_phases(request: HttpRequest) -> HttpResponse:
    """Draws the phases after `cursor`."""
    cursor = request.GET.get("cursor", "")
    context = _phases(actor_of(request), cursor, MORE_PHASES)
    return draw(request, "agents/_live_phase_rows.html", context)


@fragment
def live_news(request: HttpRequest) -> HttpResponse:
    """Draws how many phases began since the first of the list, as a link that shows them."""
    after = request.GET.get("after", "")
    found = queries.recent_phases(actor_of(request), limit=MORE_PHASES)["phases"]
    ids = [phase["id"] for phase in found]
    fresh = ids.index(after) if after in ids else len(ids)
    return draw(request, "agents/_live_news.html", {"newest": after, "fresh": fresh})


@page
def turns(request: HttpRequest) -> HttpResponse:
    """Draws the ended turns, a hundred a page, as `seat=`, `failed=` and `outcome=` narrow them."""
    given = request.GET
    actor = actor_of(request)
    seat, failed = given.get("seat", ""), flag(given, "failed")
    outcome = one_of(given, "outcome", tuple(OUTCOME_WORDS))
    window, timed = axis.window_of(given, clock.now(), epochs.active().timezone)
    narrowed = bool(seat or outcome or failed is not None or timed)

    def ask(sort: str, cursor: str) -> Row:
        return queries.recent_turns(
            actor, seat=seat, outcome=outcome, failed=failed, stage="done", sort=sort,
            ended=(window.since, window.until) if timed else None,
            cursor=cursor, limit=PAGE_TURNS,
        )  # fmt: skip

    empty = {"title": "No turns yet", "text": "A turn is one stretch of an agent's work.",
             "url": "/work/new", "act": "New item"}  # fmt: skip
    if narrowed:
        empty = {"title": "No turn matches", "url": "/live/turns", **_NO_MATCH}
    shown = turn_grid(given, ask, empty=empty, sorts=SORTS)
    context = {
        "tabs": live_tabs("turns"),
        "grid": shown,
        "axis": axis.drawn(actor, given, window, seat=seat, outcome=outcome, failed=failed),
        "window": window.key if timed else "",
        "windows": axis.choices(window, narrowed=timed),
        "seats": _seats(),
        "seat": seat,
        "outcome": outcome,
        "outcomes": OUTCOME_WORDS.items(),
        "failed": given.get("failed", ""),
        "sort": given.get("sort", ""),
        "narrowed": narrowed,
    }
    return draw(request, "agents/live_turns.html", context)


@page
def events(request: HttpRequest) -> HttpResponse:
    """Draws the events, fifty a page; the server applies every filter."""
    given = request.GET
    window = window_of(
        given.get("window", ""), takes=EVENT_WINDOWS, default=EVENT_WINDOWS[-1], now=clock.now(),
        zone=epochs.active().timezone,
    )  # fmt: skip
    timed = window.key == given.get("window")
    found = feed.events(
        actor_of(request),
        category=one_of(given, "category", CATEGORY_NAMES),
        kind=one_of(given, "type", tuple(EventType)),
        author=given.get("actor", ""),
        seat=seat_id(given),
        failed=flag(given, "failed"),
        since=window.since if timed else _day(given, "since"),
        until=window.until if timed else _day(given, "until"),
        cursor=given.get("cursor", ""),
        limit=PAGE_EVENTS,
    )
    names = ("category", "type", "actor", "seat", "failed", "since", "until")
    asked = {name: given.get(name, "") for name in names}
    asked["window"] = window.key if timed else ""
    empty = {"title": "Nothing happened yet", "text": "What the engine does is told here.",
             "url": "/work/new", "act": "New item"}  # fmt: skip
    if any(asked.values()):
        empty = {"title": "No event matches", "url": "/live/events", **_NO_MATCH}
    people = rows.authors(event["actor"] for event in found["events"])
    shown = grid(
        given, "", EVENT_COLUMNS, [_event_line(event, people) for event in found["events"]],
        label="Events", empty=empty, next_url=next_url(given, found["next_cursor"] or ""),
        complete=not given.get("cursor"), sorted_by_caller=True,
    )  # fmt: skip
    context = {
        "tabs": live_tabs("events"),
        "grid": shown,
        "asked": asked,
        "narrowed": any(asked.values()),
        "windows": [(key, WORDS[key]) for key in EVENT_WINDOWS]
        + ([(window.key, window.words)] if timed and window.key not in EVENT_WINDOWS else []),
        "types": [kind.value for kind in EventType],
        "categories": CATEGORY_NAMES,
        "seats": _seats(),
    }
    return draw(request, "agents/live_events.html", context)


@page
def event(request: HttpRequest, event_id: UUID) -> HttpResponse:
    """Draws one event with its payload."""
    context = peeks.event(actor_of(request), str(event_id))
    return draw(request, "agents/live_event.html", context | {"tabs": live_tabs("events")})


@page
def trace(request: HttpRequest, trace_id: str) -> HttpResponse:
    """Draws all that one cause set off: its turns and its events, oldest first."""
    actor = actor_of(request)
    found = traces.trace(actor, trace_id)
    people = rows.authors(event["actor"] for event in found["events"])
    empty = {"title": "No event", "text": "", "url": "/live/events", "act": "Every event"}
    shown = grid(
        request.GET, "", EVENT_COLUMNS, [_event_line(event, people) for event in found["events"]],
        label="Events of this trace", empty=empty, complete=found["complete"],
        sorted_by_caller=True,
    )  # fmt: skip
    context = {
        "tabs": live_tabs("events"),
        "trace": found,
        "turns": [turn_face(row) for row in found["turns"]],
        "grid": shown,
    }
    return draw(request, "agents/live_trace.html", context)


def _now(actor: Actor) -> dict[str, Any]:
    now = clock.now()
    return {
        "running": [live_face(row, now) for row in queries.running_turns(actor)],
        "parked": [turn_face(row) for row in queries.parked_turns(actor)],
        "waiting": [row for row in seat_rows(actor) if row["activity"] == "needs"],
    }


def live_face(row: Row, now: datetime) -> dict[str, Any]:
    """Returns a running turn with its steps and how long nothing was heard of it."""
    face = turn_face(row)
    stage = "context" if row["stage"] == "context" or not row["phase"] else row["phase"]
    place = STEPS.index(stage) if stage in STEPS else 1
    steps = [
        {
            "name": "Context" if name == "context" else PHASES[name],
            "state": "done" if at < place else "now" if at == place else "next",
        }
        for at, name in enumerate(STEPS)
    ]
    silent = (now - row["updated_at"]).total_seconds()
    return {**face, "steps": steps, "silence": silence(row["stage"], silent)}


def silence(stage: str, seconds: float) -> str:
    """Returns the word for a turn that says nothing; a parked one is meant to be silent."""
    if stage in ("parked", "done") or seconds < QUIET_SECONDS:
        return ""
    return "Stalled" if seconds >= STALLED_SECONDS else "No update"


def _phases(actor: Actor, cursor: str, limit: int) -> dict[str, Any]:
    found = queries.recent_phases(actor, cursor=cursor, limit=limit)
    phases = [
        {**row, "name": phase_name(row["phase"]), "tone": _tone(row)} for row in found["phases"]
    ]
    return {
        "phases": phases,
        "newest": phases[0]["id"] if phases else "",
        "next": found["next_cursor"],
    }


def _tone(phase: Row) -> str:
    if phase["error_kind"]:
        return "stop"
    return "done" if phase["ended_at"] else "work"


def _seats() -> list[dict[str, str]]:
    seats = epochs.active().chart.walk()
    return [{"handle": seat.handle, "name": seat.name} for seat in seats]


def _day(given: Mapping[str, str], name: str) -> datetime | None:
    """Returns the first instant of a company day."""
    text = given.get(name, "")
    if not text:
        return None
    day = day_of(text)
    if day is None:
        raise bad(name, f"{name} is a day such as 2026-03-01.")
    return midnight(day, epochs.active().timezone)


def _event_line(event: Row, people: Mapping[str, Row]) -> dict[str, Any]:
    who = people.get(event["actor"])
    return {
        "id": f"ev-{event['id']}",
        "peek": f"event:{event['id']}",
        "text": {"text": event["text"].replace("**", ""), "url": f"/live/events/{event['id']}",
                 "peek": f"event:{event['id']}", "tag": "failed" if event["failed"] else None},
        "type": event["type"],
        "category": event["category"],
        "actor": {"text": who["name"], "url": who["url"], "title": event["actor"]} if who else "",
        "at": event["at"],
    }  # fmt: skip
