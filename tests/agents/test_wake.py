"""The doorbell: rung once, after the commit, to the seat's own queue; never a burden."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
import redis
from django.db import transaction

from agents import wake
from crewlet.kernel.queue import app, seat_queue, transport_options
from crewlet.kernel.redis import client, key
from tests.agents.play import a_company

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def closed_breaker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake._breaker, "open_until", 0.0)


def queued(seat: UUID) -> list[dict[str, Any]]:
    prefix = str(transport_options(1)["global_keyprefix"])
    found: Any = client().lrange(f"{prefix}{seat_queue(seat)}", 0, -1)
    return [json.loads(text) for text in found]


def test_ten_rings_are_one_message_that_carries_nothing_but_the_seat() -> None:
    seat = uuid4()
    with transaction.atomic():
        for _ in range(10):
            wake.ring(seat)
        assert queued(seat) == []
    (message,) = queued(seat)
    assert message["headers"]["task"] == "agents.run_seat"
    assert message["headers"]["argsrepr"] == repr([str(seat)]) or str(seat) in json.dumps(message)
    assert message["headers"]["eta"] is None


def test_an_answered_ring_lets_the_next_one_through() -> None:
    seat = uuid4()
    wake.ring(seat)
    wake.answered(seat)
    wake.ring(seat)
    assert len(queued(seat)) == 2


def test_a_rolled_back_transaction_rings_nobody() -> None:
    class Undone(Exception):
        pass

    seat = uuid4()
    with pytest.raises(Undone), transaction.atomic():
        wake.ring(seat)
        raise Undone
    assert queued(seat) == []
    assert client().get(key("wake", seat)) is None


def test_a_dead_broker_is_tried_once_and_then_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def refuse() -> redis.Redis:
        tries.append(1)
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(wake, "client", refuse)
    for _ in range(5):
        wake.ring(uuid4())
    assert len(tries) == 1
    assert not wake.is_open()


def test_the_queue_promises_nothing_that_rows_do_not_keep() -> None:
    conf = app.conf
    assert conf.task_acks_late is False
    assert conf.task_ignore_result is True
    assert conf.worker_prefetch_multiplier == 1
    assert conf.worker_disable_prefetch is True
    assert conf.worker_cancel_long_running_tasks_on_connection_loss is False
    assert conf.broker_transport_options["priority_steps"] == [0]
    assert conf.broker_transport_options["max_retries"] == 0


def test_posting_after_a_renamed_handle_rings_the_same_queue() -> None:
    kofi = a_company("kofi")["kofi"]
    assert seat_queue(kofi) == f"seat.{kofi}"
