"""Draws pages over the sample company, without a database and without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import resolve

from crewlet.console import frame as frame_module
from crewlet.console import registries
from crewlet.kernel.actors import Actor, ActorKind, engine_actor
from crewlet.kernel.authority import ALL_GRANTS
from orgs import epochs
from orgs.models.people import Person
from orgs.models.seats import Seat
from orgs.revisions import apply_document
from tests.console import samples
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import COMPANY

Draw = Callable[..., HttpResponse]
ANA = Actor(kind=ActorKind.PERSON, login="ana", name="Ana Ruiz", grants=ALL_GRANTS, handle="ana")
NOW = datetime(2026, 11, 29, 14, 5, tzinfo=UTC)
HEALTH = {"state": "ok", "title": "Serving", "detail": "2 workers, config 42", "note": ""}


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """Puts the sample company behind every query that a page asks."""
    from orgs.views import inbox, panels

    company = registries.Company("Fernhill", ZoneInfo("UTC"))
    patch.setattr(frame_module.Frame, "company", company)
    preferences: dict[str, Any] = {}
    patch.setattr(frame_module.Frame, "preferences", preferences)
    patch.setattr(frame_module.Frame, "health", HEALTH | {"activity": "ok"})
    document = SimpleNamespace(
        name="Fernhill", mission="", timezone="UTC", token_budget=None,
        providers=SimpleNamespace(llm={}),
    )  # fmt: skip
    snapshot = SimpleNamespace(chart=samples.chart(), epoch=42, document=document)
    patch.setattr(epochs, "active", lambda: snapshot)
    for module in (inbox, panels):
        patch.setattr(module, "inbox_page", samples.inbox_page)
    patch.setattr(panels, "badge", lambda actor: 3)
    _agents_stand_in(patch)
    _tracker_stands_in(patch)


def _agents_stand_in(patch: pytest.MonkeyPatch) -> None:
    from agents.live import pages as queries
    from agents.views import home, live, pages, panels

    for module in (live, pages, panels, home):
        patch.setattr(module, "seat_rows", samples.seat_rows)
    running = [samples.turn_row("kofi", "Invoice totals drift by a cent on credit notes")]
    answers: dict[str, Any] = {
        "running_turns": lambda actor: running,
        "parked_turns": lambda actor: [],
        "recent_turns": lambda actor, **asked: {
            "turns": samples.ended_rows(), "next": "", "total": 4,
        },
        "recent_phases": lambda actor, **asked: {"phases": [], "next_cursor": None},
        "turn_detail": samples.turn_detail,
        "seat_detail": samples.seat_detail,
        "turn_hours": samples.turn_hours,
        "tokens_week": lambda actor: {"used": 18_400_000, "limit": 40_000_000, "state": "ok"},
        "feed": samples.feed,
    }  # fmt: skip
    for name, answer in answers.items():
        patch.setattr(queries, name, answer)
    patch.setattr(panels, "health_card", lambda actor: HEALTH)
    patch.setattr(home, "used", samples.used)
    patch.setattr(home, "week", samples.week)


def _tracker_stands_in(patch: pytest.MonkeyPatch) -> None:
    from tracker.queries import pages as queries
    from tracker.queries import projects as project_queries
    from tracker.queries import tallies
    from tracker.queries.projects import Directory
    from tracker.views import home, pages, palette, projects

    patch.setattr(project_queries, "projects", samples.projects)
    listed = Directory(samples.projects(), {"active": 4, "archived": 0})
    patch.setattr(projects, "directory", lambda actor, query: listed)
    for name in ("work_page", "item_page"):
        patch.setattr(queries, name, getattr(samples, name))
    patch.setattr(queries, "find_items", lambda actor, q, limit=8: samples.board_items()[:2])
    patch.setattr(queries, "place_of", lambda actor, key, query: None)
    patch.setattr(queries, "PRIORITIES", samples.PRIORITIES)
    whole = {"state": "hits", "mode": "keyword", "items": samples.board_items()[:1]}
    patch.setattr(palette, "found_items", lambda actor, text, limit: whole)
    patch.setattr(tallies, "in_progress", lambda: (3, 1))
    patch.setattr(tallies, "finished_by_day", lambda first, last, zone: {last: 2})
    for module in (pages, home):
        patch.setattr(module, "company_zone", lambda: ZoneInfo("UTC"))


@pytest.fixture
def draw(monkeypatch: pytest.MonkeyPatch) -> Iterator[Draw]:
    """Yields `draw(path, **headers)`: the answer of the page or fragment at an address, at NOW."""
    stand_in(monkeypatch)
    with time_machine.travel(NOW, tick=False):
        yield open_page


def open_page(path: str, actor: Actor | None = ANA, **headers: str) -> HttpResponse:
    """Calls the view at `path` as `actor`."""
    request = RequestFactory().get(path, headers=headers)
    request.actor = actor  # type: ignore[attr-defined]
    match = request.resolver_match = resolve(request.path_info)
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return response


@pytest.fixture
def ana(db: None) -> Iterator[Person]:
    """Ana, in the company of the tracker's tests."""
    epochs.forget()
    apply_document(engine_actor("tests"), COMPANY, summary="for the console")
    yield a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    epochs.forget()


@pytest.fixture
def browser(ana: Person) -> Client:
    """A browser in which Ana is signed in."""
    return signed_in(Client(headers={"origin": ORIGIN}), ana)
