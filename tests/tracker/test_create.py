"""Filing an item."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crewlet.kernel.actors import TurnRef
from crewlet.kernel.errors import Invalid
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import AuditEntry, EngineEvent
from orgs.models.notices import Notice
from tests.tracker.company import act, attempt, create, mail, reasons
from tests.tracker.conftest import Cast
from tracker.models.history import Change
from tracker.models.items import ItemBody, WorkItem
from tracker.models.projects import ItemKey, Project


@pytest.mark.covers("TRK-2", "TRK-6", "TRK-45")
def test_an_item_gets_the_next_key_of_its_project_and_wakes_its_assignee(cast: Cast) -> None:
    first = create(
        cast.ana, "Fix the switch", project="eng", assignee="@agent-swe", body="It hums."
    )
    second = create(cast.ana, "And the plug", project="ENG")
    assert (first.key, second.key) == ("ENG-1", "ENG-2")
    assert first.rank < second.rank
    assert ItemBody.objects.get(item=first).text == "It hums."
    (letter,) = mail("agent-swe")
    assert (letter.kind, letter.reply_kind, letter.reply_surface) == ("work_item", "tool", "work")
    assert letter.batch_key == letter.conversation == "work:ENG-1"
    assert letter.work_item is not None
    assert letter.work_item["key"] == "ENG-1"
    assert not letter.agent_caused
    lines = letter.payload["text"].splitlines()
    assert lines[0] == "Item: ENG-1 — Fix the switch"
    assert lines[1] == "Reason: assigned"
    assert "From: Ana (@ana, human)" in lines
    assert "Changed: assignee: none -> @agent-swe" in lines
    assert "> It hums." in lines
    assert lines[-1] == "Answer with comment_on_work_item on ENG-1."
    assert letter.payload["item"] == {
        "key": "ENG-1", "title": "Fix the switch", "status": "todo", "assignee": "agent-swe",
    }  # fmt: skip


@pytest.mark.covers("TRK-5")
def test_without_an_assignee_the_lead_hears_and_the_answer_says_triage(cast: Cast) -> None:
    result = act(cast.ana, "create_work_item", title="Who does this", project="ENG")
    assert "assigned to nobody (triage)" in result.message
    assert "@agent-cto (lead fallback)" in result.message
    assert reasons("agent-cto") == ["lead_fallback"]
    assert mail("agent-cto")[0].reply_kind == "none"


@pytest.mark.covers("TRK-5")
def test_a_default_assignee_gets_what_nobody_was_named_for(cast: Cast) -> None:
    swe = cast.snapshot.seat_ids["agent-swe"]
    Project.objects.filter(key="ENG").update(default_assignee_id=swe)
    assert create(cast.ana, project="ENG").assignee_id == swe
    assert create(cast.ana, project="ENG", assignee="none").assignee_id is None


def test_a_human_lead_is_told_by_a_notice(cast: Cast) -> None:
    create(cast.ana, "Order boxes", project="OPS")
    notice = Notice.objects.get(seat__handle="omar")
    assert (notice.reason, notice.ref, notice.kind) == ("lead_fallback", "item:OPS-1", "work_item")
    assert "Order boxes" in notice.title


@pytest.mark.covers("ORG-15")
def test_a_seat_files_in_its_own_project_when_it_names_none(cast: Cast) -> None:
    item = create(cast.packer, "Tape is out")
    assert item.key == "OPS-1"
    assert item.reporter_id == cast.packer.seat_id


def test_a_lead_who_files_unassigned_work_of_their_own_is_not_woken(cast: Cast) -> None:
    result = act(cast.cto, "create_work_item", title="Later", project="ENG")
    assert "Nobody was told." in result.message
    assert mail("agent-cto") == []


def test_mentions_in_the_text_wake_and_unknown_ones_are_reported(cast: Cast) -> None:
    result = act(
        cast.cto, "create_work_item", title="Look", project="ENG",
        body="@qa please, and @ghost too; not `@agent-swe`.",
    )  # fmt: skip
    assert reasons("qa") == ["mention"]
    assert mail("agent-swe") == []
    assert "Reached nobody: @ghost" in result.message


@pytest.mark.covers("TRK-52", "TURN-36")
@pytest.mark.parametrize(
    ("args", "field", "names"),
    [
        ({"project": "ENX"}, "project", "ENG"),
        ({"project": "ENG", "assignee": "agent-sw"}, "assignee", "@agent-swe"),
        ({"project": "ENG", "due": "soonish"}, "due", "soonish"),
        ({"project": "ENG", "decision": None, "colour": "red"}, "colour", "colour"),
        ({"project": "ENG", "title": "x" * 301}, "title", "title"),
        ({"project": "ENG", "title": "  "}, "title", "title"),
        ({"project": "ENG", "body": "x" * 32769}, "body", "32769 bytes"),
        ({}, "project", "ENG, OPS"),
    ],
)
def test_a_bad_argument_is_refused_by_name_and_leaves_nothing(
    cast: Cast, args: dict[str, Any], field: str, names: str
) -> None:
    """A limit is named, nothing is cut."""
    given = {"title": "Good"} | args
    with pytest.raises(Invalid, match=names) as refusal:
        attempt(cast.ana, "create_work_item", **given).unwrap()
    assert refusal.value.detail["field"] == field
    assert not WorkItem.objects.exists()


@pytest.mark.covers("TRK-10")
def test_parts_make_a_tree_of_six_levels_in_one_project(cast: Cast) -> None:
    item = create(cast.ana, "Level 1", project="ENG")
    root = item
    for level in range(2, 7):
        item = create(cast.ana, f"Level {level}", parent=item.key)
        assert (item.depth, item.root_id, item.project.key) == (level, root.pk, "ENG")
    with pytest.raises(Invalid, match="6 levels deep"):
        create(cast.ana, "Level 7", parent=item.key)
    with pytest.raises(Invalid, match="a part lives in the project of its whole"):
        create(cast.ana, "Elsewhere", parent=root.key, project="OPS")


@pytest.mark.covers("TRK-43")
def test_history_audit_and_feed_each_have_one_row(cast: Cast) -> None:
    item = create(cast.swe, "Measured", project="ENG", assignee="qa")
    change = Change.objects.get()
    assert (change.kind, change.actor, change.actor_kind) == ("created", "agent-swe", "agent")
    assert change.turn_id is not None
    assert change.notified == [{"handle": "qa", "reason": "assignee"}]
    assert AuditEntry.objects.get(action="create_work_item").refs == [f"item:{item.key}"]
    event = EngineEvent.objects.get(type="work_item_created")
    assert set(event.topics) == {"item:ENG-1", "project:ENG", "work", "home"}


@pytest.mark.covers("TRK-52")
def test_the_same_operation_files_once(cast: Cast) -> None:
    args = {"title": "Once", "project": "ENG"}
    first = attempt(cast.ana, "create_work_item", "op-1", **args)
    again = attempt(cast.ana, "create_work_item", "op-1", **args)
    assert again.replayed
    assert again.unwrap().data == first.unwrap().data
    assert WorkItem.objects.count() == 1


@pytest.mark.covers("TRK-2")
def test_keys_are_found_in_any_case_and_a_used_number_is_never_given_again(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    assert act(cast.swe, "get_work_item", item="eng-1").refs == ("item:ENG-1",)
    Change.objects.all().delete()
    ItemKey.objects.filter(item=item).update(current=False)
    WorkItem.objects.filter(pk=item.pk).delete()
    assert create(cast.ana, project="ENG").key == "ENG-2"
    assert ItemKey.objects.get(key="ENG-1").item is None


def test_text_that_postgres_cannot_store_is_stored_without_the_bad_characters(cast: Cast) -> None:
    item = create(cast.ana, "nul\x00l \ud800 ok", project="ENG", body="a\x00b 🏮 \u202e")
    assert item.title == "null ? ok"
    assert ItemBody.objects.get(item=item).text == "ab 🏮 \u202e"


@pytest.mark.covers("TRK-35", "TRK-36")
def test_filing_with_an_ask_puts_the_question_to_somebody(cast: Cast) -> None:
    item = create(
        cast.cto, "Buy a scope", project="ENG", ask="ana",
        decision={
            "question": "Buy it?", "role": "approver",
            "options": [{"id": "yes", "label": "Yes"}, {"id": "no", "label": "No"}],
        },
    )  # fmt: skip
    ask = item.comments.get()
    assert (ask.ask_handle, ask.body, ask.answered_at) == ("ana", "Buy it?", None)
    assert Notice.objects.filter(seat__handle="ana", reason="asked").count() == 1


def test_a_null_where_a_text_belongs_is_read_as_not_sent(cast: Cast) -> None:
    item = create(
        cast.ana, "Lamp", project="ENG", body=None, status=None, priority=None, parent=None,
        ask=None, decision=None, assignee=None, due=None,
    )  # fmt: skip
    assert (item.status, item.priority, item.parent) == ("todo", "none", None)
    act(cast.ana, "update_work_item", item=item.key, reason=None, status="done", assignee=None)
    act(cast.ana, "comment_on_work_item", item=item.key, body="x", ask=None, choice=None)
    assert (
        act(cast.ana, "list_work_items", status=None, limit=None, open_only=None).data["total"] == 0
    )
    with pytest.raises(Invalid, match="title"):
        create(cast.ana, None, project="ENG")  # type: ignore[arg-type]  # the test is about that


@pytest.mark.covers("RUN-12")
def test_what_a_turn_files_carries_the_trace_of_the_turn(cast: Cast) -> None:
    """Into the letter and the event that the write leaves."""
    trace = "5e" * 16
    swe = replace(cast.swe, turn=TurnRef(new_id(), "work", trace=trace))
    create(swe, "Measured", project="ENG", assignee="qa")
    assert mail("qa")[0].trace == trace
    assert EngineEvent.objects.get(type="work_item_created").trace_id == trace
    create(cast.ana, "By hand", project="ENG", assignee="qa")
    assert mail("qa")[1].trace not in ("", trace)
