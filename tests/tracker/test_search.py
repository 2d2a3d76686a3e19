"""Items by words: indexed with their write, found by tool, REST, page and palette."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from crewlet.kernel.errors import Invalid
from crewlet.kernel.events import announce
from crewlet.search.models import SearchDoc
from orgs.models.seats import Seat
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import act, comment, create, update
from tests.tracker.conftest import Cast
from tracker.events import TextsChanged
from tracker.models.items import WorkItem


@pytest.fixture
def ana(cast: Cast) -> Client:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(headers={"origin": ORIGIN}), person)


def keys(cast: Cast, q: str) -> list[str]:
    return [row["key"] for row in act(cast.swe, "search_work_items", q=q).data["items"]]


@pytest.mark.covers("KNOW-26", "TRK-23")
def test_a_write_is_found_by_title_text_talk_and_key(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", title="Flickering", body="ERR_CONN_RESET in the driver")
    create(cast.ana, project="ENG", title="Packaging")
    comment(cast.qa, item, "Seen on the Zürich bench")
    for words in ("flickering", "err_conn_reset", "zurich", "driver zzz", "ENG-1"):
        assert keys(cast, words)[0] == "ENG-1", words
    update(cast.ana, item, title="Steady", body="All fine", if_match=item.version)
    assert keys(cast, "flickering") == []
    assert keys(cast, "steady") == ["ENG-1"]


@pytest.mark.covers("KNOW-26")
def test_a_write_that_is_undone_is_not_found(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", title="Lamp")
    with transaction.atomic():
        WorkItem.objects.filter(pk=item.pk).update(title="Halfway")
        announce(TextsChanged((item.pk,)))
        assert keys(cast, "halfway") == ["ENG-1"]
        transaction.set_rollback(True)
    assert keys(cast, "halfway") == []
    with pytest.raises(Invalid):
        create(cast.ana, project="ENG", title="Undone", assignee="nobody-here")
    assert keys(cast, "undone") == []


@pytest.mark.covers("KNOW-33", "TRK-23")
def test_the_answer_says_what_its_state_means(cast: Cast) -> None:
    create(cast.ana, project="ENG", title="Lamp")
    assert "Nothing matched" in act(cast.swe, "search_work_items", q="zebra").message
    SearchDoc.objects.all().delete()
    building = act(cast.swe, "search_work_items", q="lamp")
    assert building.data["state"] == "building"
    assert "still being built" in building.message
    call_command("search", "rebuild")
    assert keys(cast, "lamp") == ["ENG-1"]


@pytest.mark.covers("TRK-23")
def test_rest_and_page_find_and_refuse_as_the_tool_does(cast: Cast, ana: Client) -> None:
    create(cast.ana, project="ENG", title="Lamp")
    found = ana.get("/api/v1/work/search?q=lamp").json()
    assert (found["state"], [row["key"] for row in found["items"]]) == ("hits", ["ENG-1"])
    for query, field in (("q=" + "a" * 401, "q"), ("words=lamp", "words"), ("limit=2", "q")):
        refused = ana.get(f"/api/v1/work/search?{query}")
        assert refused.status_code == 400
        assert refused.json()["detail"]["field"] == field
    assert b"ENG-1" in ana.get("/work/search?q=lamp").content
    assert b"at most 400" in ana.get("/work/search?q=" + "a" * 401).content
    assert b"Nothing matched" in ana.get("/work/search?q=zebra").content
