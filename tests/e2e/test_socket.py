"""The live stream of a real web process: first frame, resume, gaps, topics, and who is let in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from crewlet.kernel import live
from orgs.models.people import Person
from tests.e2e.company import SLOW, Nobody, act, found, program
from tests.e2e.conftest import OPERATOR
from tests.support import redis
from tests.support.people import a_person, signed_in
from tests.support.processes import Process

BURST = 300


@pytest.fixture
def rita(web: Process) -> Person:
    return found(Nobody())


class Socket:
    """One listener. `frames` holds all it was sent."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames: list[dict[str, Any]] = []

    def say(self, kind: str, **more: Any) -> None:
        self.connection.send(json.dumps({"kind": kind, **more}))

    def hello(self, *topics: str, **more: Any) -> dict[str, Any]:
        """Says hello and returns the answer."""
        self.say("hello", v=1, topics=list(topics), **more)
        return self.next()

    def next(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(self.connection.recv(timeout=SLOW))
        self.frames.append(frame)
        return frame

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Returns the first frame that is wanted; those before it are kept in `frames`."""
        while True:
            frame = self.next()
            if wanted(frame):
                return frame


@contextmanager
def listening(
    web: Process, token: str = OPERATOR, headers: dict[str, str] | None = None
) -> Iterator[Socket]:
    sent = {"authorization": f"Bearer {token}"} if headers is None else headers
    address = f"{web.url.replace('http', 'ws', 1)}/ws/stream"
    with connect(address, additional_headers=sent, open_timeout=SLOW) as connection:
        yield Socket(connection)


def push(text: str, *topics: str) -> None:
    """Puts a frame on the ring, as a commit does."""
    with transaction.atomic():
        live.push("event", {"text": text}, topics=topics)


def is_event(text: str) -> Callable[[dict[str, Any]], bool]:
    return lambda frame: frame["kind"] == "event" and frame["data"].get("text") == text


def test_hello_is_answered_by_the_same_snapshot_that_rest_gives(web: Process, rita: Person) -> None:
    with listening(web) as socket:
        frame = socket.hello("agents")
    headers = {"authorization": f"Bearer {OPERATOR}"}
    polled = httpx.get(f"{web.url}/api/v1/stream/snapshot", headers=headers, timeout=15).json()
    assert frame["kind"] == "snapshot"
    assert (frame["seq"], frame["boot_id"]) == (polled["seq"], polled["boot_id"])
    assert set(frame["data"]) == set(polled["data"]) == set(live.SNAPSHOT_PARTS)
    shown = {row["handle"]: row["activity"] for row in frame["data"]["agents"]["rows"]}
    assert shown["rita"] == "person"
    assert {"chief", "baker", "miller", "carter"} < set(shown)


def test_who_comes_back_gets_what_was_missed_and_nothing_twice(web: Process, rita: Person) -> None:
    push("one", "agents")
    with listening(web) as socket:
        first = socket.hello("agents")
        push("two", "agents")
        socket.until(is_event("two"))
    push("three", "agents")
    push("elsewhere", "inbox:someone.else")
    push("four", "agents")
    with listening(web) as socket:
        resumed = socket.hello("agents", last_seq=first["seq"], boot_id=first["boot_id"])
        assert (resumed["kind"], resumed["from"]) == ("resume", first["seq"])
        socket.until(is_event("four"))
        told = [frame["data"]["text"] for frame in socket.frames if frame["kind"] == "event"]
    assert told == ["two", "three", "four"]
    seqs = [frame["seq"] for frame in socket.frames if frame["kind"] == "event"]
    assert seqs == sorted(set(seqs))


@pytest.mark.parametrize("place", [{"last_seq": 999_999}, {"last_seq": 0, "boot_id": "another"}])
def test_a_place_that_the_ring_does_not_hold_is_answered_by_a_snapshot(
    web: Process, rita: Person, place: dict[str, Any]
) -> None:
    push("one", "agents")
    with listening(web) as socket:
        assert socket.hello("agents", **place)["kind"] == "snapshot"


def test_topics_come_and_go_and_an_inbox_is_its_owners_alone(web: Process, rita: Person) -> None:
    a_person("kim.cho")
    with program(web.url, rita) as rest:
        token = rest.headers["authorization"].removeprefix("Bearer ")
        with listening(web, token) as socket:
            socket.hello("inbox:rita.founder", "inbox:kim.cho", "nonsense:1")
            push("for kim", "inbox:kim.cho")
            push("nonsense", "nonsense:1")
            push("for rita", "inbox:rita.founder")
            socket.until(is_event("for rita"))
            socket.say("sub", topics=["item:BAKE-1"])
            socket.say("ping")
            socket.until(lambda frame: frame["kind"] == "pong")
            push("about the item", "item:BAKE-1")
            socket.until(is_event("about the item"))
            socket.say("unsub", topics=["item:BAKE-1"])
            socket.say("ping")
            socket.until(lambda frame: frame["kind"] == "pong")
            push("unheard", "item:BAKE-1")
            push("the end", "inbox:rita.founder")
            socket.until(is_event("the end"))
            told = [frame["data"]["text"] for frame in socket.frames if frame["kind"] == "event"]
    assert told == ["for rita", "about the item", "the end"]


def test_a_frame_that_is_not_understood_is_answered_and_the_socket_lives(
    web: Process, rita: Person
) -> None:
    with listening(web) as socket:
        for nonsense in ("no json", "[]", '{"kind": "dance"}', '{"kind": "sub", "topics": ["x"]}'):
            socket.connection.send(nonsense)
            assert socket.next()["kind"] == "error"
        assert socket.hello("agents")["kind"] == "snapshot"
        socket.say("hello", topics=[])
        assert "already" in socket.until(lambda f: f["kind"] == "error")["data"]["message"]


def closed_with(web: Process, headers: dict[str, str]) -> int | None:
    with listening(web, headers=headers) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.next()
    received = closed.value.rcvd
    return received.code if received else None


def test_a_wrong_credential_and_another_site_are_told_apart_by_the_close_code(
    web: Process, rita: Person
) -> None:
    cookie = signed_in(Client(), rita).cookies[settings.SESSION_COOKIE_NAME].value
    session = f"{settings.SESSION_COOKIE_NAME}={cookie}"
    ours = {"cookie": session, "origin": web.url}
    assert closed_with(web, {}) == 4401
    assert closed_with(web, {"authorization": "Bearer wrong"}) == 4401
    assert closed_with(web, {**ours, "authorization": "Bearer wrong"}) == 4401
    assert closed_with(web, {**ours, "origin": "https://elsewhere.example"}) == 4403
    with listening(web, headers=ours) as socket:
        assert socket.hello("inbox")["kind"] == "snapshot"


def test_after_a_burst_of_changes_what_a_listener_holds_equals_rest(
    web: Process, rita: Person
) -> None:
    """Case U03: frames are numbered, so a listener that lost some knows and fetches again."""
    key = act(rita, "create_work_item", title="A cake", project="BAKE")["key"]
    with program(web.url, rita) as rest, listening(web) as socket:
        first = socket.hello("work", f"item:{key}")
        for n in range(BURST):
            act(rita, "update_work_item", item=key, title=f"A cake of {n} layers")
        push("the end", "work")
        last = socket.until(is_event("the end"))
        place, gaps, held = first["seq"], 0, ""
        for frame in socket.frames[1:]:
            if frame["kind"] in ("gap", "snapshot"):
                gaps += 1
                place = frame.get("seq", place)
                continue
            assert frame["seq"] > place, "a frame came twice or out of order"
            place = frame["seq"]
        held = rest.get(f"/work/{key}").json()["item"]["title"]
    seen = [f for f in socket.frames if f["kind"] in ("event", "changed")]
    assert place == last["seq"]
    assert held == f"A cake of {BURST - 1} layers"
    assert gaps or len(seen) >= BURST, "frames are missing and nobody said so"
    assert any(key in json.dumps(frame) for frame in socket.frames[-6:])


def test_an_emptied_redis_shows_as_a_gap_and_a_snapshot_follows(web: Process, rita: Person) -> None:
    push("before", "agents")
    with listening(web) as socket:
        first = socket.hello("agents")
        redis.flush(os.environ["REDIS_URL"])
        push("after", "agents")
        socket.until(lambda frame: frame["kind"] == "gap")
        snapshot = socket.until(lambda frame: frame["kind"] == "snapshot")
        assert snapshot["boot_id"] not in ("", first["boot_id"])
        push("on we go", "agents")
        frame = socket.until(is_event("on we go"))
    assert frame["boot_id"] == snapshot["boot_id"]
    assert frame["seq"] > snapshot["seq"]
