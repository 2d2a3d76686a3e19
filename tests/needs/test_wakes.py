"""A wake is cheap, comes from others, obeys a pause, and never piles up."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from agents import wake
from agents.dispatch.screening import REFUSALS
from agents.dispatch.turns import JournalledTurns, TurnContext
from agents.mail import triggers
from agents.mail.triggers import TriggerKind
from agents.models.mail import Completion, Delivery
from agents.models.seats import HoldReason
from agents.models.turns import Turn
from agents.seats import holds
from agents.seats.host import SeatHost
from agents.seats.lease import Lease
from crewlet.kernel import clock
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from crewlet.kernel.queue import seat_queue, transport_options
from crewlet.kernel.redis import client
from tests.agents.play import (
    PlayedTurns,
    a_company,
    a_letter,
    an_open_turn,
    post_now,
    texts_of,
)
from tests.agents.turn.stage import Stage
from tests.support.until import until
from tests.tracker.company import comment, create, mail, read_mail
from tests.tracker.conftest import Cast
from tracker.models.comments import Comment

MakeHost = Callable[..., SeatHost]
committed = pytest.mark.django_db(transaction=True)


def still(host: SeatHost) -> Callable[[], bool]:
    """Whether nobody works and nobody waits for a slot."""
    gate = host.runner.gate  # type: ignore[union-attr]
    return lambda: gate.in_flight() == 0 and gate.waiting() == 0


def refusals(reason: str) -> float:
    return float(REFUSALS.labels(reason)._value.get())


@pytest.mark.covers("PEER-1")
@committed
def test_a_wake_without_work_asks_no_model_and_its_skip_is_on_record(
    stage: Stage, make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = TriggerKind("fyi", "For your information", lambda _: ("none", ""), str, wakes=False)
    monkeypatch.setitem(triggers.TRIGGERS._entries, "fyi", quiet)
    worked, told = stage.mail(), stage.mail(kind="fyi")
    Completion.objects.create(
        seat_id=stage.seat(), event_id=worked.event_id, turn_id=new_id(), outcome="completed",
        at=clock.now(),
    )  # fmt: skip
    host = make_host(JournalledTurns())
    host.start()
    until(lambda: not Delivery.objects.exists(), 10, what="both letters are dealt with")
    skips = EngineEvent.objects.filter(type="turn_trigger_skipped")
    assert {(skip.payload["event_id"], skip.payload["reason"]) for skip in skips} == {
        (str(worked.event_id), "already_worked"),
        (str(told.event_id), "informational"),
    }
    until(still(host), 10)
    before = refusals("no_mail")
    host.runner.poke(stage.seat())  # type: ignore[union-attr]
    until(lambda: refusals("no_mail") > before, 10, what="a wake without mail is counted")
    assert stage.server.seen == []
    assert not Turn.objects.exists()


@pytest.mark.covers("PEER-2")
@pytest.mark.django_db
def test_a_hundred_comments_of_ones_own_wake_nobody_and_keep_their_author(cast: Cast) -> None:
    """The credential is shared, the author is not."""
    item = create(cast.swe, project="ENG", assignee="agent-swe")
    assert cast.swe.credential == cast.qa.credential
    comment(cast.swe, item, "Mine, for @agent-swe")
    assert mail("agent-swe") == []
    comment(cast.qa, item, "I looked at it.")
    (woken,) = mail("agent-swe")
    assert woken.payload["sender"]["handle"] == "qa"
    read_mail("agent-swe")
    for n in range(99):
        comment(cast.swe, item, f"Note {n} for @agent-swe")
    assert mail("agent-swe") == []
    authors = Counter(
        Comment.objects.filter(item=item, kind="comment").values_list("author_seat_id", flat=True)
    )
    assert authors == {cast.swe.seat_id: 100, cast.qa.seat_id: 1}


@pytest.mark.covers("PEER-3")
@committed
def test_no_way_of_waking_starts_a_paused_seat(make_host: MakeHost) -> None:
    """Mail, ring, sweep, a parked turn that is due, a new revision."""
    kofi = a_company("kofi")["kofi"]
    with transaction.atomic():
        holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=clock.now())
    turns = PlayedTurns()
    host = make_host(turns)
    host.start()
    until(lambda: host.seats() == [kofi], 10)
    parked = a_letter("parked")
    post_now(kofi, parked, a_letter("new", n=1, batch_key="other"))
    with connection.cursor() as cursor:
        an_open_turn(
            cursor, kofi, [parked.event_id], stage="parked", park_reason="provider",
            wake_at=clock.now() - timedelta(minutes=1),
        )  # fmt: skip
    before = refusals("seat_paused")
    a_company("kofi", mission="Run")
    wake.ring(kofi)
    host.runner.poke(kofi)  # type: ignore[union-attr]
    until(lambda: refusals("seat_paused") > before, 10, what="the look is refused and counted")
    host.sweep_once()
    until(still(host), 10)
    assert turns.ran == []
    assert not Delivery.objects.filter(attempts__gt=0).exists()
    holds.lift(kofi, HoldReason.SEAT_PAUSED)
    host.runner.poke(kofi)  # type: ignore[union-attr]
    until(lambda: Completion.objects.count() == 2, 10, what="it works once it may")


@pytest.mark.covers("PEER-4")
@committed
def test_ticks_during_a_long_turn_leave_one_wake_and_one_turn(make_host: MakeHost) -> None:
    kofi = a_company("kofi", notification_coalesce_max_batch=100)["kofi"]
    here, go = threading.Event(), threading.Event()

    def long(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        here.set()
        assert go.wait(20)
        turns.settle(turn_id, lease)

    turns = PlayedTurns(long)
    post_now(kofi, a_letter("first"))
    host = make_host(turns)
    host.start()
    assert here.wait(10)
    wake.answered(kofi)
    client().delete(_queue(kofi))
    for n in range(60):
        post_now(kofi, a_letter(f"tick {n}", n=n + 1))
        host.runner.poke(kofi)  # type: ignore[union-attr]
    assert client().llen(_queue(kofi)) == 1
    go.set()
    until(lambda: Completion.objects.count() == 61, 15)
    until(still(host), 10)
    _, second = [Turn.objects.get(id=turn_id) for turn_id, _ in turns.ran]
    assert len(texts_of(second)) == 60


def _queue(seat_id: UUID) -> str:
    prefix: Any = transport_options(1)["global_keyprefix"]
    return f"{prefix}{seat_queue(seat_id)}"
