"""The next turn of a conversation knows the earlier ones, and what reached nobody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.memory import sessions
from agents.models.conversations import ConversationEntry
from agents.models.turns import Phase
from crewlet.kernel import clock
from crewlet.kernel.ids import new_id
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, again
from tests.support.script import Step, call

ZONE = ZoneInfo("Europe/Lisbon")
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def entries(*sizes: int) -> list[tuple[datetime, dict[str, Any]]]:
    return [
        (AT + timedelta(hours=n), {"trigger": f"ask {n}", "reply": f"{n}" * size})
        for n, size in enumerate(sizes)
    ]


@pytest.mark.covers("TURN-19")
def test_the_block_stands_oldest_first_and_its_newest_is_always_whole() -> None:
    assert sessions.block([], ZONE) == ""
    text = sessions.block(entries(10, 10, 10), ZONE)
    assert text.startswith(sessions.TITLE)
    assert text.index("ask 0") < text.index("ask 1") < text.index("ask 2")
    huge = sessions.block(entries(10, 30_000), ZONE)
    assert "1" * 30_000 in huge
    assert "1 earlier exchange is left out" in huge


@pytest.mark.covers("TURN-19")
def test_older_exchanges_are_condensed_before_they_are_left_out_and_counted() -> None:
    text = sessions.block(entries(9000, 9000, 9000, 9000), ZONE)
    assert len(text.encode()) <= sessions.BLOCK_BYTES
    assert "3" * 9000 in text
    assert "2" * 9000 in text
    assert "ask 0" in text
    assert "(+8700 more characters)" in text
    many = sessions.block(entries(*[500] * 100), ZONE)
    assert len(many.encode()) <= sessions.BLOCK_BYTES
    assert "earlier exchanges are left out" in many


pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.covers("TURN-19")
def test_the_next_turn_opens_with_what_was_asked_done_and_answered(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(Step(calls=[call("submit_review", decision="done", notes="A private note")]))
    _, first = stage.work()
    kept = ConversationEntry.objects.get()
    assert (kept.turn_id, kept.conversation) == (first.id, "tracker:ENG-1")
    assert kept.entry["reply"] == "Baked."
    assert "Bake twelve loaves" in kept.entry["trigger"]
    assert ["do not repeat" in line for line in kept.entry["calls"]] == [True]

    def remembers(seen: Any) -> None:
        opening = seen.messages[1].text if seen.messages[0].role == "system" else seen.text
        assert sessions.TITLE in opening
        assert "**You answered:** Baked." in opening
        assert "A private note" not in seen.text

    stage.executes(
        Step(expect=remembers, calls=NOTE.calls), SUBMIT,
        Step(expect=remembers, calls=SUBMIT.calls),
    )  # fmt: skip
    stage.reviews(again(), DONE)
    end, turn = stage.work()
    assert end.kind == "completed"
    opening, second = Phase.objects.filter(turn=turn, phase="execute").order_by("iteration")
    assert "conversation_history" in [part["key"] for part in opening.user_outline]
    assert "conversation_history" in [part["key"] for part in second.user_outline]


@pytest.mark.covers("TURN-20")
def test_text_of_a_failed_turn_that_reached_nobody_is_kept_as_unsent(stage: Stage) -> None:
    stage.executes(Step(say="Here are your loaves."), Step(say="Really."), Step(say="Done."))
    failed = call("submit_review", decision="failed", notes="Nothing was done.")
    stage.reviews(Step(calls=[failed]))
    stage.work()
    entry = ConversationEntry.objects.get().entry
    assert entry["unsent"] == "Done."
    assert "reply" not in entry
    assert entry["decision"] == "error"


@pytest.mark.covers("TURN-19")
@pytest.mark.parametrize(
    ("budget", "conversation"),
    [
        ("\nturn_engine: {conversation_session: {enabled: false}}", "tracker:ENG-1"),
        ("", "event:7"),
    ],
    ids=["switched off", "a single event"],
)
def test_nothing_is_kept_where_it_is_off_or_no_turn_can_follow(
    stage: Stage, budget: str, conversation: str
) -> None:
    stage.company(budget=budget)
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work(conversation=conversation)
    assert not ConversationEntry.objects.exists()


@pytest.mark.covers("TURN-19")
def test_twenty_of_the_last_thirty_days_are_kept_and_a_rerun_leaves_one(stage: Stage) -> None:
    seat, now = stage.seat(), clock.now()

    def keep(n: int, at: datetime, work_key: str = "") -> None:
        from django.db import connection

        with connection.cursor() as cursor:
            sessions.record(
                cursor, seat_id=seat, conversation="c", work_key=work_key or f"w{n}",
                turn_id=new_id(), entry={"trigger": f"ask {n}"}, now=at,
            )  # fmt: skip

    keep(99, now - timedelta(days=31))
    for n in range(22):
        keep(n, now - timedelta(hours=30 - n))
    keep(100, now, "w21")
    assert ConversationEntry.objects.filter(work_key="w21").count() == 1
    text = sessions.earlier(seat, "c", "mine", now)
    assert "ask 100" in text
    assert ("ask 2\n" in text + "\n", "ask 1\n" in text) == (True, False)
    assert sessions.sweep(now) == 3
    assert ConversationEntry.objects.count() == 20
    assert sessions.earlier(seat, "other", "mine", now) == ""
