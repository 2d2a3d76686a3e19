"""The axis over ended turns narrows their list; a trace shows all that one cause set off."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from crewlet.kernel import clock
from crewlet.kernel.events import EventType, publish
from orgs import epochs
from orgs.models.seats import Seat
from tests.agents.pages.test_pages import html_of
from tests.api.conftest import Program
from tests.api.test_reads import a_turn
from tests.browser.stage import a_round

pytestmark = pytest.mark.django_db

TRACE = "0af7651916cd43dd8448eb211c80319c"


def zone() -> ZoneInfo:
    """The company's clock."""
    return epochs.active().timezone


def noon(days_ago: int) -> datetime:
    """Noon of a company day."""
    day = clock.now().astimezone(zone()) - timedelta(days=days_ago)
    return day.replace(hour=12, minute=0, second=0, microsecond=0)


def ended(days_ago: int, **more: Any) -> UUID:
    """A turn that ended at noon of a company day."""
    at = noon(days_ago)
    turn: UUID = a_turn(started_at=at - timedelta(minutes=5), ended_at=at, **more).pk
    return turn


@pytest.mark.covers("UI-49", "UI-31")
def test_the_axis_counts_ended_turns_by_company_day_and_draws_every_day(founder: Client) -> None:
    """Parked ones are no end; an empty day is drawn; the numbers stand in words."""
    ended(2)
    ended(2, outcome="failed")
    ended(2, iteration=2)
    ended(40)
    a_turn(stage="parked", outcome="", ended_at=None, park_reason="budget")
    html = html_of(founder, "/live/turns")
    assert html.count("<title>") == 1 + 30, "the page's own, and a column for each day"
    day = noon(2)
    words = f"{day.day} {day:%b}: Completed 1, Completed after a send-back 1, Failed 1"
    assert f"<title>{words}</title>" in html
    assert re.search(r'aria-label="Ended turns by day, 30 days to [^"]+: 3 turns, most 3', html)


@pytest.mark.covers("UI-31", "UI-49")
def test_a_press_on_a_day_narrows_the_list_and_the_axis_to_its_hours(founder: Client) -> None:
    """The address holds it beside the other filters; keys find it in a list."""
    inside, outside = ended(2), ended(3)
    failed = ended(2, outcome="failed")
    key = noon(2).date().isoformat()
    html = html_of(founder, "/live/turns?failed=false&cursor=")
    link = f"?failed=false&amp;window={key}"
    assert html.count(f'href="{link}"') == 2, "in the chart and in its list"
    assert f'<a href="{link}" tabindex="-1" aria-hidden="true">' in html
    narrowed = html_of(founder, f"/live/turns?failed=false&window={key}")
    assert f"tr-{inside}" in narrowed
    assert f"tr-{outside}" not in narrowed
    assert f"tr-{failed}" not in narrowed
    assert "Ended turns by hour" in narrowed
    assert "<title>12:00: Completed 1</title>" in narrowed
    assert f'<option value="{key}" selected>' in narrowed


@pytest.mark.covers("UI-49", "UI-11")
def test_the_window_narrows_and_one_that_nobody_knows_is_any_day(founder: Client) -> None:
    old = ended(40)
    assert f"tr-{old}" in html_of(founder, "/live/turns")
    assert f"tr-{old}" in html_of(founder, "/live/turns?window=90d")
    assert f"tr-{old}" not in html_of(founder, "/live/turns?window=30d")
    for wrong in ("soon", "2026-13-45", "8d"):
        assert f"tr-{old}" in html_of(founder, f"/live/turns?window={wrong}")
    assert founder.get("/live/events?since=2026-13-45").status_code == 400


@pytest.mark.covers("UI-49", "UI-90")
def test_the_series_of_turns_is_there_for_programs_with_the_filters_of_the_page(
    ana: Program,
) -> None:
    ended(1)
    ended(1, outcome="failed")
    ended(1, outcome="stopped")
    days = ana.get("/turns/series", bucket="day", seat="qa").json()["buckets"]
    whole = {name: sum(row[name] for row in days) for name in ("completed", "failed", "stopped")}
    assert whole == {"completed": 1, "failed": 1, "stopped": 1}
    only = ana.get("/turns/series", bucket="day", failed="true").json()["buckets"]
    assert sum(row["completed"] + row["stopped"] for row in only) == 0
    assert sum(row["failed"] for row in only) == 1
    other = ana.get("/turns/series", bucket="day", seat="packer").json()["buckets"]
    assert sum(sum(v for k, v in row.items() if k != "at") for row in other) == 0
    assert ana.get("/turns/series", bucket="minute").status_code == 400
    assert ana.get("/turns/series", colour="red").status_code == 400


@pytest.mark.covers("UI-49")
def test_a_trace_shows_its_turns_and_its_events_oldest_first(founder: Client) -> None:
    """It has a page and no list."""
    seat = Seat.objects.get(handle="qa")
    turn = a_turn(trigger={"summary": "Test the lamp", "trace": TRACE})
    first = publish(EventType.WORK_ITEM_CREATED, summary="The item came.", trace_id=TRACE)
    then = publish(EventType.AGENT_TURN_STARTED, summary="The turn began.", trace_id=TRACE,
                   seat_id=seat.pk, turn_id=turn.pk)  # fmt: skip
    other = publish(EventType.SEAT_PAUSED, summary="Of another cause.", trace_id="f" * 32)
    html = html_of(founder, f"/live/traces/{TRACE}")
    assert "1 turn and 2 events" in html
    assert html.index(f"ev-{first}") < html.index(f"ev-{then}")
    assert f"ev-{other}" not in html
    assert f"/live/turns/{turn.pk}" in html
    assert f'href="/live/traces/{TRACE}"' in html_of(founder, f"/live/events/{first}")
    assert f'href="/live/traces/{TRACE}"' in html_of(founder, f"/live/turns/{turn.pk}")
    told = founder.get(f"/api/v1/events?trace={TRACE}").json()["events"]
    assert [row["id"] for row in told] == [str(then), str(first)]


def test_a_trace_that_left_nothing_is_not_found(founder: Client) -> None:
    assert founder.get("/live/traces/nothing").status_code == 404
    assert founder.get("/live/traces").status_code == 404


@pytest.mark.covers("TURN-87")
def test_a_turns_page_shows_how_large_its_last_request_was(founder: Client) -> None:
    turn = a_turn()
    phase = turn.phases.create(
        phase="execute", iteration=1, system="s" * 3000, user="u" * 1000, max_rounds=24,
        started_at=clock.now(), ended_at=clock.now(), status="done", tools=[{"name": "look"}],
        system_outline=[{"key": "personal_memory", "title": "Personal memory", "bytes": 3000}],
        user_outline=[{"key": "task", "title": "Task", "bytes": 1000}],
    )  # fmt: skip
    a_round(phase, 0)
    html = html_of(founder, f"/live/turns/{turn.pk}")
    sizes = re.search(r'<dl class="facts sizes".*?</dl>', html, re.S)
    assert sizes is not None
    figures = re.findall(r"<dt>([^<]+)</dt><dd class=\"num\">([^<]+)</dd>", sizes[0])
    assert [name for name, _ in figures] == [
        "System", "User", "Conversation", "Tools", "Last request, about",
    ]  # fmt: skip
    assert dict(figures)["Last request, about"] == "1k tokens"
    assert "Read for this turn: Personal memory" in html
