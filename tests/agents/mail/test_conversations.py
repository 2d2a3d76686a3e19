"""How letters merge: pure rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from agents.mail.conversations import SAME_AGAIN, first_batch, merge, work_key_of
from agents.mail.letters import Letter

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def letter(n: int, text: str = "", sender: str = "ana", **more: Any) -> Letter:
    values: dict[str, Any] = {
        "seq": n,
        "event_id": UUID(int=n),
        "kind": "chat",
        "source": "slack",
        "batch_key": "slack:C1",
        "conversation": "slack:C1",
        "ts": NOON + timedelta(seconds=n),
        "payload": {
            "summary": text or f"message {n}",
            "text": text or f"message {n}",
            "sender": {"handle": sender, "name": sender.title()},
        },
    }
    return Letter(**(values | more))


@pytest.mark.covers("TURN-4")
def test_letters_of_one_conversation_merge_oldest_first() -> None:
    batch = first_batch([letter(3), letter(1), letter(2)])
    assert [x.seq for x in batch] == [1, 2, 3]


def test_nothing_waits_gives_no_batch() -> None:
    assert first_batch([]) == ()
    with pytest.raises(ValueError, match="at least one"):
        merge([])


@pytest.mark.covers("TURN-4")
def test_mail_with_a_key_of_its_own_never_merges() -> None:
    alone = f"event:{uuid4()}"
    assert [
        x.seq for x in first_batch([letter(1, batch_key=alone), letter(2, batch_key=alone)])
    ] == [1]


@pytest.mark.covers("TURN-5")
def test_a_letter_that_owes_its_reply_elsewhere_stays_apart_with_all_that_follow() -> None:
    batch = first_batch(
        [
            letter(1),
            letter(2, reply_kind="tool", reply_surface="slack"),
            letter(3, reply_kind="tool", reply_surface="work"),
            letter(4, reply_kind="tool", reply_surface="slack"),
        ]
    )
    assert [x.seq for x in batch] == [1, 2]


@pytest.mark.covers("TURN-5")
def test_the_strongest_obligation_wins_wherever_it_stands() -> None:
    merged = merge(
        [
            letter(1, reply_kind="engine"),
            letter(2, reply_kind="tool", reply_surface="slack"),
            letter(3),
        ]
    )
    assert (merged.reply_kind, merged.reply_surface) == ("engine", "")
    merged = merge([letter(1, reply_kind="tool", reply_surface="slack"), letter(2)])
    assert (merged.reply_kind, merged.reply_surface) == ("tool", "slack")


@pytest.mark.covers("TURN-5")
def test_the_greatest_depth_brings_its_own_chain() -> None:
    merged = merge([letter(1, depth=2, chain=("a", "b")), letter(2, depth=1, chain=("c",))])
    assert (merged.depth, merged.chain) == (2, ("a", "b"))


@pytest.mark.covers("TURN-5")
def test_the_newest_is_the_trigger_and_every_constituent_is_kept() -> None:
    merged = merge([letter(2, "newest"), letter(1, "older")])
    assert merged.trigger["summary"] == "newest"
    assert merged.trigger["id"] == str(UUID(int=2))
    assert [part["payload"]["text"] for part in merged.constituents] == ["older", "newest"]


@pytest.mark.covers("TURN-4")
def test_the_digest_has_the_earlier_ones_in_order_then_the_newest_in_full() -> None:
    text = merge([letter(1, "one"), letter(2, "two"), letter(3, "three")]).trigger["text"]
    assert text.index("one") < text.index("two") < text.index("(newest)") < text.index("three")


@pytest.mark.covers("TURN-4")
def test_one_senders_repeat_shrinks_and_two_peoples_equal_words_both_stay() -> None:
    same = [letter(1, "+1"), letter(2, "+1"), letter(3, "+1", sender="ben"), letter(4, "done")]
    text = merge(same).trigger["text"]
    assert text.count("+1") == 2
    assert text.count(SAME_AGAIN) == 1
    assert merge(same, lambda _kind: False).trigger["text"].count("+1") == 3


def test_a_single_letter_is_its_own_text() -> None:
    assert merge([letter(1, "just this")]).trigger["text"] == "just this"


@pytest.mark.covers("TURN-7")
def test_the_work_key_names_the_same_events_in_any_order_and_no_others() -> None:
    a, b, c = (UUID(int=n) for n in (1, 2, 3))
    assert work_key_of([a, b]) == work_key_of([b, a])
    assert len({work_key_of([a, b]), work_key_of([a, c]), work_key_of([a])}) == 3


def test_only_a_batch_of_agent_caused_letters_is_agent_caused() -> None:
    assert merge([letter(1, agent_caused=True)]).agent_caused
    assert not merge([letter(1, agent_caused=True), letter(2)]).agent_caused


@pytest.mark.covers("TURN-7")
def test_the_attempt_counts_from_the_most_tried_letter() -> None:
    assert merge([letter(1, attempts=3), letter(2)]).attempt == 4


def test_the_newest_item_that_a_letter_names_is_the_turns() -> None:
    merged = merge(
        [letter(1, work_item={"key": "ENG-1"}), letter(2, work_item={"key": "ENG-2"}), letter(3)]
    )
    assert merged.work_item_key == "ENG-2"
    assert merge([letter(1)]).work_item_key == ""
