"""What happened in a project, as its page tells it."""

from __future__ import annotations

import pytest
from django.test import Client

from crewlet.kernel.errors import Invalid
from orgs.models.seats import Seat
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import act, comment, create, update
from tests.tracker.conftest import Cast
from tracker.queries import history
from tracker.queries.history import project_history

pytestmark = pytest.mark.django_db


def _told(kind: str = "", before: int = 0) -> list[tuple[str, str, str]]:
    rows = project_history("eng", kind, before).rows
    return [(row["who"]["handle"], row["key"], row["text"]) for row in rows]


@pytest.fixture
def past(cast: Cast) -> str:
    """An item that was filed, moved, spoken of and removed, and a tag; returns the item's key."""
    item = create(cast.ana, "Weigh the lamps", project="ENG")
    update(cast.swe, item, status="in_progress")
    comment(cast.swe, item, "The scale is broken")
    act(cast.ana, "write_project", project="ENG", tags_add=[{"label": "Scale"}])
    act(cast.ana, "remove_work_item", item=item.key)
    create(cast.ana, "Elsewhere", project="OPS")
    return item.key


@pytest.mark.covers("TRK-4")
def test_a_projects_history_says_who_did_what_to_which_item_newest_first(past: str) -> None:
    assert _told() == [
        ("ana", past, "removed it"),
        ("ana", "", "declared the tags scale"),
        ("agent-swe", past, "said: The scale is broken"),
        ("agent-swe", past, "moved it to In progress"),
        ("ana", past, "filed it"),
    ]


@pytest.mark.covers("TRK-4")
def test_history_narrows_to_a_kind_and_refuses_one_that_it_lacks(past: str) -> None:
    assert [text for _, _, text in _told("talk")] == ["said: The scale is broken"]
    assert [text for _, _, text in _told("removals")] == ["removed it"]
    with pytest.raises(Invalid, match="items, talk, removals, project"):
        project_history("ENG", "gossip")


@pytest.mark.covers("TRK-4")
def test_history_goes_on_below_its_last_row_and_ends(
    past: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE", 2)
    seen, before = [], 0
    while True:
        found = project_history("ENG", before=before)
        seen += [row["text"] for row in found.rows]
        if not found.next:
            break
        before = found.next
    assert seen == [text for _, _, text in _told_all(monkeypatch)]


def _told_all(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    monkeypatch.undo()
    return _told()


@pytest.mark.covers("TRK-4")
def test_the_page_of_history_links_its_items_and_only_its_newest_part_is_live(past: str) -> None:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    client = signed_in(Client(headers={"origin": ORIGIN}), person)
    shown = client.get("/work/ENG/history").content.decode()
    assert f'href="/work/{past}"' in shown
    assert 'data-live="project:ENG"' in shown
    assert "That is all of it" in shown
    older = client.get("/work/ENG/history?before=1").content.decode()
    assert "Back to the newest" in older
    assert 'data-live="project:ENG"' not in older
    assert client.get("/work/ENG/history?before=x").status_code == 400


@pytest.mark.covers("TRK-4")
def test_a_program_reads_history_page_by_page(past: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 3)
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    client = signed_in(Client(headers={"origin": ORIGIN}), person)
    first = client.get("/api/v1/work/projects/ENG/history").json()
    assert [row["item"] for row in first["changes"]] == [past, None, past]
    rest = client.get(f"/api/v1/work/projects/ENG/history?before={first['next']}").json()
    assert [row["text"] for row in rest["changes"]] == ["moved it to In progress", "filed it"]
    assert rest["next"] is None
    refused = client.get("/api/v1/work/projects/ENG/history?kind=gossip")
    assert (refused.status_code, refused.json()["detail"]["field"]) == (400, "kind")
