"""Agents and Live as a founder opens them: real rows, one grid, the refused beside the allowed."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models.turns import Turn
from agents.views import peeks
from agents.views.live import silence
from crewlet.kernel import clock
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import NotFound
from crewlet.kernel.events import EventType, publish
from orgs.models.seats import Seat
from tests.api.test_reads import a_turn
from tests.browser.stage import a_round

pytestmark = pytest.mark.django_db


def html_of(founder: Client, path: str) -> str:
    """The page at an address."""
    answer = founder.get(path)
    assert answer.status_code == 200, answer.content[-600:]
    return answer.content.decode()


def reviewed(turn: Turn, **more: object) -> Turn:
    """A turn with a review that ended."""
    turn.phases.create(
        phase="review", iteration=1, system="", user="", max_rounds=8, status="done",
        started_at=clock.now(), ended_at=clock.now(), **more,
    )  # fmt: skip
    return turn


@pytest.mark.covers("UI-45", "UI-28")
def test_the_roster_lists_every_seat_with_its_figures(founder: Client) -> None:
    """Every seat is a row that can be peeked."""
    a_turn()
    html = html_of(founder, "/agents/roster")
    for handle in ("ana", "omar", "agent-cto", "agent-swe", "qa", "packer"):
        assert f'data-peek="seat:{handle}"' in html
    assert "That is all of it, 6" in html
    assert 'href="/agents/teams"' in html


def test_the_roster_costs_the_same_statements_whatever_its_length(founder: Client) -> None:
    with CaptureQueriesContext(connection) as few:
        html_of(founder, "/agents/roster")
    for handle in ("qa", "packer", "agent-swe"):
        a_turn(handle)
    with CaptureQueriesContext(connection) as many:
        html_of(founder, "/agents/roster")
    assert len(many) <= len(few)


def test_the_workload_shows_what_lies_with_each_seat(founder: Client) -> None:
    html = html_of(founder, "/agents/roster?view=workload")
    assert "Open items" in html
    assert 'aria-sort="descending"' in html


@pytest.mark.covers("UI-45")
def test_teams_name_their_lead_and_open_their_page(founder: Client) -> None:
    html = html_of(founder, "/agents/teams")
    assert 'href="/agents/teams/eng"' in html
    assert "Chief Engineer" in html
    team = html_of(founder, "/agents/teams/eng")
    assert "Builds the lamps" in team
    assert 'data-peek="seat:qa"' in team
    assert 'data-peek="seat:packer"' not in team


def test_a_team_that_is_not_there_is_refused_with_the_nearest(founder: Client) -> None:
    answer = founder.get("/agents/teams/enq")
    assert answer.status_code == 404
    assert b"Did you mean eng?" in answer.content


@pytest.mark.covers("UI-46")
def test_the_first_pass_rate_counts_reviewed_turns_alone(founder: Client) -> None:
    """Absent while no turn was reviewed."""
    a_turn()
    assert "First pass" not in html_of(founder, "/agents/seats/qa")
    reviewed(a_turn())
    reviewed(a_turn(iteration=2))
    assert "50 % of 2 reviewed" in html_of(founder, "/agents/seats/qa")


@pytest.mark.covers("UI-46")
def test_an_agent_has_five_tabs_and_a_person_three(founder: Client) -> None:
    agent, person = html_of(founder, "/agents/seats/qa"), html_of(founder, "/agents/seats/omar")
    assert "/agents/seats/qa?tab=turns" in agent
    assert "?tab=turns" not in person
    assert "?tab=memory" not in person
    assert 'href="/live/events?seat=qa"' in agent
    for tab in ("work", "turns", "memory", "settings"):
        assert html_of(founder, f"/agents/seats/qa?tab={tab}").count('aria-current="page"') >= 1
    assert "rehearsal" in html_of(founder, "/agents/seats/qa?tab=settings")


@pytest.mark.covers("UI-46")
def test_the_turns_of_a_seat_are_paged_by_fifty(founder: Client) -> None:
    seat = Seat.objects.get(handle="qa")
    start = clock.now() - timedelta(hours=2)
    many(seat, 51, start)
    html = html_of(founder, "/agents/seats/qa?tab=turns")
    assert html.count('id="tr-') == 50
    assert "50 of 51" in html


def many(seat: Seat, count: int, start: datetime) -> None:
    """Many ended turns of one seat."""
    Turn.objects.bulk_create(
        Turn(seat=seat, work_key=f"k{n}", reply_kind="none", trigger={}, batch_key="b",
             conversation="c", epoch=1, lease_epoch=1, stage="done", outcome="completed",
             started_at=start + timedelta(seconds=n), ended_at=start + timedelta(seconds=n + 30))
        for n in range(count)
    )  # fmt: skip


@pytest.mark.covers("UI-46")
def test_a_message_is_an_ask_on_an_item(founder: Client) -> None:
    html = html_of(founder, "/agents/seats/qa")
    assert 'action="/act/comment_on_work_item"' in html
    assert '<input type="hidden" name="ask" value="qa">' in html
    assert 'href="/work/new?assignee=qa"' in html


@pytest.mark.covers("UI-48")
def test_a_silent_turn_is_named_and_a_parked_one_never() -> None:
    assert [silence("phase", secs) for secs in (119, 120, 599, 600)] == [
        "", "No update", "No update", "Stalled",
    ]  # fmt: skip
    assert silence("parked", 5000) == ""


@pytest.mark.covers("UI-48")
def test_live_shows_a_running_turn_with_its_steps_and_its_last_call(founder: Client) -> None:
    began = clock.now() - timedelta(minutes=11)
    turn = a_turn(stage="phase", outcome="", phase="execute", ended_at=None, started_at=began)
    phase = turn.phases.create(
        phase="execute", iteration=1, system="", user="", max_rounds=24, started_at=began
    )
    a_round(phase, 0)
    html = html_of(founder, "/live")
    assert "execute, round 1 of 24, last call comment_on_work_item" in html
    assert 'data-s="now" aria-current="step"' in html
    assert "Stalled" not in html
    phase.rounds.update(started_at=began)
    assert "Stalled" in html_of(founder, "/ui/live/now")


@pytest.mark.covers("UI-48")
def test_new_phases_are_counted_and_never_spliced_in(founder: Client) -> None:
    turn = reviewed(a_turn())
    seen = str(turn.phases.get().pk)
    calm = html_of(founder, f"/ui/live/news?after={seen}")
    assert "new, show" not in calm
    reviewed(a_turn())
    assert "1 new, show" in html_of(founder, f"/ui/live/news?after={seen}")
    assert 'data-src="/ui/live/phases' not in html_of(founder, "/live")


@pytest.mark.covers("UI-49")
def test_ended_turns_are_sorted_and_filtered_by_the_server(founder: Client) -> None:
    dear, cheap = a_turn(tokens_in=900), a_turn("packer", tokens_in=1, outcome="failed")
    html = html_of(founder, "/live/turns?sort=-tokens")
    assert html.index(f"tr-{dear.pk}") < html.index(f"tr-{cheap.pk}")
    only = html_of(founder, "/live/turns?failed=true")
    assert f"tr-{cheap.pk}" in only
    assert f"tr-{dear.pk}" not in only
    assert "No turn matches" in html_of(founder, "/live/turns?seat=agent-cto")
    assert founder.get("/live/turns?failed=perhaps").status_code == 400


@pytest.mark.covers("UI-49")
def test_a_parked_turn_is_no_ended_turn(founder: Client) -> None:
    parked = a_turn(stage="parked", outcome="", ended_at=None, park_reason="budget")
    assert f"tr-{parked.pk}" not in html_of(founder, "/live/turns")
    assert str(parked.pk) in html_of(founder, "/live")


@pytest.mark.covers("UI-49")
def test_events_are_filtered_by_the_server_and_open_their_payload(founder: Client) -> None:
    seat = Seat.objects.get(handle="qa")
    mine = publish(EventType.SEAT_PAUSED, summary="Paused qa.", actor="ana", seat_id=seat.pk,
                   payload={"reason": "<b>tired</b>"})  # fmt: skip
    publish(EventType.SEAT_RESUMED, summary="Resumed somebody.", actor="omar")
    html = html_of(founder, "/live/events?seat=qa&type=seat_paused&actor=ana&failed=false")
    assert f'data-peek="event:{mine}"' in html
    assert "Resumed somebody" not in html
    assert "&lt;b&gt;tired" in html_of(founder, f"/live/events/{mine}")
    assert "No event matches" in html_of(founder, "/live/events?since=2100-01-01")
    assert founder.get("/live/events?since=soon").status_code == 400
    assert founder.get("/live/events?category=weather").status_code == 400


def test_a_seat_a_turn_and_an_event_can_be_peeked(founder: Client) -> None:
    actor, turn = engine_actor("tests"), a_turn()
    told = publish(EventType.SEAT_PAUSED, summary="Paused.", payload={"n": 1})
    assert peeks.seat(actor, "qa")["row"]["handle"] == "qa"
    assert peeks.turn(actor, str(turn.pk))["turn"]["word"] == "Completed"
    assert '"n": 1' in peeks.event(actor, str(told))["event"]["payload_text"]
    for find, ident in ((peeks.seat, "nobody"), (peeks.turn, "x"), (peeks.event, "x")):
        with pytest.raises(NotFound):
            find(actor, ident)


def test_a_stranger_is_sent_to_sign_in(company: None) -> None:
    for path in ("/agents/roster", "/agents/teams", "/live/turns", "/live/events"):
        assert Client().get(path).status_code == 303


@pytest.mark.parametrize(
    "path",
    ["/agents/roster", "/agents/roster?view=workload", "/agents/teams", "/agents/teams/eng",
     "/agents/seats/qa", "/agents/seats/qa?tab=turns", "/agents/seats/qa?tab=memory",
     "/agents/seats/omar?tab=work", "/live",
     "/live/turns", "/live/events"],
)  # fmt: skip
def test_a_page_has_one_heading_and_every_id_once(founder: Client, path: str) -> None:
    reviewed(a_turn())
    html = html_of(founder, path)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids)), [name for name in ids if ids.count(name) > 1]
    assert len(re.findall(r"<h1[\s>]", html)) == 1
    assert " style=" not in html
