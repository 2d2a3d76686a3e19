"""Alarms that ring when something is wrong, and stay silent on a healthy system."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from agents.dispatch import checks
from agents.models.mail import DeadLetter, Delivery
from agents.models.seats import HoldReason, Node
from agents.seats import holds
from agents.seats import lease as leases
from crewlet.kernel import clock
from crewlet.kernel.ids import new_id
from tests.agents.play import a_company, a_letter, a_node, lapse, post_now

pytestmark = pytest.mark.django_db(transaction=True)


def test_mail_of_a_seat_that_nobody_holds_alarms_after_two_minutes() -> None:
    kofi = a_company("kofi")["kofi"]
    post_now(kofi, a_letter())
    assert checks.mail_stuck() is None, "mail that just came is not stuck"
    Delivery.objects.update(created_at=clock.now() - timedelta(seconds=121))
    found = checks.mail_stuck()
    assert found is not None
    assert "kofi" in found.measurement
    assert "fleet show" in found.remedy

    with transaction.atomic():
        holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=clock.now())
    assert checks.mail_stuck() is None, "a person holds it back"
    holds.lift(kofi, HoldReason.SEAT_PAUSED)

    one = a_node("one")
    leases.claim(one, "one", room=1, ttl=60)
    assert checks.mail_stuck() is None, "a live node holds the seat"
    lapse(one)
    assert checks.mail_stuck() is not None


def test_a_dead_letter_alarms_until_somebody_deals_with_it() -> None:
    kofi = a_company("kofi")["kofi"]
    assert checks.dead_letters() is None
    letter = DeadLetter.objects.create(
        seat_id=kofi, event_id=new_id(), mail={}, attempts=25, error="x", at=clock.now()
    )
    found = checks.dead_letters()
    assert found is not None and "mail dead" in found.remedy
    DeadLetter.objects.filter(id=letter.id).update(handled_at=clock.now())
    assert checks.dead_letters() is None


def test_a_node_that_misses_its_beats_alarms_and_counts_no_more() -> None:
    a_company("kofi", "mara")
    one = a_node("one")
    leases.claim(one, "one", room=1, ttl=60)
    Node.objects.update(in_flight=1)
    assert checks.node_stale() is None
    assert checks.in_flight() == 1
    assert checks.seats() == {"total": 2, "held": 1, "waiting": 1}
    lapse(one)
    found = checks.node_stale()
    assert found is not None and "one" in found.measurement
    assert checks.in_flight() == 0
    assert checks.seats()["held"] == 0
