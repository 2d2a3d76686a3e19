"""Dragging an item."""

from __future__ import annotations

import pytest

from crewlet.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from orgs.models.notices import Notice
from tests.tracker.company import act, attempt, create, mail, read_mail
from tests.tracker.conftest import Cast
from tracker import rank
from tracker.actions.place import respread
from tracker.models.history import Change
from tracker.models.items import WorkItem


def order(project: str = "ENG") -> str:
    titles = WorkItem.objects.filter(project__key=project).order_by("rank")
    return "".join(titles.values_list("title", flat=True))


def place(cast: Cast, item: WorkItem, **where: str) -> None:
    item.refresh_from_db()
    act(cast.ana, "place_work_item", item=item.key, if_match=item.version, **where)


@pytest.mark.covers("TRK-29")
def test_an_item_goes_between_its_neighbours_and_nothing_else_of_it_changes(cast: Cast) -> None:
    a, b, c = (create(cast.ana, title, project="ENG") for title in "abc")
    history, updated = Change.objects.count(), c.updated_at
    place(cast, c, before=a.key)
    assert order() == "cab"
    place(cast, c, after=a.key)
    assert order() == "acb"
    place(cast, a, after=b.key)
    assert order() == "cba"
    c.refresh_from_db()
    assert (c.version, c.updated_at, Change.objects.count()) == (1, updated, history)


@pytest.mark.covers("TRK-29")
def test_a_new_lane_is_a_change_of_status_that_people_hear_of(cast: Cast) -> None:
    a = create(cast.omar, "a", project="OPS", assignee="packer")
    b = create(cast.omar, "b", project="OPS")
    read_mail("packer")
    place(cast, b, before=a.key, status="in_review")
    b.refresh_from_db()
    assert (order("OPS"), b.status, b.group, b.version) == ("ba", "in_review", "active", 2)
    place(cast, a, status="done")
    assert [letter.payload["reason"] for letter in mail("packer")] == ["assignee"]
    assert Notice.objects.get(seat__handle="omar", reason="reporter").actor == "ana"


@pytest.mark.covers("TRK-29")
def test_a_stale_version_a_foreign_neighbour_and_two_neighbours_are_refused(cast: Cast) -> None:
    a, b = create(cast.ana, "a", project="ENG"), create(cast.ana, "b", project="OPS")
    for args, error, names in (
        ({"if_match": 7}, Conflict, "version 1, not 7"),
        ({"if_match": 1, "before": b.key}, Invalid, "another project"),
        ({"if_match": 1, "before": a.key, "after": a.key}, Invalid, "one neighbour"),
        ({"if_match": 1, "after": "ENG-9"}, NotFound, "ENG-9"),
    ):
        with pytest.raises(error, match=names):
            attempt(cast.ana, "place_work_item", item=a.key, **args).unwrap()


def test_agents_do_not_drag(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    with pytest.raises((Forbidden, NotFound)):
        attempt(cast.swe, "place_work_item", item=item.key, if_match=1).unwrap()


@pytest.mark.covers("TRK-30")
def test_endless_drags_into_one_gap_stay_in_order_with_short_keys(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rank, "RESPREAD_AT", 14)
    a, b, c = (create(cast.ana, title, project="ENG") for title in "abc")
    for _ in range(40):
        place(cast, c, after=a.key)
        place(cast, b, after=a.key)
        assert order() == "abc"
    keys = WorkItem.objects.values_list("rank", flat=True)
    assert all(len(key) <= rank.RESPREAD_AT for key in keys)


@pytest.mark.covers("TRK-30")
def test_a_respread_keeps_the_order_and_shortens_the_keys(cast: Cast) -> None:
    items = [create(cast.ana, title, project="ENG") for title in "abcdefgh"]
    low = items[0].rank
    for item in items[1:]:
        item.rank = low = low + "1" * 5
    WorkItem.objects.bulk_update(items, ["rank"])
    mover = create(cast.ana, "z", project="ENG")
    respread(mover.project_id, around=items[4].pk, without=mover.pk)
    keys = list(
        WorkItem.objects.exclude(pk=mover.pk).order_by("rank").values_list("rank", flat=True)
    )
    assert order().replace("z", "") == "abcdefgh"
    assert max(map(len, keys)) <= rank.RESPREAD_AT // 2
