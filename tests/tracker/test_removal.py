"""Out of sight and back, and destroyed for good."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from crewlet.files import store
from crewlet.files.collector import collect
from crewlet.kernel import clock
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import Conflict, Forbidden, Gone, Invalid, NotFound
from crewlet.search.models import SearchDoc, SearchPosting
from orgs import epochs
from orgs.models.notices import Notice
from orgs.models.seats import Seat
from orgs.revisions import apply_document
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import COMPANY, act, attempt, comment, create, mail, read_mail, update
from tests.tracker.conftest import Cast
from tests.tracker.test_races import at_once
from tracker.counts import recount
from tracker.models.comments import Comment
from tracker.models.files import Attachment
from tracker.models.history import Change
from tracker.models.items import ItemBody, WorkItem
from tracker.models.projects import ItemKey


@pytest.fixture
def ana(cast: Cast) -> Client:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(headers={"origin": ORIGIN}), person)


def listed(cast: Cast, **query: Any) -> list[str]:
    given = {"sort": "created", "open_only": False, **query}
    return [row["key"] for row in act(cast.swe, "list_work_items", **given).data["items"]]


def remove(cast: Cast, item: WorkItem, **args: Any) -> Any:
    return act(cast.ana, "remove_work_item", item=item.key, **args)


def restore(cast: Cast, item: WorkItem) -> Any:
    return act(cast.ana, "restore_work_item", item=item.key)


def kinds(item: WorkItem) -> list[str]:
    return list(item.changes.order_by("seq").values_list("kind", flat=True))


def a_tree(cast: Cast) -> tuple[WorkItem, WorkItem, WorkItem]:
    """A whole, a part of it and a part of that."""
    whole = create(cast.ana, "Lamp", project="ENG")
    part = create(cast.ana, "Switch", parent=whole.key)
    return whole, part, create(cast.ana, "Spring", parent=part.key)


@pytest.mark.covers("TRK-51", "TRK-23")
def test_a_removed_item_is_in_no_list_count_search_or_day(cast: Cast, ana: Client) -> None:
    kept = create(cast.ana, "Lantern kept", project="ENG", assignee="qa")
    gone = create(cast.ana, "Lantern gone", project="ENG", assignee="qa", body="Zirconium")
    comment(cast.swe, gone, "Which one?", ask="ana")
    act(cast.qa, "update_work_item", item=gone.key, watch=True)
    remove(cast, gone, reason="Filed twice.")
    assert listed(cast, project="ENG") == [kept.key]
    assert listed(cast, removed=True) == [gone.key]
    assert listed(cast, filters={"any": '[{"key": "ENG-2"}]'}) == []
    found = act(cast.swe, "search_work_items", q="zirconium").data["items"]
    assert found == []
    day = act(cast.qa, "my_work").data
    assert (day["assigned_total"], day["watching_total"]) == (1, 0)
    mine = act(cast.ana, "my_work").data
    assert (mine["filed_total"], mine["asked_of_me_total"]) == (1, 0)
    assert act(cast.swe, "my_work").data["asked_by_me_total"] == 0
    counts = ana.get("/api/v1/work/projects/ENG").json()["counts"]
    assert counts["todo"] == 1
    assert recount(check=True) == []
    for path in ("/work/ENG", "/work?shape=list", "/ui/find?q=lantern", "/work/search?q=lantern"):
        page = ana.get(path).content.decode()
        assert ("Lantern kept" in page, "Lantern gone" in page) == (True, False), path
    restore(cast, gone)
    assert listed(cast, project="ENG") == [kept.key, gone.key]
    assert act(cast.ana, "my_work").data["asked_of_me_total"] == 1
    assert [row["key"] for row in act(cast.swe, "search_work_items", q="zirconium").data["items"]]
    assert recount(check=True) == []
    assert kinds(gone)[-2:] == ["removed", "restored"]
    assert gone.changes.get(kind="removed").reason == "Filed twice."


@pytest.mark.covers("TRK-51")
def test_every_write_on_a_removed_item_is_refused_by_its_name(cast: Cast) -> None:
    gone = create(cast.ana, project="ENG")
    there = create(cast.ana, "There", project="ENG")
    remove(cast, gone)
    calls: list[tuple[Any, str, dict[str, Any]]] = [
        (cast.swe, "update_work_item", {"item": gone.key, "status": "done"}),
        (cast.swe, "comment_on_work_item", {"item": gone.key, "body": "Still on it"}),
        (cast.swe, "create_work_item", {"title": "Part", "parent": gone.key}),
        (cast.swe, "update_work_item", {"item": there.key, "parent": gone.key}),
        (cast.ana, "place_work_item", {"item": gone.key, "if_match": gone.version + 1}),
        (cast.ana, "place_work_item",
         {"item": there.key, "if_match": there.version, "before": gone.key}),
        (cast.ana, "remove_work_item", {"item": gone.key}),
    ]  # fmt: skip
    for actor, name, args in calls:
        with pytest.raises(Gone, match=rf"{gone.key} was removed by Ana.*restore_work_item"):
            act(actor, name, **args)
    assert kinds(gone) == ["created", "removed"]
    shown = act(cast.swe, "get_work_item", item=gone.key).message
    assert "Removed by Ana" in shown


@pytest.mark.covers("TRK-51")
def test_parts_go_with_their_whole_only_when_that_is_said(cast: Cast) -> None:
    whole, part, leaf = a_tree(cast)
    with pytest.raises(Conflict, match=r"ENG-1 has parts: ENG-2, ENG-3\. Say subtree=true"):
        remove(cast, whole)
    done = remove(cast, whole, subtree=True)
    assert sorted(done.data["items"]) == [whole.key, part.key, leaf.key]
    assert listed(cast) == []


@pytest.mark.covers("TRK-51")
def test_restore_brings_back_exactly_what_went_together(cast: Cast) -> None:
    """A part that was removed earlier stays removed."""
    whole, part, leaf = a_tree(cast)
    remove(cast, leaf)
    remove(cast, whole, subtree=True)
    with pytest.raises(Conflict, match=r"ENG-3 is a part of ENG-2, which is removed"):
        restore(cast, leaf)
    back = restore(cast, part)  # any one of them names them all
    assert sorted(back.data["items"]) == [whole.key, part.key]
    assert listed(cast) == [whole.key, part.key]
    assert act(cast.swe, "get_work_item", item=part.key, include=["links"]).data["parts"] == []
    restore(cast, leaf)
    assert listed(cast) == [whole.key, part.key, leaf.key]
    with pytest.raises(Conflict, match="is not removed"):
        restore(cast, leaf)
    assert recount(check=True) == []


@pytest.mark.covers("TRK-51", "ORG-122")
def test_only_people_remove_and_restore(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    for name in ("remove_work_item", "restore_work_item", "purge_work_item"):
        with pytest.raises((Forbidden, NotFound)):
            attempt(cast.swe, name, item=item.key).unwrap()
    item.refresh_from_db()
    assert item.removed_at is None


@pytest.mark.covers("TRK-44", "TRK-51")
def test_its_people_hear_of_a_removal_once_and_owe_nothing(cast: Cast) -> None:
    whole = create(cast.swe, "Lamp", project="ENG", assignee="qa")
    create(cast.swe, "Switch", parent=whole.key, assignee="qa")
    create(cast.swe, "Spring", parent=whole.key, assignee="packer")
    read_mail("qa", "agent-swe", "packer", "agent-cto")
    remove(cast, whole, subtree=True, reason="Not our lamp.")
    for handle, key, why in (
        ("qa", whole.key, "removed; it is your item"),
        ("agent-swe", whole.key, "removed; you filed it"),
        ("packer", "ENG-3", "removed; it is your item"),
    ):
        (letter,) = mail(handle)
        assert letter.payload["item"]["key"] == key
        assert letter.payload["reason_words"] == why
        assert "> Not our lamp." in letter.payload["text"]
        assert "takes no writes until a person restores it" in letter.payload["text"]
        assert letter.reply_kind == "none"
    assert mail("agent-cto") == []


@pytest.mark.covers("TRK-44")
def test_the_lead_hears_of_a_removal_that_reaches_nobody_else(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    read_mail("agent-cto")
    remove(cast, item)
    (letter,) = mail("agent-cto")
    assert letter.payload["reason"] == "lead_fallback"
    assert letter.payload["change"] == "removed"


@pytest.mark.covers("TRK-25", "TRK-51")
def test_the_trash_lists_removals_newest_first_each_with_its_way_back(
    cast: Cast, ana: Client
) -> None:
    assert "The trash is empty" in ana.get("/work/trash").content.decode()
    whole, part, _ = a_tree(cast)
    other = create(cast.ana, "Wick", project="OPS")
    update(cast.ana, other, status="done")
    remove(cast, whole, subtree=True)
    remove(cast, other)
    page = ana.get("/work/trash").content.decode()
    assert "Ana removed 3 items" in page
    assert page.index("Wick") < page.index("Lamp") < page.index("Spring")
    assert page.count('action="/act/restore_work_item"') == 2
    shown = ana.get(f"/work/{part.key}").content.decode()
    assert "Ana removed this item." in shown
    assert 'id="composer"' not in shown
    back = ana.post("/act/restore_work_item", {"item": whole.key}, headers={"HX-Request": "true"})
    assert back.status_code == 204, back.content
    assert "Lamp" not in ana.get("/ui/work/trash").content.decode()
    assert 'data-undo="undo-remove"' in ana.get(f"/work/{whole.key}").content.decode()


@pytest.mark.covers("TRK-51")
def test_a_program_removes_lists_and_restores_by_rest(cast: Cast, ana: Client) -> None:
    whole, _, _ = a_tree(cast)
    url = f"/api/v1/work/{whole.key}"
    refused = ana.delete(url, headers={"Idempotency-Key": "a"})
    assert (refused.status_code, refused.json()["detail"]["field"]) == (409, "subtree")
    gone = ana.delete(f"{url}?subtree=true", headers={"Idempotency-Key": "b"})
    assert gone.status_code == 200, gone.content
    rows = ana.get("/api/v1/work?removed=true&sort=-removed").json()
    assert rows["total"] == 3
    assert all(row["removed_at"] for row in rows["items"])
    frozen = ana.post(
        f"{url}/comments", json.dumps({"body": "x"}), content_type="application/json",
        headers={"Idempotency-Key": "c"},
    )  # fmt: skip
    assert (frozen.status_code, frozen.json()["error"]) == (410, "gone")
    back = ana.post(f"{url}/restore", headers={"Idempotency-Key": "d"})
    assert back.status_code == 200, back.content
    assert ana.get("/api/v1/work").json()["total"] == 3


def work(*words: str) -> tuple[int, dict[str, Any]]:
    """Runs `manage.py work …` and returns its exit code and its answer."""
    out, code = io.StringIO(), 0
    try:
        call_command("work", *words, "--json", stdout=out)
    except SystemExit as end:
        code = int(str(end.code))
    return code, json.loads(out.getvalue())


@pytest.mark.covers("TRK-51")
def test_a_purge_needs_the_key_typed_again(cast: Cast) -> None:
    create(cast.ana, project="ENG")
    code, answer = work("purge", "ENG-1", "--key", "ENG-2", "--reason", "Wrong.")
    assert (code, answer["detail"]["field"]) == (2, "key")
    assert WorkItem.objects.filter(key="ENG-1").exists()
    assert work("remove", "ENG-1")[0] == 0
    assert [row["key"] for row in work("list", "--removed")[1]["items"]] == ["ENG-1"]
    assert work("restore", "ENG-1")[0] == 0


@pytest.mark.covers("TRK-51", "TRK-2")
def test_a_purge_destroys_all_of_an_item_and_says_so_for_ever(cast: Cast, ana: Client) -> None:
    top = create(cast.ana, "Top", project="ENG")
    item = create(cast.ana, "Zirconium", parent=top.key, body="Secret", assignee="qa")
    below = create(cast.ana, "Below", parent=item.key)
    deepest = create(cast.ana, "Deepest", parent=below.key)
    comment(cast.swe, item, "Which?", ask="ana")
    comment(cast.ana, item, "That one", reply_to=str(item.comments.get().pk))
    stored = store.put(io.BytesIO(b"lamp"))
    sent = {"name": "a.txt", "sha256": stored.sha256, "upload": store.ticket(stored)}
    perform(
        cast.ana, "attach_file", {"item": item.key, **sent}, op_id=None, door=Door.REST
    ).unwrap()
    read_mail("agent-cto")
    code, answer = work("purge", item.key, "--key", "eng-2", "--reason", "Customer data.")
    assert (code, answer["parts"], answer["told"]) == (0, [below.key], "@agent-cto")
    for rows in (Comment, Attachment):
        assert not rows.objects.exists()
    assert not ItemBody.objects.filter(item_id=item.pk).exists()
    assert not Change.objects.filter(item_id=item.pk).exists()
    assert not SearchDoc.objects.filter(ident=str(item.pk)).exists()
    assert not SearchPosting.objects.filter(term__startswith="zirconium").exists()
    assert not Notice.objects.filter(ref=f"item:{item.key}").exists()
    assert store.path_of(stored.key).exists()
    collect(clock.now() + timedelta(hours=25))
    assert not store.path_of(stored.key).exists()
    below.refresh_from_db()
    deepest.refresh_from_db()
    assert (below.parent_id, below.depth, below.root_id) == (top.pk, 2, top.pk)
    assert (deepest.parent_id, deepest.depth, deepest.root_id) == (below.pk, 3, top.pk)
    assert recount(check=True) == []
    (letter,) = mail("agent-cto")
    assert letter.payload["reason"] == "purged"
    for word in ("ENG-2", "Operator (shell)", "Customer data."):
        assert word in letter.payload["text"]
    assert "Zirconium" not in json.dumps(letter.payload)
    row = Change.objects.get(kind="purged")
    assert (row.item_id, row.reason, row.fields["key"]["from"]) == (None, "Customer data.", "ENG-2")
    with pytest.raises(Gone, match=r"ENG-2 was purged on .* by Operator \(shell\): Customer data"):
        act(cast.swe, "get_work_item", item="eng-2")
    page = ana.get("/work/ENG-2")
    assert page.status_code == 410
    assert "was purged" in page.content.decode()
    assert ItemKey.objects.get(key="ENG-2").item_id is None
    assert create(cast.ana, "Next", project="ENG").key == "ENG-5"


@pytest.mark.covers("TRK-51")
def test_the_parts_of_a_purged_top_become_tops_and_removed_ones_stay_removed(cast: Cast) -> None:
    whole, part, leaf = a_tree(cast)
    remove(cast, whole, subtree=True)
    assert work("purge", whole.key, "--key", whole.key, "--reason", "Twice.")[0] == 0
    part.refresh_from_db()
    leaf.refresh_from_db()
    assert (part.parent_id, part.root_id, part.depth) == (None, None, 1)
    assert (leaf.parent_id, leaf.root_id, leaf.depth) == (part.pk, part.pk, 2)
    assert listed(cast) == []
    restore(cast, leaf)
    assert listed(cast) == [part.key, leaf.key]
    assert recount(check=True) == []
    with pytest.raises(Invalid, match="removed"):
        listed(cast, filters={"any": '[{"removed": "true"}]'})


@pytest.mark.covers("TRK-51")
@pytest.mark.django_db(transaction=True)
def test_no_part_lands_below_a_whole_that_is_being_removed(transactional_db: None) -> None:
    """Removal and a new part of the same whole, at once, over and over."""
    epochs.forget()
    apply_document(engine_actor("tests"), COMPANY, summary="for the race")
    crew = Cast(epochs.active())
    for n in range(6):
        whole = create(crew.ana, f"Whole {n}", project="ENG")
        outcomes = at_once(
            partial(act, crew.ana, "remove_work_item", item=whole.key, subtree=True),
            partial(act, crew.swe, "create_work_item", title="Part", parent=whole.key),
        )
        refused = [each for each in outcomes if isinstance(each, Exception)]
        assert all(isinstance(each, Gone) for each in refused), refused
        parts = WorkItem.objects.filter(parent=whole)
        assert not parts.filter(removed_at=None).exists()
        assert parts.count() == 1 - len(refused)
    assert recount(check=True) == []
    epochs.forget()


@pytest.mark.covers("UI-25")
def test_the_fields_of_a_removed_item_are_read_and_not_offered(cast: Cast) -> None:
    item = create(cast.ana, "One", project="ENG", priority="high")
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    client = signed_in(Client(headers={"origin": ORIGIN}), person)
    assert client.get(f"/ui/items/{item.key}/fields").content.decode().count("<form") == 5
    act(cast.ana, "remove_work_item", item=item.key)
    fields = client.get(f"/ui/items/{item.key}/fields").content.decode()
    assert "<form" not in fields
    assert "High</dd>" in fields
