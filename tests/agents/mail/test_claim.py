"""How mail is taken, given back, buried and finished with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from agents.mail import claim, waiting
from agents.mail.claim import ATTEMPTS
from agents.models.mail import Completion, DeadLetter, Delivery
from crewlet.kernel import clock
from crewlet.kernel.errors import Conflict, NotFound
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from tests.agents.play import a_company, a_letter, an_open_turn, post_now

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kofi() -> UUID:
    return a_company("kofi")["kofi"]


@contextmanager
def commit() -> Iterator[CursorWrapper]:
    with transaction.atomic(), connection.cursor() as cursor:
        yield cursor


def taken(seat: UUID, *, window: float = 0.0, limit: int = 20) -> list[str]:
    with commit() as cursor:
        letters = claim.take(cursor, seat, window=window, limit=limit)
    return [letter.text for letter in letters]


@pytest.mark.covers("RUN-5")
def test_the_conversation_with_the_oldest_letter_comes_first_and_whole(kofi: UUID) -> None:
    post_now(
        kofi,
        a_letter("b1", n=2, batch_key="b"),
        a_letter("a2", n=3, batch_key="a"),
        a_letter("a1", n=1, batch_key="a"),
    )
    assert taken(kofi) == ["a1", "a2"]


@pytest.mark.covers("RUN-5", "TURN-4")
def test_a_batch_has_its_most(kofi: UUID) -> None:
    post_now(kofi, *(a_letter(f"m{n}", n=n) for n in range(5)))
    assert taken(kofi, limit=3) == ["m0", "m1", "m2"]


def test_the_control_lane_goes_first(kofi: UUID) -> None:
    post_now(kofi, a_letter("old", n=1), a_letter("go", n=9, batch_key="c", lane="control"))
    assert taken(kofi) == ["go"]


@pytest.mark.covers("RUN-5", "TURN-4")
def test_a_window_lets_a_conversation_gather_and_a_full_batch_waits_for_nothing(kofi: UUID) -> None:
    post_now(kofi, a_letter("one", n=1))
    assert taken(kofi, window=60) == []
    Delivery.objects.update(created_at=clock.now() - timedelta(seconds=61))
    post_now(kofi, a_letter("two", n=2))
    assert taken(kofi, window=60) == ["one", "two"]
    Delivery.objects.update(created_at=clock.now())
    assert taken(kofi, window=60, limit=2) == ["one", "two"]


@pytest.mark.covers("RUN-8")
def test_mail_that_failed_goes_behind_mail_never_tried_and_blocks_nobody(kofi: UUID) -> None:
    post_now(kofi, a_letter("failed", n=1), a_letter("same talk, fresh", n=2))
    post_now(kofi, a_letter("elsewhere", n=3, batch_key="b"))
    Delivery.objects.filter(payload__text="failed").update(attempts=1)
    assert taken(kofi) == ["same talk, fresh"]
    Delivery.objects.filter(payload__text="same talk, fresh").delete()
    assert taken(kofi) == ["elsewhere"]
    Delivery.objects.filter(payload__text="elsewhere").delete()
    assert taken(kofi) == ["failed"]


@pytest.mark.covers("TURN-1")
def test_what_a_turn_has_claimed_is_not_taken_again(kofi: UUID) -> None:
    letter = a_letter("mine")
    post_now(kofi, letter)
    with commit() as cursor:
        an_open_turn(cursor, kofi, [letter.event_id])
    assert taken(kofi) == []


@pytest.mark.covers("RUN-8", "TURN-12")
def test_a_failure_waits_1_2_4_8_16_then_30_seconds_each_time(kofi: UUID) -> None:
    letter = a_letter()
    post_now(kofi, letter)
    pauses = []
    with commit() as cursor:
        turn = an_open_turn(cursor, kofi, [])
    for _ in range(7):
        with commit() as cursor:
            cursor.execute("UPDATE agents_delivery SET turn_id = %s", (turn,))
            released = claim.release(cursor, turn, "the provider said no")
            assert len(released.retried) == 1
            cursor.execute(
                "SELECT extract(epoch FROM not_before - clock_timestamp()) FROM agents_delivery"
            )
            pauses.append(round(float(cursor.fetchone()[0])))
    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    row = Delivery.objects.get()
    assert (row.attempts, row.turn_id, row.last_error) == (7, None, "the provider said no")
    assert taken(kofi) == []


@pytest.mark.covers("RUN-8", "TURN-12")
def test_the_25th_failure_makes_a_dead_letter_that_somebody_can_replay(kofi: UUID) -> None:
    letter = a_letter("bad", work_item=None, reply_kind="tool", reply_surface="work", depth=2)
    post_now(kofi, letter)
    Delivery.objects.update(attempts=ATTEMPTS - 1)
    with commit() as cursor:
        turn = an_open_turn(cursor, kofi, [letter.event_id])
        released = claim.release(cursor, turn, "still broken")
    assert released == claim.Released((), (letter.event_id,))
    assert not Delivery.objects.exists()
    dead = DeadLetter.objects.get()
    assert (dead.seat_id, dead.attempts, dead.error) == (kofi, 25, "still broken")
    assert EngineEvent.objects.filter(type="inbox_dead_lettered", failed=True).count() == 1

    assert waiting.replay(dead.id, by="ana", now=clock.now()) == kofi
    row = Delivery.objects.get()
    assert (row.event_id, row.attempts, row.payload["text"]) == (letter.event_id, 0, "bad")
    assert (row.reply_kind, row.reply_surface, row.depth, row.work_item) == (
        "tool",
        "work",
        2,
        None,
    )
    assert row.event_ts == letter.ts
    with pytest.raises(Conflict, match="ana has already replayed"):
        waiting.discard(dead.id, by="ben", now=clock.now())
    with pytest.raises(NotFound):
        waiting.discard(new_id(), by="ben", now=clock.now())


@pytest.mark.covers("RUN-10", "TURN-3")
def test_a_finished_turn_leaves_a_completion_each_and_no_mail_of_its_own(kofi: UUID) -> None:
    one, two, later = a_letter(n=1), a_letter(n=2), a_letter(n=3)
    post_now(kofi, one, two, later)
    with commit() as cursor:
        turn = an_open_turn(cursor, kofi, [one.event_id, two.event_id], lease_epoch=7)
        assert claim.settle(cursor, turn, "completed") == 2
    assert Delivery.objects.get().event_id == later.event_id
    done = Completion.objects.order_by("id")
    assert {row.event_id for row in done} == {one.event_id, two.event_id}
    assert {(row.outcome, row.turn_id, row.lease_epoch) for row in done} == {("completed", turn, 7)}


@pytest.mark.covers("RUN-10")
def test_letters_worked_meanwhile_are_dropped_at_the_claim_and_only_the_rest_is_left(
    kofi: UUID,
) -> None:
    letters = [a_letter(text, n=n) for n, text in enumerate("abc")]
    post_now(kofi, *letters)
    for letter in letters[:2]:
        Completion.objects.create(
            seat_id=kofi, event_id=letter.event_id, turn_id=new_id(), outcome="completed",
            at=clock.now(),
        )  # fmt: skip
    with commit() as cursor:
        left = claim.drop_worked(cursor, kofi, claim.take(cursor, kofi))
    assert [letter.text for letter in left] == ["c"]
    assert Delivery.objects.count() == 1
    skipped = EngineEvent.objects.filter(type="turn_trigger_skipped")
    assert [event.payload["reason"] for event in skipped] == ["already_worked"] * 2


def test_due_says_which_seats_have_work_and_when_the_next_has(kofi: UUID) -> None:
    with connection.cursor() as cursor:
        assert claim.due(cursor, [kofi]) == claim.Due(frozenset(), None)
    post_now(kofi, a_letter())
    with connection.cursor() as cursor:
        assert claim.due(cursor, [kofi]).seats == {kofi}
    Delivery.objects.update(not_before=clock.now() + timedelta(seconds=20))
    with connection.cursor() as cursor:
        found = claim.due(cursor, [kofi])
    assert found.seats == frozenset()
    assert found.next_in is not None and 15 < found.next_in <= 20
