"""Queries on real items: what each key finds, in which order, in which columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from crewlet.kernel import clock
from crewlet.kernel.errors import Invalid, NotFound
from orgs.models.seats import Seat
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import act, comment, create, update
from tests.tracker.conftest import Cast
from tracker.filters import Sort, parse_filters, write_cursor
from tracker.models.items import WorkItem
from tracker.queries import pages
from tracker.queries.conditions import Asker
from tracker.queries.listing import Listing, listing
from tracker.query_values import SORTS


def ask(cast: Cast, actor: str = "ana", **given: Any) -> Listing:
    return listing(parse_filters(given), Asker.now(cast[actor], cast.snapshot))


def keys(cast: Cast, actor: str = "ana", **given: Any) -> list[str]:
    return [item.key for item in ask(cast, actor, **{"sort": "created", **given}).page.rows]


def change(item: WorkItem, **columns: Any) -> None:
    WorkItem.objects.filter(pk=item.pk).update(**columns)


@pytest.fixture
def ana(cast: Cast) -> Client:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(headers={"origin": ORIGIN}), person)


@pytest.mark.covers("TRK-19")
def test_every_key_finds_exactly_what_it_says(cast: Cast) -> None:
    lamp = create(cast.ana, "Lamp", project="ENG", assignee="agent-swe", due="today")
    part = create(cast.ana, "Glass", parent=lamp.key, assignee="qa")
    deep = create(cast.ana, "Sand", parent=part.key)
    box = create(cast.omar, "Box", project="OPS", status="done")
    change(lamp, tags=["glass", "late"], tokens_in=70, tokens_out=30, turns=2)
    change(part, tags=["glass"], tokens_in=10, turns=1)
    change(box, finished_at=clock.now() - timedelta(days=40))
    comment(cast.ana, part, "When?", ask="qa")
    update(cast.swe, box, watch=True)
    every = [lamp.key, part.key, deep.key, box.key]
    for given, found in (
        ({"key": "eng-1,ops-1"}, [lamp.key, box.key]),
        ({"key": "!eng-1"}, every[1:]),
        ({"root": lamp.key}, every[:3]),
        ({"has_parent": "true"}, [part.key, deep.key]),
        ({"has_children": "false"}, [deep.key, box.key]),
        ({"has_open_asks": "true"}, [part.key]),
        ({"tag": "any:glass,late"}, [lamp.key, part.key]),
        ({"tag": "all:glass,late"}, [lamp.key]),
        ({"tag": "none:late"}, [part.key, deep.key, box.key]),
        ({"unit": "Operations"}, [box.key]),
        ({"unit": "!OPS"}, every[:3]),
        ({"watcher": "agent-swe"}, [box.key]),
        ({"due": "today"}, [lamp.key]),
        ({"due": "null"}, every[1:]),
        ({"created": "last7"}, every),
        ({"created": "lt:today"}, []),
        ({"finished": "lte:-30d"}, [box.key]),
        ({"closed": "not_null"}, [box.key]),
        ({"closed_since": "-7d"}, every[:3]),
        ({"show_closed": "recent:7d"}, every[:3]),
        ({"show_closed": "recent:9w"}, every),
        ({"assignee": "!agent-swe"}, every[1:]),
        ({"any": [{"assignee": "qa"}, {"status": "done"}]}, [part.key, box.key]),
        ({"any": [{"assignee": "qa"}, {"status": "done"}], "project": "ENG"}, [part.key]),
        ({"preset": "triage"}, [deep.key]),
    ):
        assert keys(cast, **given) == found, given
    assert keys(cast, "agent-swe", preset="my_queue") == [lamp.key, deep.key]
    assert keys(cast, "packer", preset="my_queue") == []


@pytest.mark.covers("TRK-22")
def test_figures_are_over_the_whole_set_and_absent_of_an_empty_one(cast: Cast) -> None:
    for tokens in (10, 20, 60):
        change(create(cast.ana, "Lamp", project="ENG"), tokens_in=tokens)
    wanted = "tokens:sum,tokens:avg,tokens:median,tokens:p90,tokens:count,turns:max"
    found = ask(cast, totals=wanted, limit=1)
    assert found.totals == {
        "tokens:sum": 90, "tokens:avg": 30, "tokens:median": 20, "tokens:p90": 52,
        "tokens:count": 3, "turns:max": 0,
    }  # fmt: skip
    assert ask(cast, totals=wanted, q="nothing").totals == {}


@pytest.mark.covers("TRK-22")
def test_an_item_knows_its_place_in_a_list(cast: Cast) -> None:
    a, b, c = (create(cast.ana, title, project="ENG") for title in "abc")
    place = ask(cast, around=b.key, sort="-title", limit=1).around
    assert place is not None
    assert (place.position, place.previous, place.next) == (2, c.key, a.key)
    with pytest.raises(NotFound, match="around: ENG-9"):
        ask(cast, around="eng-9")


@pytest.mark.covers("TRK-22")
def test_the_place_of_an_item_is_its_place_in_the_whole_list_in_every_order(cast: Cast) -> None:
    for number, (due, priority) in enumerate(
        [("2026-05-02", "high"), (None, "low"), ("2026-05-01", "high"), (None, "high")]
    ):
        create(cast.ana, f"Item {number % 2}", project="ENG", priority=priority, due=due)
    for sort in SORTS:
        for order in (sort, f"-{sort}"):
            keys = [item.key for item in ask(cast, sort=order).page.rows]
            assert len(keys) == 4
            for at, key in enumerate(keys):
                place = ask(cast, around=key, sort=order).around
                assert place is not None
                assert (place.position, place.total, place.previous, place.next) == (
                    at + 1, 4, keys[at - 1] if at else "", keys[at + 1] if at < 3 else "",
                ), (order, key)  # fmt: skip


@pytest.mark.covers("TRK-22")
@pytest.mark.parametrize("sort", ["title", "-title", "finished", "-finished", "-tokens"])
def test_every_order_pages_without_a_gap_or_a_double(cast: Cast, sort: str) -> None:
    """Empty values last both ways."""
    for n in range(6):
        item = create(
            cast.ana, f"Item {n % 4}", project="ENG", status="done" if n % 3 else "todo"
        )  # fmt: skip
        change(item, tokens_in=n % 2)
    whole = keys(cast, sort=sort)
    seen: list[str] = []
    cursor = ""
    while True:
        page = ask(cast, sort=sort, limit=2, cursor=cursor).page
        seen += [item.key for item in page.rows]
        cursor = page.next_cursor
        if not cursor:
            break
    assert seen == whole
    assert len(set(whole)) == 6
    if "finished" in sort:
        assert set(whole[-2:]) == {"ENG-1", "ENG-4"}


def columns(found: Listing) -> dict[str, tuple[int, list[str]]]:
    assert found.groups is not None
    return {
        column.value: (column.total, [item.key for item in column.rows])
        for column in found.groups.columns
    }


@pytest.mark.covers("TRK-27")
def test_a_column_counts_the_whole_set_and_holds_its_first_items(cast: Cast) -> None:
    """Closed axes show their empty columns, open ones only those with items."""
    for n in range(3):
        create(cast.ana, f"Item {n}", project="ENG", assignee="agent-swe")
    done = create(cast.ana, "Done", project="OPS", status="done")
    found = columns(ask(cast, group_by="status", group_limit=2, sort="created"))
    assert list(found) == ["todo", "in_progress", "in_review", "done", "cancelled"]
    assert found["todo"] == (3, ["ENG-1", "ENG-2"])
    assert found["in_review"] == (0, [])
    assert list(columns(ask(cast, group_by="status", status="!done,cancelled"))) == [
        "todo", "in_progress", "in_review",
    ]  # fmt: skip
    by_seat = columns(ask(cast, group_by="assignee", sort="created"))
    assert {value: total for value, (total, _) in by_seat.items()} == {"agent-swe": 3, "": 1}
    more = ask(cast, group_by="status", group="todo", limit=2, sort="created")
    assert [item.key for item in more.page.rows] == ["ENG-1", "ENG-2"]
    assert more.page.total == 3
    assert keys(cast, group_by="assignee", group="") == [done.key]
    with pytest.raises(Invalid, match="status has no column 'finished'"):
        ask(cast, group_by="status", group="finished")


@pytest.mark.covers("TRK-27")
def test_an_item_with_two_tags_stands_in_two_columns_and_counts_once(cast: Cast) -> None:
    item, bare = create(cast.ana, "Lamp", project="ENG"), create(cast.ana, "Box", project="OPS")
    change(item, tags=["glass", "late"])
    found = ask(cast, group_by="tag")
    assert columns(found) == {
        "glass": (1, [item.key]), "late": (1, [item.key]), "": (1, [bare.key]),
    }  # fmt: skip
    assert found.groups is not None
    assert (found.groups.total, found.groups.overlap) == (2, True)
    assert keys(cast, group_by="tag", group="late") == [item.key]
    assert keys(cast, group_by="tag", group="") == [bare.key]


@pytest.mark.covers("TRK-27")
def test_swimlanes_cross_the_columns(cast: Cast) -> None:
    create(cast.ana, "a", project="ENG", assignee="qa")
    create(cast.ana, "b", project="OPS", assignee="qa", status="done")
    found = ask(cast, group_by="assignee", group_by2="project").groups
    assert found is not None
    assert [(lane.value, [c.total for c in lane.columns]) for lane in found.lanes] == [
        ("ENG", [1]), ("OPS", [1]),
    ]  # fmt: skip


@pytest.mark.covers("TRK-27")
def test_too_many_columns_are_refused(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    create(cast.ana, "a", project="ENG")
    create(cast.ana, "b", project="OPS")
    monkeypatch.setattr("tracker.queries.groups.COLUMNS_MOST", 1)
    with pytest.raises(Invalid, match="group_by=project would make 2 columns"):
        ask(cast, group_by="project")
    monkeypatch.setattr("tracker.queries.groups.SET_MOST", 1)
    with pytest.raises(Invalid, match="More than 1 items"):
        ask(cast, group_by="status")


@pytest.mark.covers("TRK-28")
@pytest.mark.parametrize(
    "now",
    [datetime(2026, 3, 11, 14, 59, tzinfo=UTC), datetime(2026, 3, 11, 15, 1, tzinfo=UTC)],
    ids=["the company's 11 March", "the company's 12 March"],
)
def test_due_bands_filters_and_the_mark_agree_on_the_companys_day(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, now: datetime
) -> None:
    """The company lives in Tokyo, its day ends at 15:00 UTC."""
    items = [create(cast.ana, str(n), project="ENG", due=f"2026-03-{n:02}") for n in range(8, 22)]
    change(items[0], status="done", group="done", finished_at=now)
    change(items[4], due_all_day=False, due_at=datetime(2026, 3, 12, 0, 0, tzinfo=UTC))
    create(cast.ana, "whenever", project="ENG")
    monkeypatch.setattr(clock, "now", lambda: now)
    bands = columns(ask(cast, group_by="due:bucket", group_limit=100, sort="created"))
    assert list(bands) == ["overdue", "earlier", "today", "week", "later", ""]
    for band, (total, found) in bands.items():
        more = ask(cast, group_by="due:bucket", group=band, sort="created").page
        assert (total, found) == (more.total, [item.key for item in more.rows]), band
    assert bands["overdue"][1] == keys(cast, due="overdue")
    assert bands["earlier"][1] == keys(cast, due="earlier") == [items[0].key]
    assert bands["today"][1] == keys(cast, due="today")
    assert bands["week"][1] == keys(cast, due="range:tomorrow..eow")
    marked = [
        row["key"] for row in pages.rows_of(ask(cast, sort="created").page.rows) if row["overdue"]
    ]
    assert marked == bands["overdue"][1]


@pytest.mark.parametrize("zone", ["America/Sao_Paulo", "Pacific/Kiritimati"])
def test_a_day_stays_the_day_that_was_written_for_every_reader(
    cast: Cast, ana: Client, zone: str
) -> None:
    """I06: stored and shown 2026-03-12 whatever zone the browser that set it is in."""
    client = ana
    client.cookies["tz"] = zone
    create(cast.ana, "Lamp", project="ENG", due="2026-03-12")
    (row,) = client.get("/api/v1/work?due=2026-03-12").json()["items"]
    assert row["due"] == "2026-03-12"
    assert WorkItem.objects.get().due_all_day


@pytest.mark.covers("TRK-27", "TRK-22")
def test_a_program_gets_columns_totals_and_its_place(cast: Cast, ana: Client) -> None:
    """REST: the same grammar."""
    create(cast.ana, "a", project="ENG", assignee="qa")
    create(cast.ana, "b", project="ENG")
    answer = ana.get(
        "/api/v1/work?group_by=assignee&group_by2=status&totals=turns:sum&around=ENG-1&sort=title"
    ).json()
    assert [(group["value"], group["label"], group["total"]) for group in answer["groups"]] == [
        ("qa", "Tester", 1), ("", "Nobody", 1),
    ]  # fmt: skip
    assert answer["totals"] == {"turns:sum": 0}
    assert answer["around"] == {"position": 1, "previous": None, "next": "ENG-2"}
    assert len(answer["lanes"]) == 5
    rest = ana.get("/api/v1/work?group_by=assignee&group=").json()
    assert [item["key"] for item in rest["items"]] == ["ENG-2"]
    refused = ana.get("/api/v1/work?asignee=qa")
    assert refused.status_code == 400
    assert "assignee" in refused.json()["message"]


@pytest.mark.covers("TRK-19", "TRK-52")
def test_an_agent_asks_with_the_same_grammar(cast: Cast) -> None:
    item = create(cast.ana, "Lamp", project="ENG", assignee="agent-swe")
    change(item, tags=["late"])
    create(cast.ana, "Box", project="OPS", status="done")
    found = act(cast.swe, "list_work_items", label="late", preset="my_queue", updated="today")
    assert [row["key"] for row in found.data["items"]] == [item.key]
    found = act(cast.swe, "list_work_items", filters={"finished": "today"})
    assert [row["key"] for row in found.data["items"]] == ["OPS-1"]
    with pytest.raises(Invalid, match="Did you mean due"):
        act(cast.swe, "list_work_items", filters={"duee": "today"})
    with pytest.raises(Invalid, match="filters: group_by shapes a page"):
        act(cast.swe, "list_work_items", filters={"group_by": "status"})


@pytest.mark.covers("TRK-19")
def test_a_foreign_cursor_is_refused_and_breaks_nothing(cast: Cast, ana: Client) -> None:
    for sort, value, ident in (
        ("due", "soon", "x"), ("priority", "high", "0" * 32), ("title", 3, "0" * 32),
    ):  # fmt: skip
        cursor = write_cursor(Sort(sort), value, ident)
        answer = ana.get("/api/v1/work", {"sort": sort, "cursor": cursor})
        assert (answer.status_code, "cursor" in answer.json()["message"]) == (400, True)


@pytest.mark.covers("TRK-27")
@pytest.mark.parametrize(
    "given",
    [
        {}, {"group_by": "status", "group_by2": "assignee"}, {"group_by": "tag"},
        {"preset": "my_queue", "totals": "tokens:p90,turns:sum"}, {"group_by": "unit"},
    ],
    ids=str,
)  # fmt: skip
def test_a_list_costs_the_same_statements_whatever_it_holds(
    cast: Cast, given: dict[str, Any]
) -> None:
    """Bounded statements."""
    create(cast.ana, "Item", project="ENG", assignee="qa")

    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as sent:
            ask(cast, "qa", **given)
        return len(sent)

    one = cost()
    for n in range(30):
        create(cast.ana, f"Item {n}", project=["ENG", "OPS"][n % 2], assignee=["qa", "omar"][n % 2])
    assert cost() == one <= 5
