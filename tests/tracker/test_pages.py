"""The pages of work, as a signed-in person gets them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from crewlet.kernel import clock
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


@pytest.mark.covers("TRK-19")
def test_a_list_takes_every_key_of_the_grammar_from_its_address(cast: Cast, ana: Client) -> None:
    """Chips say what is set; a wrong key is refused by name."""
    create(cast.ana, "Lamp", project="ENG", priority="high", due="today")
    create(cast.ana, "Wick", project="ENG")
    page = html(ana, "/work?priority=high&due=today&sort=title")
    assert "Lamp" in page
    assert "Wick" not in page
    assert "<span>Due</span><b>is</b><span>Today</span>" in page
    refused = ana.get("/work?asignee=qa")
    assert refused.status_code == 400
    assert "assignee" in refused.content.decode()


@pytest.mark.covers("TRK-27")
def test_a_list_and_a_board_come_in_columns_of_any_axis_and_load_more_of_one(
    cast: Cast, ana: Client
) -> None:
    """The figure of a column is of its whole set."""
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
    assert '>High <span class="num">22</span>' in listed
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


def grow(count: int) -> None:
    """Copies ENG-1 inside the database: objects in between would take longer than the pages."""
    changed = {
        "id": "gen_random_uuid()", "number": "1000 + n", "key": "'ENG-' || (1000 + n)",
        "title": "'Lamp ' || n", "rank": "'z' || lpad(n::text, 5, '0')",
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT quote_ident(column_name) FROM information_schema.columns WHERE table_schema = "
            "current_schema() AND table_name = 'tracker_workitem' AND is_generated = 'NEVER'"
        )
        columns = [name for (name,) in cursor.fetchall()]
        values = ", ".join(changed.get(name, name) for name in columns)
        cursor.execute(
            f"INSERT INTO tracker_workitem ({', '.join(columns)}) SELECT {values} "
            "FROM tracker_workitem, generate_series(1, %s) AS n WHERE key = 'ENG-1'",
            [count],
        )


@pytest.mark.covers("TRK-31")
def test_the_list_is_the_one_grid_with_whole_counts_server_sort_and_a_column_chooser(
    cast: Cast, ana: Client
) -> None:
    """Bands count the set, a head sorts it, a column can go, and the address keeps it."""
    create(cast.ana, "Lamp", project="ENG", assignee="qa", priority="high", due="2026-01-02")
    grow(29)
    create(cast.ana, "Wick", project="ENG", status="done")
    listed = html(ana, "/ui/work?shape=list")
    assert listed.count('class="g-band"') == 2
    assert 'To do <span class="num">30</span>' in listed
    assert 'Done <span class="num">1</span>' in listed
    assert '<th scope="col" data-keep="3" aria-sort="descending"' in listed
    more = listed.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    rest = html(ana, more)
    assert listed.count('data-peek-row="') - 1 + rest.count('data-peek-row="') == 30
    assert "Load more" not in rest and "<table" not in rest
    by_title = html(ana, "/ui/work?shape=list&sort=title&status=todo")
    places = [by_title.index(f">{title}</a>") for title in ("Lamp", "Lamp 1", "Lamp 10", "Lamp 2")]
    assert places == sorted(places)
    assert 'href="?shape=list&amp;status=todo&amp;sort=-title"' in by_title
    turned = html(ana, "/ui/work?shape=list&sort=-title&status=todo")
    assert ">Lamp 9</a>" in turned and ">Lamp</a>" not in turned
    few = html(ana, "/work?shape=list&cols=title,due")
    assert 'data-label="Due"' in few and 'data-label="Assignee"' not in few
    assert "cols=title%2Cdue" in few.split('id="work-region"')[1].split(">")[0], "live keeps it"
    assert '<input type="hidden" name="cols" value="title,due">' in few


@pytest.mark.covers("TRK-22")
def test_an_item_opens_between_its_neighbours_of_the_list_it_was_in(
    cast: Cast, ana: Client
) -> None:
    """Of its project by hand, or of the list that the row was drawn in."""
    for title, priority in (("Lamp", "high"), ("Wick", "low"), ("Glass", "high")):
        create(cast.ana, title, project="ENG", priority=priority)
    plain = html(ana, "/work/ENG-2")
    assert "2 of 3</span>" in plain
    assert 'href="/work/ENG-1" rel="prev"' in plain
    assert 'href="/work/ENG-3" rel="next"' in plain
    listed = html(ana, "/ui/work/ENG?shape=list&priority=high&sort=title")
    link = listed.split('href="/work/ENG-1')[1].split('"')[0].replace("&amp;", "&")
    inside = html(ana, f"/work/ENG-1{link}")
    assert "2 of 2</span>" in inside
    assert 'rel="next"' not in inside
    before = inside.split(' rel="prev"')[0].rpartition('href="')[2]
    assert before.startswith("/work/ENG-3?list=")
    assert "1 of 2</span>" in html(ana, before.rstrip('"').replace("&amp;", "&"))
    assert 'rel="prev"' not in html(ana, f"/work/ENG-2{link}"), "it is not in that list"
    assert ana.get("/work/ENG-1?list=asignee%3Dqa").status_code == 400


@pytest.mark.covers("TRK-27")
def test_a_lane_goes_on_behind_its_last_card_and_keeps_its_total(cast: Cast, ana: Client) -> None:
    """A board draws the first cards, a lane loads the following ones by hand order."""
    create(cast.ana, "Lamp", project="ENG")
    grow(59)
    old = create(cast.ana, "Old", project="ENG", status="done")
    WorkItem.objects.filter(pk=old.pk).update(finished_at=clock.now() - timedelta(days=8))
    board = html(ana, "/ui/work/ENG?shape=board")
    assert board.count('class="card"') == 40
    assert 'id="card-menu"' in board
    assert board.count("data-move=") == 4, "one menu for every card"
    assert 'data-peek="item:ENG-1"' in board
    assert "The first 40 of 60" in board
    more = board.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    rest = html(ana, more)
    assert rest.count('class="card"') == 20
    assert "Lamp 59" in rest and "Lamp 39" not in rest
    assert 'id="foot-todo" hx-swap-oob="outerHTML">That is all of it' in rest
    alone = board.split('<p class="lane-f sub" id="foot-todo">')[1].split('href="')[1]
    whole = html(ana, alone.split('"')[0].replace("&amp;", "&"))
    assert 'To do <span class="num">60</span>' in whole, "without scripts the list shows the rest"


def test_a_page_of_five_thousand_items_costs_at_most_twenty_statements(
    cast: Cast, ana: Client
) -> None:
    for n in range(3):
        create(cast.ana, f"Lamp {n}", project="ENG", assignee="qa")
    act(cast.ana, "update_work_item", item="ENG-1", watch=True)
    grow(5000)
    for path in (
        "/ui/work?shape=list",
        "/ui/work/ENG?shape=board",
        "/ui/work?shape=board&group_by=assignee",
        "/ui/work?shape=list&group_by=due:bucket",
    ):
        with CaptureQueriesContext(connection) as sent:
            html(ana, path)
        assert len(sent) <= 20, path


@pytest.mark.covers("TRK-31")
def test_columns_that_were_chosen_stand_in_the_next_list_until_all_are_asked_for(
    cast: Cast, ana: Client
) -> None:
    create(cast.ana, "One", project="ENG")
    chosen = html(ana, "/work?shape=list&cols=title,due")
    assert "cols=title%2Cdue" in html(ana, "/work/ENG?shape=list"), "another list, the same shape"
    assert html(ana, "/work?shape=list").count('scope="col"') == chosen.count('scope="col"')
    whole = html(ana, "/work?shape=list&cols=all")
    assert whole.count('scope="col"') > chosen.count('scope="col"')
    assert html(ana, "/work?shape=list").count('scope="col"') == whole.count('scope="col"')


@pytest.mark.covers("TRK-18")
def test_filters_by_tag_are_offered_and_shown_by_their_labels(cast: Cast, ana: Client) -> None:
    tags = [{"label": "Night shift", "slug": "night"}, {"label": "Bug"}]
    act(cast.ana, "write_project", project="ENG", tags_add=tags)
    create(cast.ana, "One", project="ENG", labels=["night"])
    page = html(ana, "/work/ENG?shape=list&tag=any:night,bug")
    assert "<b>is any of</b><span>Night shift, Bug</span>" in page
    assert '<option value="any:night">Night shift</option>' in page
    assert "<b>has none of</b><span>Bug</span>" in html(ana, "/work/ENG?tag=none:bug")
    assert "<b>is not</b><span>To do, Done</span>" in html(ana, "/work/ENG?status=!todo,done")
    assert 'name="tag"' not in html(ana, "/work/OPS?shape=list")


@pytest.mark.covers("TRK-22")
def test_asked_figures_stand_over_the_whole_list_and_nothing_where_there_is_nothing(
    cast: Cast, ana: Client
) -> None:
    for tokens in (1000, 3000):
        item = create(cast.ana, "One", project="ENG")
        WorkItem.objects.filter(pk=item.pk).update(tokens_in=tokens)
    page = html(ana, "/work/ENG?shape=list&totals=tokens:sum,tokens:avg")
    assert '<dt>Tokens in all</dt><dd class="num">4k</dd>' in page
    assert '<dt>Tokens of one</dt><dd class="num">2k</dd>' in page
    assert "Tokens in all</dt>" in html(ana, "/ui/work/ENG?shape=board&totals=tokens:sum")
    assert "facts figures" not in html(ana, "/work/ENG?shape=list")
    assert "facts figures" not in html(ana, "/work/OPS?shape=list&totals=tokens:sum")


@pytest.mark.covers("TRK-31")
def test_more_rows_of_a_band_are_a_page_of_their_own_for_whoever_reads_without_scripts(
    cast: Cast, ana: Client
) -> None:
    for number in range(22):
        create(cast.ana, f"Item {number}", project="ENG")
    page = html(ana, "/work/ENG?shape=list")
    more = re.search(r'<a class="btn sm" href="(/work/ENG[^"]+)" hx-get="/ui/work/ENG', page)
    assert more is not None
    rest = html(ana, more[1].replace("&amp;", "&"))
    assert rest.count('<tr id="row-') == 2
    assert "<title>" in rest
