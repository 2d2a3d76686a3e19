"""Changing an item."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from crewlet.kernel.errors import Conflict, Invalid
from orgs.models.notices import Notice
from tests.tracker.company import act, create, mail, read_mail, reasons, update
from tests.tracker.conftest import Cast
from tracker.models.history import Change
from tracker.models.items import ItemBody, WorkItem


@pytest.mark.covers("TRK-7")
def test_the_finish_stamp_follows_the_group(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    update(cast.swe, item, status="in_progress")
    assert (item.group, item.finished_at) == ("active", None)
    update(cast.swe, item, status="done")
    finished = item.finished_at
    assert item.group == "done"
    assert finished is not None
    update(cast.ana, item, status="cancelled")
    assert (item.group, item.finished_at) == ("closed", finished)
    update(cast.ana, item, status="todo")
    assert (item.group, item.finished_at) == ("not_started", None)


@pytest.mark.covers("TRK-7")
def test_the_database_refuses_a_status_outside_its_group(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    with pytest.raises(IntegrityError), transaction.atomic():
        WorkItem.objects.filter(pk=item.pk).update(status="done")


def test_finishing_tells_who_filed_it_and_moving_it_on_does_not(cast: Cast) -> None:
    item = create(cast.cto, project="ENG", assignee="agent-swe")
    update(cast.swe, item, status="in_progress")
    assert mail("agent-cto") == []
    result = update(cast.swe, item, status="done")
    assert reasons("agent-cto") == ["reporter"]
    assert mail("agent-cto")[0].reply_kind == "none"
    assert "@agent-cto (reporter)" in result.message


@pytest.mark.covers("TRK-43", "TRK-44", "TRK-45")
def test_a_hand_over_wakes_the_new_assignee_with_the_reason_and_tells_the_old_one(
    cast: Cast,
) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    read_mail("agent-swe")
    update(cast.cto, item, assignee="qa", reason="Needs a test first")
    assert reasons("qa") == ["assignee"]
    text = mail("qa")[0].payload["text"]
    assert "Reason: assigned" in text
    assert "Changed: assignee: @agent-swe -> @qa" in text
    assert "Why: Needs a test first" in text
    assert reasons("agent-swe") == ["unassigned"]
    assert Notice.objects.get(seat__handle="ana", reason="reporter").actor == "agent-cto"
    change = Change.objects.get(item=item, kind="assignee")
    assert change.reason == "Needs a test first"
    assert change.fields["assignee"]["to"] == str(cast.qa.seat_id)


def test_taking_an_item_off_leaves_it_open(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    update(cast.ana, item, assignee="none")
    assert item.assignee_id is None


@pytest.mark.covers("TRK-6", "TRK-8")
def test_only_what_is_sent_changes_and_nothing_is_said_when_nothing_does(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", priority="high", due="2026-05-01")
    changes = Change.objects.count()
    result = update(cast.ana, item, priority="high")
    assert "nothing changed" in result.message
    assert (Change.objects.count(), item.version) == (changes, 1)
    update(cast.ana, item, title="Better words")
    assert (item.priority, item.title, item.version) == ("high", "Better words", 2)
    assert item.due_at == datetime(2026, 5, 1, 12, tzinfo=UTC)
    act(cast.ana, "update_work_item", item=item.key, due=None)
    item.refresh_from_db()
    assert WorkItem.objects.get(pk=item.pk).due_at is None
    assert not item.due_all_day


@pytest.mark.covers("TRK-8")
def test_a_text_is_saved_as_a_new_revision_against_the_version_that_was_edited(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", body="One @qa")
    read_mail("qa")
    with pytest.raises(Invalid, match="state the version you edited"):
        update(cast.ana, item, body="Two")
    update(cast.ana, item, body="Two @qa @agent-swe", if_match=1)
    assert (item.version, item.body_version) == (2, 2)
    assert reasons("agent-swe") == ["mention"]
    assert mail("qa") == []
    with pytest.raises(Conflict, match="at version 2 by now, not 1") as refusal:
        update(cast.swe, item, body="Three", if_match=1)
    assert refusal.value.detail["current_version"] == 2
    texts = list(ItemBody.objects.order_by("version").values_list("text", flat=True))
    assert texts == ["One @qa", "Two @qa @agent-swe"]
    assert Change.objects.get(kind="fields").fields == {"body": {"from": 7, "to": 18}}


@pytest.mark.covers("TRK-8")
def test_a_revision_is_never_rewritten(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", body="One")
    with pytest.raises(IntegrityError), transaction.atomic():
        ItemBody.objects.filter(item=item).update(text="Other")


@pytest.mark.covers("TRK-10")
def test_a_subtree_moves_with_its_item_and_circles_are_refused(cast: Cast) -> None:
    top, whole, part, leaf = (create(cast.ana, title, project="ENG") for title in "ABCD")
    for child, parent in ((leaf, part), (part, whole)):
        update(cast.ana, child, parent=parent.key)
    update(cast.ana, whole, parent=top.key)
    for item in (whole, part, leaf):
        item.refresh_from_db()
    assert [item.depth for item in (whole, part, leaf)] == [2, 3, 4]
    assert {item.root_id for item in (whole, part, leaf)} == {top.pk}
    with pytest.raises(Invalid, match="itself or a part of it"):
        update(cast.ana, top, parent=leaf.key)
    with pytest.raises(Invalid, match="itself or a part of it"):
        update(cast.ana, top, parent=top.key)
    other = create(cast.ana, project="OPS")
    with pytest.raises(Invalid, match="another project"):
        update(cast.ana, leaf, parent=other.key)
    update(cast.ana, part, parent="none")
    leaf.refresh_from_db()
    assert (part.depth, part.root_id, leaf.depth, leaf.root_id) == (1, None, 2, part.pk)


@pytest.mark.covers("TRK-10")
def test_a_tree_does_not_get_deeper_than_six_by_a_move(cast: Cast) -> None:
    deep = create(cast.ana, project="ENG")
    for _ in range(4):
        deep = create(cast.ana, parent=deep.key)
    pair = create(cast.ana, project="ENG")
    create(cast.ana, parent=pair.key)
    with pytest.raises(Invalid, match="7 levels deep"):
        update(cast.ana, pair, parent=deep.key)


@pytest.mark.covers("TRK-44")
def test_whoever_has_the_whole_is_told_on_the_whole_when_a_part_is_finished(cast: Cast) -> None:
    whole = create(cast.ana, "Whole", project="ENG", assignee="agent-cto")
    parts = [create(cast.cto, f"Part {n}", parent=whole.key, assignee="qa") for n in (1, 2)]
    read_mail("agent-cto")
    for part in parts:
        update(cast.qa, part, status="done")
    letters = mail("agent-cto")
    assert [letter.payload["reason"] for letter in letters] == ["parent_assignee"] * 2
    assert {letter.batch_key for letter in letters} == {f"work:{whole.key}"}
    assert letters[0].work_item is not None
    assert letters[0].work_item["key"] == whole.key
    lines = letters[1].payload["text"].splitlines()
    assert lines[:4] == [
        "Item: ENG-1 — Whole",
        "Reason: a part of your item was finished",
        "Status: todo",
        "Assignee: @agent-cto",
    ]
    assert "Part: ENG-3 — Part 2" in lines
    assert "Changed: status: todo -> done" in lines


def test_watching_is_for_oneself_and_wakes_nobody(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    read_mail("agent-swe")
    update(cast.qa, item, watch=True)
    assert (mail("agent-swe"), item.version) == ([], 1)
    update(cast.ana, item, priority="urgent")
    assert reasons("qa") == ["watcher"]
    update(cast.qa, item, watch=False)
    update(cast.ana, item, priority="low")
    assert reasons("qa") == ["watcher"]
    with pytest.raises(Invalid, match="holder of a seat"):
        update(cast.operator, item, watch=True)


@pytest.mark.covers("TRK-44")
def test_a_persons_own_change_does_not_wake_the_seat_they_hold(cast: Cast) -> None:
    item = create(cast.omar, project="OPS", assignee="me")
    update(cast.omar, item, status="done")
    assert not Notice.objects.filter(seat__handle="omar").exists()


@pytest.mark.covers("TRK-43")
def test_history_numbers_rise_without_a_gap(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    for status in ("in_progress", "in_review", "done"):
        update(cast.ana, item, status=status)
    seqs = list(Change.objects.order_by("at", "seq").values_list("seq", flat=True))
    assert seqs == list(range(seqs[0], seqs[0] + 4))
