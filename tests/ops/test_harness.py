"""The ground that every test stands on."""

from __future__ import annotations

import os
import time

import pytest
from django.conf import settings
from django.db import connection

from crewlet.kernel import redis
from tests.support.until import until


@pytest.mark.django_db
def test_the_database_is_this_workers_own_clone() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database(), current_setting('fsync')")
        assert cursor.fetchone() == (
            f"crewlet_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}",
            "off",
        )


@pytest.mark.parametrize("turn", ["first", "second"])
def test_every_test_begins_with_an_empty_redis(turn: str) -> None:
    assert redis.client().dbsize() == 0
    redis.client().set(redis.key("left-over"), turn)


def test_settings_hold_the_short_lease_of_the_tests() -> None:
    assert settings.CREWLET.lease_ttl == 2
    assert settings.CREWLET.failpoint == ""


def test_until_returns_the_first_true_answer_and_names_what_never_came() -> None:
    answers = iter([0, None, "here"])
    assert until(lambda: next(answers), 5) == "here"
    begun = time.perf_counter()
    with pytest.raises(
        AssertionError, match=r"not within 0\.05 s: the train \(last answer: False\)"
    ):
        until(lambda: False, 0.05, what="the train")
    assert time.perf_counter() - begun < 2
