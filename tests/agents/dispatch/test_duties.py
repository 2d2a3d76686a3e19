"""Duties: once per tick for the whole company, whatever ticks how often."""

from __future__ import annotations

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
