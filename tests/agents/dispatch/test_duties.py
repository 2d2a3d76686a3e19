"""Duties: once per tick for the whole company, whatever ticks how often."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest
import redis

from agents.dispatch import duties
from agents.dispatch.duties import DUTIES, Duty
from crewlet.kernel.redis import client, key
from tests.agents.play import NOON

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, datetime]]:
    log: list[tuple[str, datetime]] = []

    def fall(_now: datetime) -> None:
        raise RuntimeError("a bug in a duty")

    monkeypatch.setattr(DUTIES, "_entries", {})
    monkeypatch.setitem(DUTIES._entries, "broken", Duty("broken", 10, fall))
    monkeypatch.setitem(
        DUTIES._entries, "fine", Duty("fine", 10, lambda now: log.append(("fine", now)))
    )
    return log


def test_two_ticks_at_once_do_a_duty_once(ran: list[tuple[str, datetime]]) -> None:
    assert duties.tick(NOON) == ["fine"]
    assert duties.tick(NOON) == []
    assert ran == [("fine", NOON)]
    life = client().pttl(key("duty", "fine"))
    assert 8000 < int(str(life)) <= 9500, "free again just before the next tick"


@pytest.mark.covers("PEER-50")
def test_a_slow_duty_is_not_begun_beside_itself(
    ran: list[tuple[str, datetime]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it takes longer than its pause: nobody else finds it free before it has ended."""
    lives: list[int] = []

    def slow(now: datetime) -> None:
        lives.append(int(str(client().pttl(key("duty", "slow")))))
        assert "slow" not in duties.tick(now)

    monkeypatch.setitem(DUTIES._entries, "slow", Duty("slow", 2, slow))
    assert "slow" in duties.tick(NOON)
    assert lives[0] > 25_000
    assert int(str(client().pttl(key("duty", "slow")))) <= 1500


def test_a_duty_that_waits_for_a_foreign_server_holds_no_tick_up(
    ran: list[tuple[str, datetime]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answers = threading.Event(), threading.Event()

    def wait(_now: datetime) -> None:
        asked.set()
        assert answers.wait(10)

    monkeypatch.setitem(DUTIES._entries, "mail", Duty("mail", 10, wait, aside=True))
    assert duties.tick(NOON) == ["fine", "mail"]
    assert asked.wait(10)
    client().delete(key("duty", "mail"))
    assert duties.tick(NOON) == [], "this process is still at it"
    answers.set()
    duties._aside["mail"].join(10)
    assert not client().exists(key("duty", "mail")), "the lost claim is nobody's to keep"
    assert duties.tick(NOON) == ["mail"]
    duties._aside["mail"].join(10)


def test_a_duty_that_falls_over_does_not_stop_the_others(
    ran: list[tuple[str, datetime]],
) -> None:
    assert duties.tick(NOON) == ["fine"]
    assert len(ran) == 1


def test_without_redis_the_tick_is_skipped(
    ran: list[tuple[str, datetime]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> redis.Redis:
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(duties, "client", refuse)
    assert duties.tick(NOON) == []
    assert ran == []
