"""Several keys of one provider: which is asked, which is left alone, and for how long."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from agents.llm import chain, cooling, in_flight
from agents.llm.base import ErrorKind, ProviderError, Request, UserMessage
from agents.llm.resets import stated_wait
from agents.models.providers import ProviderKey
from crewlet.kernel import clock
from tests.agents.llm.test_chain import Entry, company
from tests.support.model_server import ModelServer
from tests.support.script import SeenRequest, Step

pytestmark = [pytest.mark.django_db, pytest.mark.covers("TURN-52")]

HELLO = Request("", (UserMessage("Hi"),))
LIMITED = ("rate_limit_error", "slow down")


class Company:
    """A company with one model and as many keys as named, asked through its chain."""

    def __init__(self, server: ModelServer, *keys: str) -> None:
        self.server = server
        self.entry = Entry(type="openai", api_keys=keys, base_url=server.openai_url)
        self.snapshot = company({"main": self.entry})

    def ask(self) -> str:
        return chain.provider_for(self.snapshot, "ada", "execute").complete(HELLO).text

    def fails(self) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            self.ask()
        return caught.value

    def asked_with(self) -> list[str]:
        return [key_of(seen) for seen in self.server.seen]


def key_of(seen: SeenRequest) -> str:
    headers = {name.lower(): value for name, value in seen.headers.items()}
    return headers["authorization"].removeprefix("Bearer ")


def limited(**headers: str) -> Step:
    return Step(status=429, headers=headers, error=LIMITED)


def left(key: str) -> float:
    row = ProviderKey.objects.get(digest=cooling.digest(key))
    return (row.cooled_until - clock.now()).total_seconds()


def test_a_limited_key_cools_and_the_next_one_answers_the_same_call(
    model_server: ModelServer,
) -> None:
    two = Company(model_server, "key-one", "key-two")
    model_server.says(limited(), Step(say="Hello."), Step(say="Again."))
    assert two.ask() == "Hello."
    assert two.ask() == "Again.", "the cooling key is left alone"
    assert two.asked_with() == ["key-one", "key-two", "key-two"]
    assert 3590 < left("key-one") <= 3600


def test_of_the_ready_keys_the_least_busy_one_is_asked_and_ties_go_by_order(
    model_server: ModelServer,
) -> None:
    two = Company(model_server, "key-one", "key-two")
    model_server.says(Step(say="a"), Step(say="b"))
    with in_flight.counted("main", cooling.digest("key-one"), 60):
        two.ask()
    two.ask()
    assert two.asked_with() == ["key-two", "key-one"]
    assert in_flight.counts("main", [cooling.digest("key-one")]) == [0]


@pytest.mark.covers("PEER-11")
@pytest.mark.parametrize(
    ("step", "seconds"),
    [
        (limited(), 3600),
        (Step(status=402, error=("billing", "pay")), 3600),
        (Step(status=429, error=("insufficient_quota", "You exceeded your quota")), 1800),
        (limited(**{"retry-after": "90"}), 90),
        (limited(**{"x-ratelimit-reset-requests": "6m0s"}), 360),
        (Step(status=401, error=("authentication_error", "bad key")), 300),
        (Step(status=403, error=("permission_error", "no"), headers={"retry-after": "40"}), 40),
    ],
)
def test_how_long_a_key_cools_follows_what_the_vendor_said(
    model_server: ModelServer, step: Step, seconds: float
) -> None:
    one = Company(model_server, "key-one")
    model_server.says(step)
    failure = one.fails()
    assert seconds - 5 < left("key-one") <= seconds
    assert failure.retry_after is not None
    assert seconds - 5 < failure.retry_after <= seconds


@pytest.mark.parametrize("step", [Step(status=500), Step(status=503), Step(status=504)])
def test_a_server_that_fails_or_is_late_cools_no_key(model_server: ModelServer, step: Step) -> None:
    two = Company(model_server, "key-one", "key-two")
    model_server.says(step)
    two.fails()
    assert not ProviderKey.objects.exists()


def test_a_refused_key_cools_twice_as_long_each_time_until_it_works(
    model_server: ModelServer,
) -> None:
    one = Company(model_server, "key-one")
    bad = Step(status=401, error=("authentication_error", "bad key"))
    model_server.says(*[bad] * 8, Step(say="Hello."), bad)
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as travel:
        seen = []
        for _ in range(8):
            one.fails()
            seen.append(round(left("key-one")))
            travel.shift(timedelta(seconds=seen[-1] + 1))
        assert seen == [300 * 2 ** min(n, 6) for n in range(8)]
        assert one.ask() == "Hello."
        one.fails()
        assert round(left("key-one")) == 300, "an answer starts the count anew"


@pytest.mark.covers("PEER-10")
def test_while_all_keys_cool_nobody_is_asked_and_the_earliest_reset_is_told(
    model_server: ModelServer,
) -> None:
    two = Company(model_server, "key-one", "key-two")
    model_server.says(limited(**{"retry-after": "500"}), limited(**{"retry-after": "90"}))
    two.fails()
    again = two.fails()
    assert len(model_server.seen) == 2
    assert again.kind is ErrorKind.RATE_LIMIT
    assert again.retry_after is not None
    assert 80 < again.retry_after <= 90
    assert "cools for" in again.message
    assert "key-one" not in again.message


@pytest.mark.covers("PEER-10")
def test_when_a_cooling_ends_one_call_tries_and_the_others_wait_for_it(
    model_server: ModelServer,
) -> None:
    one = Company(model_server, "key-one")
    model_server.says(limited(**{"retry-after": "60"}), Step(say="Back."), Step(say="All."))
    one.fails()
    ProviderKey.objects.update(cooled_until=clock.now() - timedelta(seconds=1))
    assert cooling.take_probe("main", cooling.digest("key-one"), 60), "another node tries"
    waits = one.fails()
    assert len(model_server.seen) == 1
    assert waits.retry_after is not None
    assert waits.retry_after <= 5
    cooling.drop_probe("main", cooling.digest("key-one"))
    assert one.ask() == "Back."
    assert cooling.read(["main"]) == {}
    assert one.ask() == "All."


def test_a_cooling_is_never_shortened_by_a_peer() -> None:
    long = ProviderError(ErrorKind.RATE_LIMIT, "later", 5000)
    short = ProviderError(ErrorKind.RATE_LIMIT, "soon", 5)
    first = cooling.cool("main", "0123456789ab", long, cooling.Rules())
    second = cooling.cool("main", "0123456789ab", short, cooling.Rules())
    cooling.worked("main", "0123456789ab")
    assert second.until == first.until
    assert cooling.read(["main"])["main", "0123456789ab"].until == first.until


def test_the_document_may_say_how_long_keys_cool(model_server: ModelServer) -> None:
    class Cooldowns:
        rate_limit_seconds = 7
        auth_seconds = 9

    one = Company(model_server, "key-one")
    one.entry.cooldowns = Cooldowns()  # type: ignore[attr-defined]
    model_server.says(limited())
    one.fails()
    assert 5 < left("key-one") <= 7


def test_a_key_is_stored_as_twelve_hex_digits_and_never_itself(model_server: ModelServer) -> None:
    one = Company(model_server, "sk-very-secret-0123456789")
    model_server.says(Step(status=401, error=("x", "no such key sk-very-secret-0123456789")))
    one.fails()
    row = ProviderKey.objects.get()
    assert len(row.digest) == 12
    assert "very-secret" not in f"{row.digest} {row.last_error} {row.reason}"


def test_a_key_whose_variable_is_not_set_is_passed_over(model_server: ModelServer) -> None:
    two = Company(model_server, "${CREWLET_NO_SUCH_KEY}", "key-two")
    model_server.says(Step(say="Hello."))
    two.ask()
    assert two.asked_with() == ["key-two"]


@pytest.mark.covers("PEER-11")
@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Usage limit reached, resets 9:30am (UTC)", 1800),
        ("limit reached; resets at 11am (Europe/Paris)", 3600),
        ("resets 8:00am (UTC)", 23 * 3600),
        ("Please try again in 1m30s.", 90),
        ("You exceeded your current quota", 1800),
        ("slow down", None),
    ],
)
def test_a_reset_in_words_is_understood(said: str, seconds: float | None) -> None:
    with time_machine.travel(datetime(2030, 1, 1, 9, 0, tzinfo=UTC), tick=False):
        assert stated_wait(said) == seconds


@pytest.mark.covers("PEER-10")
@pytest.mark.django_db(transaction=True)
def test_two_nodes_that_meet_the_same_limit_ask_once_more_between_them(
    model_server: ModelServer,
) -> None:
    one = Company(model_server, "key-one")
    model_server.says(limited(**{"retry-after": "60"}), limited(**{"retry-after": "600"}))
    one.fails()
    ProviderKey.objects.update(cooled_until=clock.now() - timedelta(seconds=1))
    start, failures = threading.Barrier(4), []

    def node() -> None:
        from django.db import connection

        start.wait()
        try:
            one.ask()
        except ProviderError as error:
            failures.append(error)
        finally:
            connection.close()

    nodes: list[Any] = [threading.Thread(target=node) for _ in range(4)]
    for thread in nodes:
        thread.start()
    for thread in nodes:
        thread.join()
    assert len(failures) == 4
    assert len(model_server.seen) == 2, "one call found out for all"
    assert 590 < left("key-one") <= 600
