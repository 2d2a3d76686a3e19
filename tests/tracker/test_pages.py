"""The pages of work, as a signed-in person gets them."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from orgs.models.seats import Seat
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import act, comment, create, update
from tests.tracker.conftest import Cast
from tracker.models.history import Change
from tracker.models.items import WorkItem


@pytest.fixture
def ana(cast: Cast) -> Client:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(headers={"origin": ORIGIN}), person)


def html(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content[:500]
    return answer.content.decode()


def test_my_work_has_a_section_for_each_claim_with_exact_totals(cast: Cast, ana: Client) -> None:
    """Sections are addresses; a tab counts all that is in it."""
    for n in range(23):
        create(cast.omar, f"Mine {n}", project="OPS", assignee="ana")
    given = create(cast.ana, "Given away", project="ENG", assignee="qa")
    comment(cast.qa, given, "Which lamp?", ask="ana")
    queue = html(ana, "/me")
    assert '<a href="/me" aria-current="page">Queue <span class="num">23</span></a>' in queue
    assert '<a href="/me/asked">Asked of me <span class="num">1</span></a>' in queue
    assert "The first 20 of 23" in queue
    asked = html(ana, "/ui/me/asked")
    assert "Which lamp?" in asked
    assert 'action="/act/comment_on_work_item"' in asked
    assert given.title in html(ana, "/ui/me/filed")
    assert "You wait for nobody" in html(ana, "/ui/me/asked-by-me")
    assert ana.get("/me/elsewhere").status_code == 404


def test_a_list_takes_every_key_of_the_grammar_from_its_address(cast: Cast, ana: Client) -> None:
    """TRK-19: chips say what is set; a wrong key is refused by name."""
    create(cast.ana, "Lamp", project="ENG", priority="high", due="today")
    create(cast.ana, "Wick", project="ENG")
    page = html(ana, "/work?priority=high&due=today&sort=title")
    assert "Lamp" in page
    assert "Wick" not in page
    assert "<span>Due</span><b>is</b><span>Today</span>" in page
    refused = ana.get("/work?asignee=qa")
    assert refused.status_code == 400
    assert "assignee" in refused.content.decode()


def test_a_list_and_a_board_come_in_columns_of_any_axis_and_load_more_of_one(
    cast: Cast, ana: Client
) -> None:
    """TRK-27: the figure of a column is of its whole set."""
    for n in range(22):
        create(cast.ana, f"Lamp {n}", project="ENG", assignee="qa", priority="high")
    create(cast.ana, "Loose", project="ENG")
    board = html(ana, "/ui/work/ENG?shape=board&group_by=assignee&sort=title")
    assert '>Tester</h2><b class="num">22</b>' in board
    assert board.count('class="card"') == 21
    more = board.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    rest = html(ana, more)
    assert rest.count('class="card"') == 2
    assert "Load more" not in rest
    listed = html(ana, "/ui/work?shape=list&group_by=priority")
    assert '<span>High</span><span class="num">22</span>' in listed
    assert "Load more" in listed


def test_an_empty_list_says_whether_a_filter_a_project_or_the_tracker_is_empty(
    cast: Cast, ana: Client
) -> None:
    """Each has its own sentence and its own way on."""
    assert "No items yet" in html(ana, "/ui/work?shape=list")
    create(cast.ana, "Lamp", project="ENG")
    assert "No items in Operations" in html(ana, "/ui/work/OPS?shape=list")
    assert "No item passes these filters" in html(ana, "/ui/work?shape=list&q=nothing")


def test_an_item_and_a_project_are_read_beside_a_list(cast: Cast, ana: Client) -> None:
    """The row marks what the rail shows; what is not there says so."""
    create(cast.ana, "Lamp", project="ENG", body="Make it bright.", assignee="qa")
    assert 'data-peek="item:ENG-1"' in html(ana, "/ui/work?shape=list")
    assert "Make it bright." in html(ana, "/ui/peek/item/ENG-1")
    assert "1 open, 0 done" in html(ana, "/ui/peek/project/ENG")
    assert ana.get("/ui/peek/item/ENG-9").status_code == 404


def test_a_stale_move_is_a_conflict_and_opening_a_board_writes_nothing(
    cast: Cast, ana: Client
) -> None:
    """Yesterday's tab does not put a card back."""
    item = create(cast.ana, "Lamp", project="ENG")
    update(cast.swe, item, status="in_review")
    before = (Change.objects.count(), WorkItem.objects.get(pk=item.pk).updated_at)
    board = html(ana, "/work/ENG?shape=board")
    assert 'data-version="2"' in board
    assert (Change.objects.count(), WorkItem.objects.get(pk=item.pk).updated_at) == before
    stale = ana.post(
        "/act/place_work_item",
        {"item": item.key, "if_match": "1", "status": "todo", "op_id": "stale-tab-1"},
    )
    assert stale.status_code == 409
    item.refresh_from_db()
    assert (item.status, item.version) == ("in_review", 2)


def test_a_page_of_five_thousand_items_costs_at_most_twenty_statements(
    cast: Cast, ana: Client
) -> None:
    for n in range(3):
        create(cast.ana, f"Lamp {n}", project="ENG", assignee="qa")
    act(cast.ana, "update_work_item", item="ENG-1", watch=True)
    first = WorkItem.objects.get(key="ENG-1")
    WorkItem.objects.bulk_create(
        WorkItem(
            project=first.project, number=n, key=f"ENG-{n}", title=f"Lamp {n}", rank=f"z{n:05}",
            reporter=first.reporter, reporter_author="ana", reporter_name="Ana",
            status_entered_at=first.created_at, created_at=first.created_at,
            updated_at=first.updated_at,
        )
        for n in range(4, 5004)
    )  # fmt: skip
    for path in (
        "/ui/work?shape=list",
        "/ui/work/ENG?shape=board",
        "/ui/work?shape=board&group_by=assignee",
        "/ui/work?shape=list&group_by=due:bucket",
    ):
        with CaptureQueriesContext(connection) as sent:
            html(ana, path)
        assert len(sent) <= 20, path
