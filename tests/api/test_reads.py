"""What programs read: shapes they rely on, pages that lose nothing, figures that agree."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from agents.models.turns import Turn
from crewlet.kernel import clock
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.ids import new_id
from orgs.models.seats import Seat
from orgs.revisions import apply_document
from tests.agents.play import a_letter, an_open_turn, post_now
from tests.api.conftest import Program, refusal
from tests.tracker.company import COMPANY


def a_turn(handle: str = "qa", **more: Any) -> Turn:
    """An ended turn of a seat, charged to ENG-1."""
    seat = Seat.objects.get(handle=handle)
    letter = a_letter()
    post_now(seat.id, letter)
    start = clock.now() - timedelta(minutes=5)
    values: dict[str, Any] = {
        "stage": "done", "outcome": "completed", "started_at": start, "ended_at": clock.now(),
        "work_item_key": "ENG-1", "decision": "done", "tokens_in": 120, "tokens_out": 30,
        "work_item": {"backend": "native", "id": "", "key": "ENG-1", "project": "ENG"},
        "constituents": [{"payload": letter.payload}], "trigger": letter.payload,
    }  # fmt: skip
    with connection.cursor() as cursor:
        turn = an_open_turn(cursor, seat.id, [letter.event_id], **(values | more))
    return Turn.objects.get(id=turn)


def walked(program: Program, path: str, rows: str, **query: Any) -> list[dict[str, Any]]:
    """Every row of a list, page by page."""
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = program.get(path, **query, **({"cursor": cursor} if cursor else {})).json()
        assert 0 < len(page[rows]) <= query["limit"]
        found += page[rows]
        cursor = page["next_cursor"]
    return found


def test_a_turn_row_tells_what_became_of_it_and_whose_it_was(ana: Program) -> None:
    turn = a_turn()
    (row,) = ana.get("/turns").json()["turns"]
    assert row["id"] == str(turn.id)
    assert (row["outcome"], row["stage"], row["seat"]) == ("completed", "done", "qa")
    assert row["work_item"] == "ENG-1"
    assert row["ended_at"] > row["started_at"]
    detail = ana.get(f"/turns/{turn.id}").json()
    assert row.items() <= detail["turn"].items()
    assert detail["phases"] == []
    assert "events" in detail


def test_a_running_turn_has_no_outcome_and_no_end(ana: Program) -> None:
    a_turn(stage="phase", outcome="", ended_at=None)
    (row,) = ana.get("/turns").json()["turns"]
    assert (row["stage"], row["outcome"], row["ended_at"]) == ("phase", None, None)
    seats = {seat["handle"]: seat for seat in ana.get("/agents").json()["agents"]}
    assert seats["qa"]["activity"] == "working"
    assert seats["qa"]["turn"]["work_item"] == "ENG-1"
    assert seats["packer"]["activity"] in ("idle", "stopped")
    assert seats["ana"]["activity"] == "person"


def test_turns_are_filtered_and_failed_ones_say_why(ana: Program) -> None:
    a_turn()
    a_turn("packer", outcome="failed", error_kind="refusal", error="It would not.")
    (failed,) = ana.get("/turns", failed="true").json()["turns"]
    assert (failed["seat"], failed["error_kind"], failed["error"]) == (
        "packer", "refusal", "It would not.",
    )  # fmt: skip
    assert [row["seat"] for row in ana.get("/turns", seat="qa").json()["turns"]] == ["qa"]
    assert [r["seat"] for r in ana.get("/turns", outcome="failed").json()["turns"]] == ["packer"]
    assert ana.get("/turns", work_item="ENG-1").json()["total"] == 2
    assert ana.get("/turns", stage="parked").json()["turns"] == []


def test_items_stand_under_items_with_the_names_that_programs_know(ana: Program) -> None:
    key = ana.filed("Lamp", assignee="qa", body="Bright", priority="high")
    page = ana.get("/work").json()
    assert set(page) == {"items", "next_cursor", "total"}
    (row,) = page["items"]
    assert (row["key"], row["title"], row["status"]) == (key, "Lamp", "todo")
    assert (row["assignee"], row["reporter"], row["priority"]) == ("qa", "ana", "high")
    detail = ana.get(f"/work/{key}").json()
    assert detail["item"] == row
    assert detail["body"] == "Bright"


@pytest.mark.parametrize("sort", ["updated", "-created", "priority", "due", "rank", "-rank"])
def test_pages_of_items_lose_and_repeat_nothing(ana: Program, sort: str) -> None:
    keys = {ana.filed(f"Lamp {n}", priority=("high", "low")[n % 2]) for n in range(7)}
    found = [row["key"] for row in walked(ana, "/work", "items", limit=3, sort=sort)]
    assert len(found) == len(keys)
    assert set(found) == keys


def test_a_cursor_of_another_order_is_refused(ana: Program) -> None:
    for n in range(3):
        ana.filed(f"Lamp {n}")
    cursor = ana.get("/work", limit=2, sort="created").json()["next_cursor"]
    refused = ana.get("/work", limit=2, sort="priority", cursor=cursor)
    assert refusal(refused, 400, "invalid")["field"] == "cursor"


def test_pages_of_turns_and_events_lose_and_repeat_nothing(ana: Program) -> None:
    turns = {str(a_turn().id) for _ in range(5)}
    events = {
        str(publish(EventType.BUDGET_EXHAUSTED, summary=f"{n}", payload={"n": n})) for n in range(5)
    }
    found = [row["id"] for row in walked(ana, "/turns", "turns", limit=2)]
    assert (len(found), set(found)) == (5, turns)
    told = [
        row["id"]
        for row in walked(ana, "/events", "events", limit=2, type=EventType.BUDGET_EXHAUSTED.value)
    ]
    assert (len(told), set(told)) == (5, events)
    assert told == sorted(told, reverse=True), "newest first"
    one = ana.get(f"/events/{told[0]}").json()
    assert one["payload"] == {"n": 4}


def test_events_are_found_by_turn_category_and_time(ana: Program) -> None:
    turn = new_id()
    publish(EventType.AGENT_TURN_STARTED, summary="started", turn_id=turn)
    publish(EventType.AGENT_TURN_COMPLETED, summary="failed", turn_id=turn, failed=True)
    of_turn = ana.get("/events", turn=str(turn)).json()["events"]
    assert [row["type"] for row in of_turn] == ["agent_turn_completed", "agent_turn_started"]
    assert {row["category"] for row in of_turn} == {"turn"}
    assert len(ana.get("/events", failed="true").json()["events"]) == 1
    later = (clock.now() + timedelta(hours=1)).isoformat()
    assert ana.get("/events", since=later).json()["events"] == []
    assert ana.get("/events", category="a2a").json()["events"] == []


def test_a_paused_seat_says_who_paused_it_and_works_again_when_resumed(ana: Program) -> None:
    paused = ana.post("/agents/qa/pause", {"reason": "Parts are late"})
    assert paused.status_code == 200, paused.content
    row = ana.get("/agents/qa").json()["seat"]
    assert (row["activity"], row["stopped_reason"]) == ("stopped", "paused")
    assert row["paused"]["by"] == "ana"
    assert ana.post("/agents/qa/resume", {}).status_code == 200
    assert ana.get("/agents/qa").json()["seat"]["paused"] is None


def test_a_seat_shows_the_mail_that_waits_for_it(ana: Program) -> None:
    ana.post("/agents/qa/pause", {})
    key = ana.filed("Lamp", assignee="qa")
    detail = ana.get("/agents/qa").json()
    assert detail["waiting"] == 1
    assert key in detail["waiting_rows"][0]["title"]
    assert set(detail) == {"seat", "about", "waiting", "waiting_rows", "budget", "stats"}


def test_budgets_list_the_company_and_every_agent_seat(ana: Program) -> None:
    text = COMPANY + "token_budget: {day: 1000, month: 20000}\n"
    apply_document(engine_actor("tests"), text, summary="A ceiling")
    answer = ana.get("/budgets").json()
    assert answer["tz"] == "Asia/Tokyo"
    assert len(answer["scopes"]) == 5, "the company and its four agents"


def test_the_snapshot_holds_what_the_stream_would_send(ana: Program) -> None:
    from crewlet.kernel.live import SNAPSHOT_PARTS

    ana.filed("Lamp", assignee="qa")
    answer = ana.get("/stream/snapshot").json()
    assert set(answer["data"]) == set(SNAPSHOT_PARTS)
    shown = {row["handle"]: row["activity"] for row in answer["data"]["agents"]["rows"]}
    listed = ana.get("/agents").json()["agents"]
    assert shown == {row["handle"]: row["activity"] for row in listed}


def test_who_i_am_and_what_waits_on_me(ana: Program) -> None:
    me = ana.get("/me").json()
    assert (me["kind"], me["login"], me["handle"], me["author"]) == (
        "person", "ana.silva", "ana", "ana",
    )  # fmt: skip
    assert me["credential"].startswith("pat:ana.silva/")
    assert "people:manage" not in me["grants"]
    inbox = ana.get("/me/inbox").json()
    assert (inbox["unread"], inbox["decisions"]) == (0, [])
