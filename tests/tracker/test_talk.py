"""Comments, asks and answers."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from crewlet.kernel.errors import Conflict, ErrorCode, Forbidden, Invalid, NotFound
from crewlet.kernel.models import EngineEvent
from orgs.inbox import SOURCES
from orgs.models.notices import Notice
from tests.tracker.company import act, attempt, comment, create, mail, read_mail, reasons
from tests.tracker.conftest import Cast
from tracker.models.comments import Comment, CommentKind
from tracker.models.items import WorkItem

DECISION: dict[str, Any] = {
    "question": "Which driver?",
    "options": [
        {"id": "led", "label": "LED driver", "detail": "Lasts"},
        {"id": "coil", "label": "Coil"},
    ],
    "role": "approver",
    "recommended": "led",
    "rationale": "It lasts.",
}


@pytest.mark.covers("TRK-45")
def test_a_persons_comment_wakes_the_assignee_for_an_answer(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    read_mail("agent-swe")
    comment(cast.ana, item, "How far is it?")
    (letter,) = mail("agent-swe")
    assert (letter.payload["reason"], letter.reply_kind) == ("assignee", "tool")
    assert "Reason: a comment on your item" in letter.payload["text"]
    assert "> How far is it?" in letter.payload["text"]


def test_an_agents_comment_tells_the_assignee_and_owes_nothing(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    read_mail("agent-swe")
    comment(cast.qa, item, "I saw it too.")
    (letter,) = mail("agent-swe")
    assert (letter.reply_kind, letter.agent_caused) == ("none", True)
    assert letter.parent_turn == Comment.objects.get(author="qa").turn_id


@pytest.mark.covers("TRK-34")
def test_mentions_and_display_names_wake_and_ambiguous_ones_are_reported(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    result = comment(cast.ana, item, "请@agent-swe看一下, @Tester too; `@packer` @nobody-here")
    assert reasons("agent-swe") == ["mention"]
    assert reasons("qa") == ["mention"]
    assert mail("packer") == []
    assert "Reached nobody: @nobody-here" in result.message
    assert Comment.objects.get(author="ana").mentions == ["agent-swe", "qa"]


@pytest.mark.covers("TRK-34")
def test_a_reply_tells_who_wrote_in_the_thread_and_mentions_nobody_by_itself(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    first = comment(cast.qa, item, "A question").data["comment"]
    read_mail("qa", "agent-swe")
    comment(cast.ana, item, "An answer", reply_to=first)
    assert reasons("qa") == ["thread"]
    assert mail("qa")[0].reply_kind == "none"


@pytest.mark.covers("TRK-35")
def test_a_comment_that_reaches_nobody_says_so_and_goes_to_the_lead(cast: Cast) -> None:
    item = create(cast.ana, project="OPS", assignee="packer")
    assert "Told: @packer" in comment(cast.ana, item, "hello").message
    mine = create(cast.cto, project="ENG", assignee="me")
    assert "Nobody was told." in comment(cast.cto, mine, "note to self").message


def ask(cast: Cast, **args: Any) -> tuple[Any, str]:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    asked = comment(cast.swe, item, "I need a word.", ask="ana", decision=DECISION, **args)
    return item, asked.data["comment"]


@pytest.mark.covers("TRK-35", "TRK-36", "TRK-47")
def test_an_ask_waits_in_the_inbox_of_who_is_asked_until_it_is_answered(cast: Cast) -> None:
    item, ident = ask(cast)
    source = SOURCES["asks"]
    (row,) = source.waiting(cast.ana)
    assert (row.ref, row.title, row.card) == (f"ask:{ident}", "Which driver?", "tracker/_ask.html")
    card = row.context["ask"]
    assert card["mine"]
    assert [option["id"] for option in card["options"]] == ["led", "coil"]
    assert (source.count(cast.ana), source.count(cast.omar)) == (1, 0)
    assert Notice.objects.get(seat__handle="ana", reason="asked").primary
    read_mail("agent-swe")
    result = comment(cast.ana, item, "Take it.", choice="led")
    assert result.data["answered"] == ident
    assert source.count(cast.ana) == 0
    (letter,) = mail("agent-swe")
    assert letter.payload["reason"] == "answered"
    assert "LED driver (led)" in letter.payload["text"]
    assert EngineEvent.objects.filter(type="work_item_answered").count() == 1


@pytest.mark.covers("TRK-36")
def test_an_answer_by_one_press_says_the_label_of_its_option(cast: Cast) -> None:
    item, ident = ask(cast)
    act(cast.ana, "comment_on_work_item", item=item.key, answers=ident, choice="led")
    answer = Comment.objects.get(answers__pk=ident)
    assert (answer.body, answer.choice) == ("LED driver", "led")
    with pytest.raises(Invalid, match="write something, or choose an option"):
        comment(cast.ana, item, "   ")


@pytest.mark.covers("TRK-35", "TRK-45")
def test_an_asked_agent_learns_how_to_answer(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    ident = comment(cast.ana, item, "Can you?", ask="qa", decision=DECISION).data["comment"]
    (letter,) = mail("qa")
    text = letter.payload["text"]
    assert letter.reply_kind == "tool"
    assert f"answers={ident}" in text
    assert "- led: LED driver — Lasts" in text
    comment(cast.qa, item, "LED then.", choice="led")
    assert Comment.objects.get(pk=ident).answered_at is not None


@pytest.mark.covers("TRK-35", "TRK-36")
def test_a_second_answer_and_a_foreign_option_are_refused(cast: Cast) -> None:
    item, ident = ask(cast)
    with pytest.raises(Invalid, match="'gas' is not an option of this ask; there are: led, coil"):
        comment(cast.ana, item, "Gas!", choice="gas")
    comment(cast.ana, item, "LED.", answers=ident, choice="led")
    with pytest.raises(Conflict, match="answered by Ana already") as refusal:
        comment(cast.ana, item, "Coil.", answers=ident, choice="coil")
    assert refusal.value.code is ErrorCode.ALREADY_ANSWERED
    with pytest.raises(Invalid, match="no open ask to you"):
        comment(cast.ana, item, "Coil.", choice="coil")


@pytest.mark.covers("TRK-35")
def test_of_several_open_asks_none_is_guessed(cast: Cast) -> None:
    item, first = ask(cast)
    comment(cast.qa, item, "Me too", ask="ana", decision=DECISION)
    with pytest.raises(Invalid, match="several asks to you are open here"):
        comment(cast.ana, item, "LED.", choice="led")
    plain = comment(cast.ana, item, "Thinking.")
    assert plain.data["answered"] is None
    assert comment(cast.ana, item, "LED.", answers=first).data["answered"] == first


def test_agents_answer_their_own_asks_only_and_people_those_of_whom_they_manage(
    cast: Cast,
) -> None:
    item = create(cast.ana, project="ENG")
    ident = comment(cast.ana, item, "Can you?", ask="qa").data["comment"]
    with pytest.raises(Forbidden, match="only @qa answers this ask"):
        comment(cast.swe, item, "I can.", answers=ident)
    with pytest.raises(Forbidden, match="only @qa answers this ask"):
        comment(cast.omar, item, "They can.", answers=ident)
    assert comment(cast.ana, item, "Never mind.", answers=ident).data["answered"] == ident


@pytest.mark.covers("TRK-36")
def test_asks_that_make_no_sense_are_refused_by_field(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    other = create(cast.ana, project="ENG")
    said = comment(cast.ana, other, "x").data["comment"]
    for args, field in (
        ({"ask": "me"}, "ask"),
        ({"ask": "everybody"}, "ask"),
        ({"decision": DECISION}, "ask"),
        ({"ask": "qa", "decision": DECISION | {"evidence": ["item:ENG-99"]}}, "decision.evidence"),
        ({"ask": "qa", "decision": DECISION | {"evidence": ["moon:1"]}}, "decision.evidence"),
        ({"ask": "qa", "decision": DECISION | {"extra": 1}}, "decision.extra"),
        ({"answers": said}, "answers"),
        ({"reply_to": said}, "reply_to"),
    ):
        with pytest.raises((Invalid, NotFound)) as refusal:
            attempt(cast.ana, "comment_on_work_item", item=item.key, body="Hm", **args).unwrap()
        assert refusal.value.detail["field"] == field
    good = DECISION | {"evidence": [f"item:{other.key}", "https://lantern.example"]}
    assert comment(cast.ana, item, "Hm", ask="qa", decision=good).data["comment"]


@pytest.mark.covers("TRK-36")
def test_a_stored_decision_never_changes(cast: Cast) -> None:
    _, ident = ask(cast)
    with pytest.raises(IntegrityError), transaction.atomic():
        Comment.objects.filter(pk=ident).update(decision=DECISION | {"question": "Another?"})


@pytest.mark.covers("ADD-12")
def test_ping_pong_between_agents_stops_at_five_and_says_so(cast: Cast) -> None:
    item = create(cast.ana, project="ENG")
    read_mail("agent-cto")
    messages = [
        comment(cast[who], item, f"thanks @{other}").message
        for who, other in [("agent-swe", "qa"), ("qa", "agent-swe")] * 7
    ]
    assert len(mail("qa")) + len(mail("agent-swe")) == 5
    assert "Not woken" in messages[5]
    assert "waits for a person's word" in messages[-1]
    (note,) = item.comments.filter(kind=CommentKind.SYSTEM)
    assert "5 times in a row on ENG-1" in note.body
    assert item.wakes_stopped_at is not None
    assert EngineEvent.objects.filter(type="work_item_wakes_stopped").count() == 1
    (told,) = mail("agent-cto")
    assert told.reply_kind == "none"
    assert "5 times in a row" in told.payload["text"]
    assert "waits" not in comment(cast.ana, item, "Go on, @qa").message
    assert item.agent_wakes == 0
    assert WorkItem.objects.get(pk=item.pk).wakes_stopped_at is None
    comment(cast.swe, item, "ok @qa")
    assert reasons("qa")[-1] == "mention"


@pytest.mark.covers("ADD-12")
def test_agents_wakes_of_people_are_not_counted(cast: Cast) -> None:
    item = create(cast.ana, project="OPS", assignee="omar")
    for n in range(7):
        comment(cast.packer, item, f"box {n}")
    assert item.agent_wakes == 0
    assert Notice.objects.filter(seat__handle="omar", ref=f"item:{item.key}").count() == 8
