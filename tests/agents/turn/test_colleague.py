"""Asks between seats: carried by the engine, one answer, never silence."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection, transaction

from agents.models.colleagues import A2AChannel, A2AMessage
from agents.models.mail import Delivery
from agents.models.turns import Turn
from agents.turn import colleague, journal, reading
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor, TurnRef
from crewlet.kernel.errors import Invalid
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from orgs.models.notices import Notice
from orgs.models.seats import Seat
from orgs.people.actors import seat_actor
from tests.agents.turn.stage import DONE, Stage
from tests.support.script import Step, call

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1, seconds=1)


def chief(turn: TurnRef | None = None) -> Actor:
    return seat_actor(Seat.objects.get(handle="chief"), turn)


def ask(stage: Stage, brief: str = "How many loaves?", turn: TurnRef | None = None) -> A2AChannel:
    with transaction.atomic():
        channel = colleague.open_channel(chief(turn), stage.seat("baker"), "baker", brief)
    return A2AChannel.objects.get(id=channel)


@pytest.mark.covers("TURN-75", "TURN-13")
def test_an_ask_is_one_level_deeper_and_carries_the_item_of_the_asker(stage: Stage) -> None:
    stage.mail("chief")
    mine = Turn.objects.get(id=stage.claim("chief"))
    turn = TurnRef(mine.id, mine.work_key, depth=1, chain=("rita",))
    channel = ask(stage, turn=turn)
    letter = Delivery.objects.get(seat_id=stage.seat("baker"))
    assert (letter.kind, letter.reply_kind, letter.depth) == ("a2a_ask", "engine", 2)
    assert (letter.chain, letter.parent_turn) == (["rita", "chief"], mine.id)
    assert letter.work_item is not None
    assert (letter.work_item["key"], letter.work_item["basis"]) == ("ENG-1", "asked_by")
    assert letter.batch_key == f"event:{channel.id}", "asks never merge"
    assert letter.agent_caused
    kinds = EngineEvent.objects.filter(turn_id=mine.id).values_list("type", flat=True)
    assert {"a2a_channel_opened", "a2a_message_sent"} <= set(kinds)


@pytest.mark.covers("TURN-13", "TURN-75")
def test_an_ask_that_would_be_too_deep_an_empty_one_and_one_to_oneself_are_refused(
    stage: Stage,
) -> None:
    deep = TurnRef(new_id(), "work", depth=2)
    with pytest.raises(Invalid, match="chain of 3 asks"):
        ask(stage, turn=deep)
    with pytest.raises(Invalid, match="brief is empty"):
        ask(stage, "  \n")
    with pytest.raises(Invalid, match="your own seat"), transaction.atomic():
        colleague.open_channel(chief(), stage.seat("chief"), "chief", "Me?")
    assert not A2AChannel.objects.exists()


@pytest.mark.covers("RUN-15", "TURN-75")
def test_an_answered_channel_takes_no_second_answer(stage: Stage) -> None:
    channel = ask(stage)
    stage.executes(Step(calls=[call("submit_work", summary="Twelve.")]))
    stage.reviews(DONE)
    stage.run(stage.claim())
    head = reading.head(Turn.objects.get().id)
    with transaction.atomic():
        assert not colleague.answer(head, "baker", "Baker", "Thirteen.")
    assert A2AMessage.objects.get(kind="answer").body == "Twelve."
    refused = EngineEvent.objects.get(type="a2a_message_sent", failed=True)
    assert str(channel.id) in refused.summary
    assert refused.payload["answer"] == "Thirteen."


@pytest.mark.covers("RUN-15")
def test_an_ask_that_waits_in_the_mailbox_is_not_overdue(stage: Stage) -> None:
    ask(stage)
    assert colleague.sweep_channels(clock.now() + timedelta(days=2)) == 0
    assert A2AChannel.objects.get().state == "open"


@pytest.mark.covers("RUN-15", "TURN-75")
def test_an_ask_without_an_answer_is_closed_an_hour_after_its_turn_began(stage: Stage) -> None:
    ask(stage)
    stage.claim()
    assert colleague.sweep_channels(clock.now() + timedelta(minutes=59)) == 0
    assert colleague.sweep_channels(clock.now() + HOUR) == 1
    assert A2AChannel.objects.get().state == "expired"
    letter = Delivery.objects.get(seat_id=stage.seat("chief"))
    assert (letter.kind, letter.reply_kind) == ("a2a_answer", "none")
    assert "has not answered within an hour" in letter.payload["text"]
    closed = EngineEvent.objects.get(type="a2a_channel_closed")
    assert closed.failed
    assert closed.payload["duration_ms"] >= 0
    assert closed.payload["requester"] == str(stage.seat("chief"))
    assert closed.payload["target"] == str(stage.seat("baker"))
    assert colleague.sweep_channels(clock.now() + HOUR) == 0, "the asker is told once"


@pytest.mark.covers("RUN-15")
def test_a_late_answer_meets_a_closed_channel_and_wakes_nobody(stage: Stage) -> None:
    ask(stage)
    turn_id = stage.claim()
    colleague.sweep_channels(clock.now() + HOUR)
    stage.executes(Step(calls=[call("submit_work", summary="Twelve.")]))
    stage.reviews(DONE)
    assert stage.run(turn_id).kind == "completed"
    assert Delivery.objects.filter(seat_id=stage.seat("chief")).count() == 1
    assert not A2AMessage.objects.filter(kind="answer").exists()
    late = EngineEvent.objects.get(type="a2a_message_sent", failed=True)
    assert "is closed, an ask has one answer" in late.summary
    assert late.payload["answer"] == "Twelve.", "nothing of it is lost"


@pytest.mark.covers("RUN-15")
def test_a_channel_is_forgotten_seven_days_after_it_closed(stage: Stage) -> None:
    ask(stage)
    stage.claim()
    closed = clock.now() + HOUR
    colleague.sweep_channels(closed)
    colleague.sweep_channels(closed + timedelta(days=6))
    assert A2AChannel.objects.exists()
    colleague.sweep_channels(closed + timedelta(days=7, seconds=1))
    assert not A2AChannel.objects.exists()
    assert not A2AMessage.objects.exists()


@pytest.mark.covers("ADD-4")
def test_a_turn_that_is_given_up_answers_its_asker_and_tells_the_people_above(
    stage: Stage,
) -> None:
    ask(stage)
    turn_id = stage.claim()
    with transaction.atomic(), connection.cursor() as cursor:
        journal.abandon(
            cursor, turn_id, error_kind="node_lost", error="Five workers died under it."
        )
    turn = Turn.objects.get()
    assert (turn.stage, turn.outcome, turn.error_kind) == ("done", "failed", "node_lost")
    answer = Delivery.objects.get(kind="a2a_answer")
    assert "Five workers died" in answer.payload["text"]
    assert Notice.objects.get().seat_id == stage.seat("rita")
