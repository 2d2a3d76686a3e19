"""Open turns and the asks between agents, each with a page of its own below Live."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from agents.models.colleagues import A2AChannel, A2AMessage
from crewlet.kernel import clock
from orgs import epochs
from tests.agents.pages.test_pages import html_of
from tests.api.conftest import Program
from tests.api.test_reads import a_turn

pytestmark = pytest.mark.django_db


def an_ask(
    brief: str, *, age: int, lasted: int | None = None, answer: str = "", **more: Any
) -> A2AChannel:
    """Asks a colleague something `age` minutes ago; it ended after `lasted` minutes, if at all."""
    seats, at = epochs.active().seat_ids, clock.now() - timedelta(minutes=age)
    agents = [seat.handle for seat in epochs.active().chart.walk() if seat.is_agent]
    more["closed_at"] = None if lasted is None else at + timedelta(minutes=lasted)
    asker, target = seats[agents[0]], seats[agents[1]]
    channel = A2AChannel.objects.create(requester_id=asker, target_id=target, opened_at=at, **more)
    for kind, author, body in (("ask", asker, brief), ("answer", target, answer)):
        if body:
            A2AMessage.objects.create(
                channel=channel, kind=kind, author_id=author, body=body, at=at
            )
    return channel


@pytest.mark.covers("UI-49")
def test_asks_say_who_asked_whom_what_came_of_it_and_in_which_turns(founder: Client) -> None:
    asking, answering = a_turn(), a_turn()
    assert "No agent asked another yet" in html_of(founder, "/live/a2a")
    waits = an_ask("Which lamp?\nThe red or the green?", age=4, request_turn=asking.pk)
    told = an_ask(
        "Where is the manual?", age=90, answer="In the drawer.", state="answered",
        request_turn=asking.pk, target_turn=answering.pk, lasted=60,
    )  # fmt: skip
    html = html_of(founder, "/live/a2a")
    assert html.index(f"ask-{waits.pk}") < html.index(f"ask-{told.pk}"), "the newest first"
    assert "Which lamp?" in html
    assert "Waits for an answer" in html
    assert html.count(f'href="/live/turns/{asking.pk}"') == 2
    assert f'href="/live/turns/{answering.pk}"' in html
    narrowed = html_of(founder, "/live/a2a?state=answered")
    assert f"ask-{told.pk}" in narrowed
    assert f"ask-{waits.pk}" not in narrowed
    assert "No ask matches" in html_of(founder, "/live/a2a?state=expired")
    assert founder.get("/live/a2a?state=lost").status_code == 400


@pytest.mark.covers("UI-49")
def test_runs_are_honest_that_there_are_none_and_show_the_open_turns(founder: Client) -> None:
    parked = a_turn(stage="parked", outcome="", ended_at=None, park_reason="budget")
    ended = a_turn()
    html = html_of(founder, "/live/runs")
    assert "this company has no sandbox" in html
    assert f"/live/turns/{parked.pk}" in html
    assert f"/live/turns/{ended.pk}" not in html
    assert "No agent is in a turn." in html


@pytest.mark.covers("UI-49", "UI-90", "UI-92")
def test_asks_are_there_for_programs_page_by_page(ana: Program) -> None:
    old = an_ask("First?", age=9, lasted=1, state="expired")
    new = an_ask("Second?", age=1)
    first = ana.get("/asks", limit=1).json()
    assert (first["total"], first["asks"][0]["id"]) == (2, str(new.pk))
    assert (first["asks"][0]["answer"], first["asks"][0]["closed_at"]) == (None, None)
    last = ana.get("/asks", limit=1, cursor=first["next_cursor"]).json()
    assert (last["asks"][0]["id"], last["asks"][0]["secs"]) == (str(old.pk), 60)
    assert last["next_cursor"] is None
    assert ana.get("/asks", state="lost").status_code == 400
