"""Lists, boards, pages and the reading verbs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crewlet.kernel import clock
from crewlet.kernel.errors import Invalid, NotFound
from tests.tracker.company import act, comment, create, update
from tests.tracker.conftest import Cast
from tracker.actions import reads
from tracker.filters import parse_filters
from tracker.models.items import WorkItem
from tracker.queries import pages, projects
from tracker.queries.items import page


def keys(cast: Cast, actor: str = "ana", **given: object) -> list[str]:
    loaded = page(parse_filters(given), cast.snapshot, cast[actor])
    return [item.key for item in loaded.rows]


def test_filters_find_exactly_what_they_say(cast: Cast) -> None:
    lamp = create(cast.ana, "Lamp glass", project="ENG", assignee="agent-swe", priority="high")
    wick = create(cast.cto, "Wick", project="ENG", assignee="qa", parent=lamp.key)
    box = create(cast.omar, "Box 100%", project="OPS")
    update(cast.qa, wick, status="done")
    assert keys(cast, sort="created") == [lamp.key, wick.key, box.key]
    assert keys(cast, assignee="agent-swe") == [lamp.key]
    assert keys(cast, assignee="none") == [box.key]
    assert keys(cast, assignee="!none", sort="created") == [lamp.key, wick.key]
    assert keys(cast, "qa", assignee="me") == [wick.key]
    assert keys(cast, reporter="agent-cto,omar", sort="created") == [wick.key, box.key]
    assert keys(cast, status="!done", project="eng") == [lamp.key]
    assert keys(cast, status_group="done") == [wick.key]
    assert keys(cast, open_only="true", sort="created") == [lamp.key, box.key]
    assert keys(cast, parent=lamp.key) == [wick.key]
    assert keys(cast, parent="none", sort="created") == [lamp.key, box.key]
    assert keys(cast, container="unit:ops") == [box.key]
    assert keys(cast, priority="high") == [lamp.key]
    assert keys(cast, q="GLASS") == [lamp.key]
    assert keys(cast, q="100%") == [box.key]
    assert keys(cast, q="eng-2") == [wick.key]


@pytest.mark.covers("TRK-52")
def test_a_name_that_nobody_has_is_refused_and_not_read_as_nobody(cast: Cast) -> None:
    with pytest.raises(Invalid, match="assignee: nobody here is called 'agent-sw'"):
        keys(cast, assignee="agent-sw")


@pytest.mark.parametrize("sort", ["due", "-due", "priority", "-priority", "rank", "-updated"])
def test_pages_join_without_a_gap_or_a_double_and_empty_values_come_last(
    cast: Cast, sort: str
) -> None:
    for n in range(7):
        create(
            cast.ana, f"Item {n}", project="ENG",
            due=None if n % 3 == 0 else f"2026-05-0{n + 1}",
            priority=["none", "low", "urgent"][n % 3],
        )  # fmt: skip
    whole = keys(cast, sort=sort)
    assert len(set(whole)) == 7
    if "due" in sort:
        assert set(whole[-3:]) == {"ENG-1", "ENG-4", "ENG-7"}
    seen: list[str] = []
    cursor = ""
    while True:
        loaded = page(
            parse_filters({"sort": sort, "limit": 2, "cursor": cursor}), cast.snapshot, cast.ana
        )
        assert loaded.total == 7
        seen += [item.key for item in loaded.rows]
        cursor = loaded.next_cursor
        if not cursor:
            break
    assert seen == whole


@pytest.mark.covers("TRK-52")
def test_the_list_tool_says_what_is_there_and_how_to_go_on(cast: Cast) -> None:
    for n in range(3):
        create(cast.ana, f"Item {n}", project="ENG", assignee="agent-swe", priority="high")
    answer = act(cast.swe, "list_work_items", assignee="me", limit=2, sort="rank")
    lines = answer.message.splitlines()
    assert lines[0] == "ENG-1 [todo] high @agent-swe: Item 0"
    assert "2 of 3 shown; go on with cursor=" in lines[-1]
    cursor = answer.data["next_cursor"]
    rest = act(cast.swe, "list_work_items", assignee="me", limit=2, sort="rank", cursor=cursor)
    assert [item["key"] for item in rest.data["items"]] == ["ENG-3"]
    assert act(cast.qa, "list_work_items", assignee="me").message.startswith("Nothing matches")


@pytest.mark.covers("TRK-52", "TRK-34")
def test_the_item_tool_shows_text_talk_history_and_how_to_answer(cast: Cast) -> None:
    """Excerpts, one whole by its id."""
    item = create(cast.ana, "Lamp", project="ENG", assignee="agent-swe", body="Make it bright.")
    create(cast.ana, "Glass", parent=item.key)
    ident = comment(cast.ana, item, "Why so dim?", ask="agent-swe").data["comment"]
    comment(cast.qa, item, "long " * 1000)
    update(cast.ana, item, priority="urgent")
    answer = act(
        cast.swe, "get_work_item", item="eng-1", include=["comments", "history", "links"]
    )  # fmt: skip
    text = answer.message
    assert text.startswith("# ENG-1 Lamp\nStatus: todo; priority: urgent; version: 2")
    for part in (
        "Make it bright.", f"ask {ident} by Ana to @agent-swe — waits for you: Why so dim?",
        "ENG-2 [todo]", "Ana set priority to urgent", "shows it whole",
    ):  # fmt: skip
        assert part in text
    assert answer.refs == ("item:ENG-1",)
    long = answer.data["comments"][-1]["id"]
    whole = act(cast.swe, "get_work_item", item="ENG-1", comment=long)
    assert whole.message.count("long") == 1000
    with pytest.raises(NotFound, match="there is no item 'ENG-99'"):
        act(cast.swe, "get_work_item", item="ENG-99")
    with pytest.raises(Invalid, match="none of comments, history, links"):
        act(cast.swe, "get_work_item", item="ENG-1", include=["everything"])


@pytest.mark.covers("TRK-52")
def test_my_work_has_every_section_with_full_counts(cast: Cast) -> None:
    mine = create(cast.ana, "Mine", project="ENG", assignee="agent-swe")
    given = create(cast.swe, "Given away", project="ENG", assignee="qa")
    comment(cast.ana, mine, "When?", ask="agent-swe")
    comment(cast.swe, given, "Ready?", ask="qa")
    update(cast.swe, given, watch=True)
    answer = act(cast.swe, "my_work")
    data = answer.data
    assert [item["key"] for item in data["assigned"]] == [mine.key]
    assert [item["key"] for item in data["filed"]] == [given.key]
    assert [ask["item"] for ask in data["asked_of_me"]] == [mine.key]
    assert [ask["item"] for ask in data["asked_by_me"]] == [given.key]
    assert {item["key"] for item in data["watching"]} == {mine.key, given.key}
    assert data["assigned_total"] == 1
    assert "## Asks that wait for you (1)" in answer.message
    assert act(cast.packer, "my_work").message == "Nothing is on you, nobody waits for you."


@pytest.mark.covers("TRK-29")
def test_a_board_has_every_open_lane_in_manual_order_and_this_weeks_finished(cast: Cast) -> None:
    first, second, third = (create(cast.ana, title, project="ENG") for title in "ABC")
    old = create(cast.ana, "Old", project="ENG", status="done")
    create(cast.ana, "Elsewhere", project="OPS")
    update(cast.ana, third, status="done")
    WorkItem.objects.filter(pk=old.pk).update(finished_at=clock.now() - timedelta(days=8))
    act(
        cast.ana, "place_work_item",
        item=second.key, if_match=second.version, before=first.key,
    )  # fmt: skip
    board = pages.work_page(cast.ana, project="ENG", shape="board")
    lanes = {lane["id"]: lane for lane in board["lanes"]}
    assert list(lanes) == ["todo", "in_progress", "in_review", "done"]
    assert [card["key"] for card in lanes["todo"]["items"]] == [second.key, first.key]
    assert lanes["in_progress"]["items"] == []
    assert [card["key"] for card in lanes["done"]["items"]] == [third.key]
    assert (lanes["done"]["total"], board["total"]) == (1, 3)
    assert board["project"]["open"] == 2


def test_a_lane_counts_all_its_cards_and_loads_the_first_ones(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LANE", 2)
    for n in range(4):
        create(cast.ana, f"Item {n}", project="ENG")
    (lane, *_) = pages.work_page(cast.ana, project="ENG", shape="board")["lanes"]
    assert lane["total"] == 4
    assert [card["key"] for card in lane["items"]] == ["ENG-1", "ENG-2"]


def test_the_item_page_has_one_timeline_with_who_was_told(cast: Cast) -> None:
    whole = create(cast.ana, "Whole", project="ENG")
    item = create(cast.ana, "Lamp", parent=whole.key, assignee="agent-swe", body="Bright")
    create(cast.ana, "Glass", parent=item.key)
    update(cast.swe, item, status="in_progress")
    comment(cast.swe, item, "Which glass?", ask="ana")
    found = pages.item_page(cast.ana, item.key.lower())
    assert found["item"]["body"] == "Bright"
    assert found["item"]["parent"]["key"] == whole.key
    assert found["item"]["waiting"].startswith("Waiting on Ana, ")
    assert [sub["key"] for sub in found["subs"]] == ["ENG-3"]
    assert [row["kind"] for row in found["activity"]] == ["change", "change", "ask"]
    assert [row["text"] for row in found["activity"]][:2] == ["filed it", "moved it to In progress"]
    assert found["activity"][0]["reach"] == "told @agent-swe (assignee)"
    assert found["activity"][2]["reach"] == "told @ana (asked)"
    (ask,) = found["asks"]
    assert (ask["mine"], ask["to"]["handle"], ask["context"]) == (True, "ana", "Which glass?")
    assert pages.ask_card(cast.swe, ask["id"])["mine"] is False
    assert [card["id"] for card in pages.open_asks(cast.ana)] == [ask["id"]]
    with pytest.raises(NotFound):
        pages.ask_card(cast.ana, "nonsense")


def test_projects_count_their_items_by_group(cast: Cast) -> None:
    for status in ("todo", "in_progress", "in_review", "done", "cancelled"):
        create(cast.ana, status, project="ENG", status=status)
    eng, ops = projects.projects(cast.ana)
    assert eng["counts"] == {"todo": 1, "active": 2, "done": 1, "closed": 1}
    assert (eng["key"], eng["name"], eng["open"], eng["left"]) == ("ENG", "Engineering", 3, False)
    assert ops["open"] == 0


def test_overdue_is_the_companys_day_and_ends_with_the_work(cast: Cast) -> None:
    item = create(cast.ana, "Late", project="ENG", due="today")
    (row,) = pages.find_items(cast.ana, "late")
    assert not row["overdue"]
    WorkItem.objects.filter(pk=item.pk).update(due_at=clock.now() - timedelta(days=2))
    assert pages.find_items(cast.ana, "late")[0]["overdue"]
    update(cast.ana, item, status="done")
    assert not pages.find_items(cast.ana, "late")[0]["overdue"]


def test_statements_do_not_grow_with_what_a_page_holds(cast: Cast) -> None:
    def statements() -> list[int]:
        counts = []
        for read in (
            lambda: pages.work_page(cast.ana, project="ENG"),
            lambda: pages.work_page(cast.ana, project="ENG", shape="board"),
            lambda: pages.item_page(cast.ana, "ENG-1"),
            lambda: pages.my_work(cast.ana),
            lambda: projects.projects(cast.ana),
        ):
            with CaptureQueriesContext(
                connection,
            ) as captured:
                read()
            counts.append(len(captured))
        return counts

    def fill(number: int) -> None:
        for n in range(number):
            part = create(cast.swe, f"Part {n}", parent="ENG-1", assignee="ana")
            comment(cast.swe, part, "Which?", ask="ana")
            comment(cast.swe, part, "Which else?", ask="ana")
            comment(cast.qa, WorkItem.objects.get(key="ENG-1"), "hm", ask="ana")

    create(cast.ana, "Whole", project="ENG")
    fill(1)
    before = statements()
    fill(4)
    assert statements() == before
    assert max(before) <= 24


@pytest.mark.covers("TRK-52", "TURN-36")
def test_an_answer_too_large_to_read_is_refused_and_says_what_narrows_it(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole or not at all, never cut in silence."""
    item = create(cast.ana, "Lamp", project="ENG", body="bright " * 100)
    for n in range(20):
        comment(cast.ana, item, f"{n} " + "word " * 50)
    whole = act(cast.swe, "get_work_item", item=item.key, include=["comments", "history"])
    monkeypatch.setattr(reads, "ANSWER_BYTES", len(whole.message.encode()) - 1)
    with pytest.raises(Invalid, match="fewer parts in include") as refusal:
        act(cast.swe, "get_work_item", item=item.key, include=["comments", "history"])
    assert "comment by its id" in refusal.value.message
    assert act(cast.swe, "get_work_item", item=item.key, include=[]).refs == (f"item:{item.key}",)
