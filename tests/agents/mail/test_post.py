"""The only way in: one row per seat and event, in the transaction that causes it."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import transaction

from agents.mail import claim
from agents.mail.post import post
from agents.models.mail import Completion, DeadLetter, Delivery
from crewlet.kernel import clock
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from crewlet.kernel.redis import client, key
from orgs.models.notices import Notice
from orgs.models.seats import Seat
from tests.agents.play import a_company, a_letter, post_now

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kofi() -> UUID:
    return a_company("kofi")["kofi"]


@pytest.mark.covers("RUN-1")
def test_a_letter_waits_and_its_seat_is_rung_after_the_commit(kofi: UUID) -> None:
    with transaction.atomic():
        assert post(kofi, a_letter("hello"))
        assert client().get(key("wake", kofi)) is None
    row = Delivery.objects.get()
    assert (row.seat_id, row.payload["text"], row.attempts, row.turn_id) == (kofi, "hello", 0, None)
    assert client().get(key("wake", kofi)) == "1"


@pytest.mark.covers("RUN-1")
def test_a_rollback_leaves_neither_mail_nor_a_ring(kofi: UUID) -> None:

    class Undone(Exception):
        pass

    with pytest.raises(Undone), transaction.atomic():
        post(kofi, a_letter())
        raise Undone
    assert not Delivery.objects.exists()
    assert client().get(key("wake", kofi)) is None


@pytest.mark.covers("RUN-4")
def test_the_same_event_is_let_in_once(kofi: UUID) -> None:
    letter = a_letter()
    assert post_now(kofi, letter, letter) == [True, False]
    assert post_now(kofi, letter) == [False]
    assert Delivery.objects.count() == 1


@pytest.mark.covers("RUN-4", "RUN-10", "TURN-3")
def test_a_worked_event_is_not_let_in_again(kofi: UUID) -> None:
    letter = a_letter()
    Completion.objects.create(
        seat_id=kofi,
        event_id=letter.event_id,
        turn_id=new_id(),
        outcome="completed",
        at=clock.now(),
    )
    assert post_now(kofi, letter) == [False]
    assert not Delivery.objects.exists()


def test_an_event_among_the_dead_letters_is_not_let_in_until_somebody_deals_with_it(
    kofi: UUID,
) -> None:
    letter = a_letter()
    dead = DeadLetter.objects.create(
        seat_id=kofi, event_id=letter.event_id, mail={}, attempts=25, error="x", at=clock.now()
    )
    assert post_now(kofi, letter) == [False]
    DeadLetter.objects.filter(id=dead.id).update(handled_at=clock.now(), handled_how="discarded")
    assert post_now(kofi, letter) == [True]


@pytest.mark.covers("RUN-2")
def test_a_person_gets_a_notice_and_no_mail() -> None:
    ana = a_company("kofi")["ana"]
    letter = a_letter(
        "Look at this",
        payload={
            "summary": "Look at this",
            "text": "Look",
            "sender": {"handle": "kofi", "name": "Kofi", "kind": "agent"},
        },
    )
    assert post_now(ana, letter) == [False]
    assert not Delivery.objects.exists()
    notice = Notice.objects.get()
    assert (notice.seat_id, notice.title, notice.event_id) == (ana, "Look at this", letter.event_id)


@pytest.mark.covers("RUN-2")
def test_a_letter_to_a_removed_seat_is_skipped_and_the_skip_says_why(kofi: UUID) -> None:
    Seat.objects.filter(id=kofi).update(removed_at=clock.now())
    assert post_now(kofi, a_letter()) == [False]
    event = EngineEvent.objects.get(type="notification_skipped")
    assert event.payload["reason"] == "no_seat"
    assert not Delivery.objects.exists()


@pytest.mark.covers("RUN-1")
def test_mail_outside_a_transaction_is_refused(kofi: UUID) -> None:
    with pytest.raises(RuntimeError, match="belongs into the transaction"):
        post(kofi, a_letter())


@pytest.mark.covers("RUN-1")
def test_a_dead_redis_costs_the_poster_no_error(
    kofi: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    import redis

    from agents import wake

    def refuse() -> redis.Redis:
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(wake, "client", refuse)
    monkeypatch.setattr(wake._breaker, "open_until", 0.0)
    assert post_now(kofi, a_letter()) == [True]
    assert Delivery.objects.count() == 1
    assert not wake.is_open()  # the next rings do not even try
    monkeypatch.setattr(wake._breaker, "open_until", 0.0)


@pytest.mark.covers("RUN-10")
def test_what_a_turn_showed_is_not_answered_again(kofi: UUID) -> None:
    from tests.agents.play import an_open_turn

    answered, shown = a_letter("first", n=2), a_letter("second", n=1)
    post_now(kofi, answered, shown)
    with transaction.atomic():
        from django.db import connection

        with connection.cursor() as cursor:
            turn_id = an_open_turn(cursor, kofi, [answered.event_id])
            assert claim.settle(cursor, turn_id, "completed", shown=[shown.event_id]) == 2
    assert not Delivery.objects.exists()
    assert post_now(kofi, answered, shown) == [False, False]
