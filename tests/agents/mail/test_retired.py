"""The mailbox of a seat that left is kept for a day, and then set aside."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from agents.dispatch.duties import DUTIES
from agents.mail import retired
from agents.mail.retired import retire
from agents.models.mail import DeadLetter, Delivery
from crewlet.kernel import clock
from crewlet.kernel.actors import engine_actor
from orgs.models.seats import Seat
from orgs.revisions import apply_document
from tests.agents.play import a_company, a_letter, an_open_turn, post_now

pytestmark = pytest.mark.django_db

DAY = timedelta(hours=24)


def left_at(handle: str) -> datetime:
    at = Seat.objects.get(handle=handle).mailbox_retire_at
    assert at is not None
    return at


def waiting() -> list[str]:
    return list(Delivery.objects.order_by("seq").values_list("seat__handle", flat=True))


@pytest.mark.covers("ORG-18")
def test_the_mail_of_a_seat_that_left_is_kept_for_a_day_and_then_set_aside() -> None:
    seats = a_company("kofi", "mei")
    post_now(seats["kofi"], a_letter("One"), a_letter("Two"))
    post_now(seats["mei"], a_letter("Hers"))
    a_company("mei")
    over = left_at("kofi")
    assert over - clock.now() > DAY - timedelta(minutes=5)
    assert retire(over - timedelta(seconds=1)) == 0
    assert retire(over) == 2
    assert waiting() == ["mei"]
    aside = DeadLetter.objects.order_by("mail__payload__text")
    assert [letter.mail["payload"]["text"] for letter in aside] == ["One", "Two"]
    assert {letter.handled_how for letter in aside} == {"retired"}, "nobody is alarmed by it"
    assert retire(over) == 0


@pytest.mark.covers("ORG-18")
def test_a_seat_that_comes_back_within_the_day_works_its_backlog() -> None:
    seats = a_company("kofi")
    post_now(seats["kofi"], a_letter())
    a_company()
    over = left_at("kofi")
    assert a_company("kofi")["kofi"] == seats["kofi"], "its memory hangs on the row"
    assert retire(over + DAY) == 0
    assert waiting() == ["kofi"]


@pytest.mark.covers("ORG-18")
def test_an_agents_seat_that_a_person_takes_keeps_its_backlog_for_the_way_back() -> None:
    seats = a_company("kofi")
    post_now(seats["kofi"], a_letter())

    def held_by_a_person() -> None:
        founder: dict[str, Any] = {"name": "Ana", "handle": "ana", "kind": "human", "goal": "Lead"}
        kofi = {"name": "Kofi", "handle": "kofi", "kind": "human", "goal": "Be kofi"}
        document = {"name": "Racers", "roles": [founder, kofi]}
        apply_document(engine_actor("tests"), document, summary="A person now")

    held_by_a_person()
    over = left_at("kofi")
    assert retire(over - timedelta(seconds=1)) == 0
    assert a_company("kofi")["kofi"] == seats["kofi"]
    assert retire(over) == 0
    assert waiting() == ["kofi"]
    held_by_a_person()
    assert retire(left_at("kofi")) == 1


@pytest.mark.covers("ORG-18")
def test_mail_in_the_hands_of_a_turn_waits_for_it_and_a_batch_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seats = a_company("kofi")
    held, *others = (a_letter(n=n) for n in range(4))
    post_now(seats["kofi"], held, *others)
    with connection.cursor() as cursor:
        an_open_turn(cursor, seats["kofi"], [held.event_id])
    a_company()
    monkeypatch.setattr(retired, "_BATCH", 2)
    assert [retire(left_at("kofi")) for _ in range(3)] == [2, 1, 0]
    assert Delivery.objects.get().event_id == held.event_id


def test_a_duty_looks_after_it() -> None:
    assert DUTIES["mailbox_retirement"].run is retire
