"""Lists of what was: every filter is the server's, no page loses a row, no unknown key passes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crewlet.kernel import clock
from crewlet.kernel.events import EventType, publish
from orgs.models.seats import Seat
from tests.api.conftest import Program
from tests.api.test_reads import a_turn, walked
from tests.browser.stage import a_round

pytestmark = pytest.mark.django_db


@pytest.mark.covers("UI-49")
def test_turns_are_listed_dearest_first_page_by_page(ana: Program) -> None:
    """`sort=-tokens` by keyset, equal figures too."""
    for spent in (500, 90, 500, 7):
        a_turn(tokens_in=spent, tokens_out=0)
    found = walked(ana, "/turns", "turns", sort="-tokens", limit=1)
    assert [row["tokens_in"] for row in found] == [500, 500, 90, 7]
    assert len({row["id"] for row in found}) == 4


def test_turns_are_filtered_by_when_they_began(ana: Program) -> None:
    old = a_turn(started_at=clock.now() - timedelta(days=2))
    new = a_turn()
    edge = (clock.now() - timedelta(days=1)).isoformat()
    since = ana.get("/turns", since=edge).json()
    until = ana.get("/turns", until=edge).json()
    assert [row["id"] for row in since["turns"]] == [str(new.pk)]
    assert [row["id"] for row in until["turns"]] == [str(old.pk)]
    assert (since["total"], until["total"]) == (1, 1)


def test_a_list_of_turns_costs_the_same_statements_whatever_its_length(ana: Program) -> None:
    a_turn()
    with CaptureQueriesContext(
        connection,
    ) as few:
        ana.get("/turns")
    for _ in range(12):
        a_turn()
    with CaptureQueriesContext(connection) as many:
        ana.get("/turns")
    assert len(many) <= len(few)


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/turns", {"sort": "colour"}, "sort"),
        ("/turns", {"since": "yesterday"}, "since"),
        ("/turns", {"cursor": "nonsense", "sort": "-tokens"}, "cursor"),
        ("/phases", {"colour": "red"}, "colour"),
        ("/phases", {"phase": "dream"}, "phase"),
        ("/events", {"seat": "nobody"}, "seat"),
        ("/events/series", {"bucket": "minute"}, "bucket"),
        ("/events/series", {"since": "2001-01-01T00:00:00Z"}, "since"),
        ("/agents/activity", {"days": "91"}, "days"),
        ("/agents/activity", {"weeks": "1"}, "weeks"),
    ],
)
def test_what_a_list_does_not_know_is_refused_by_name(
    ana: Program, path: str, query: dict[str, str], field: str
) -> None:
    answer = ana.get(path, **query)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_query"
    assert answer.json()["detail"]["field"] == field


def test_phases_are_listed_newest_first_with_their_rounds(ana: Program) -> None:
    turn = a_turn()
    first = turn.phases.create(phase="execute", iteration=1, system="", user="", max_rounds=24,
                               started_at=clock.now(), model="m1")  # fmt: skip
    a_round(first, 0)
    turn.phases.create(phase="review", iteration=1, system="", user="", max_rounds=8,
                       started_at=clock.now(), error_kind="timeout", error="It slept.")  # fmt: skip
    found = walked(ana, "/phases", "phases", limit=1)
    assert [(row["phase"], row["rounds"], row["seat"]) for row in found] == [
        ("review", 0, "qa"), ("execute", 1, "qa"),
    ]  # fmt: skip
    assert found[1]["tokens"] == 2150
    failed = ana.get("/phases", failed="true").json()["phases"]
    assert [row["phase"] for row in failed] == ["review"]


def test_events_are_filtered_by_who_and_by_seat(ana: Program) -> None:
    seat = Seat.objects.get(handle="qa")
    mine = publish(EventType.SEAT_PAUSED, summary="Paused.", actor="ana", seat_id=seat.pk)
    publish(EventType.SEAT_RESUMED, summary="Resumed.", actor="omar")
    for query in ({"seat": "qa", "type": "seat_paused"}, {"actor": "ana", "type": "seat_paused"}):
        found = ana.get("/events", **query).json()["events"]
        assert [row["id"] for row in found] == [str(mine)]
    assert ana.get("/events", actor="nobody").json()["events"] == []


def test_events_are_counted_by_hour_and_by_day_empty_ones_too(ana: Program) -> None:
    publish(EventType.SEAT_PAUSED, summary="Paused.", failed=True)
    since = (clock.now() - timedelta(hours=3)).isoformat()
    hours = ana.get("/events/series", bucket="hour", since=since).json()["buckets"]
    days = ana.get("/events/series", bucket="day", since=since).json()["buckets"]
    assert len(hours) in (3, 4)
    assert hours[-1]["failed"] == 1
    assert sum(row["count"] for row in days) == sum(row["count"] for row in hours)
    assert hours[0]["count"] == 0


def test_activity_counts_the_turns_of_a_seat_by_day(ana: Program) -> None:
    a_turn()
    a_turn(outcome="failed")
    a_turn("packer", ended_at=clock.now() - timedelta(days=30))
    rows = ana.get("/agents/activity", days="7").json()["rows"]
    assert [(row["seat"], row["turns"], row["failed"], row["tokens"]) for row in rows] == [
        ("qa", 2, 1, 300)
    ]
