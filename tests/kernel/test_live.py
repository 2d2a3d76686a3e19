"""The live ring and the hub that reads it, against a real Valkey."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis
from django.db import transaction

from crewlet.kernel import live
from crewlet.kernel.hub import QUEUE_FRAMES, Hub, Listener, Shared
from crewlet.kernel.redis import client
from tests.kernel.conftest import person

Frames = list[dict[str, Any]]


def run(body: Callable[[Hub, Listener], Awaitable[None]]) -> None:
    async def scene() -> None:
        hub, listener = Hub(), Listener()
        await hub.join(listener)
        try:
            await asyncio.wait_for(body(hub, listener), timeout=20)
        finally:
            await hub.leave(listener)

    asyncio.run(scene())


def push(kind: str, data: Any, topics: tuple[str, ...] = ()) -> None:
    live._send([{"kind": kind, "ts": "now", "topics": list(topics), "data": data}])


def push_many(count: int) -> None:
    for n in range(count):
        push("event", n)


async def take_until(listener: Listener, count: int) -> Frames:
    frames: Frames = []
    while len(frames) < count:
        frames += await listener.take()
    return frames


@pytest.mark.covers("UI-94")
def test_frames_arrive_numbered_without_a_gap() -> None:
    async def body(hub: Hub, listener: Listener) -> None:
        await asyncio.to_thread(push_many, 3)
        frames = await take_until(listener, 3)
        assert [frame["data"] for frame in frames] == [0, 1, 2]
        assert [frame["seq"] - frame["prev"] for frame in frames] == [1, 1, 1]
        assert len({frame["boot_id"] for frame in frames}) == 1

    run(body)


def test_a_socket_hears_its_topics_and_what_has_none() -> None:
    async def body(hub: Hub, listener: Listener) -> None:
        await hub.listen(listener, {"item:ENG-4"})
        await asyncio.to_thread(push, "changed", "other", ("item:ENG-5",))
        await asyncio.to_thread(push, "changed", "mine", ("item:ENG-4", "work"))
        await asyncio.to_thread(push, "health", "all")
        frames = await take_until(listener, 2)
        assert [frame["data"] for frame in frames] == ["mine", "all"]

    run(body)


@pytest.mark.covers("UI-94")
def test_a_slow_socket_keeps_the_newest_state_and_is_told_of_the_gap() -> None:
    async def body(hub: Hub, listener: Listener) -> None:
        for n in range(QUEUE_FRAMES + 10):
            listener.offer({"kind": "event", "data": n})
        for n in range(50):
            listener.offer({"kind": "agents", "key": "kofi", "data": n})
        frames = await listener.take()
        assert frames[0] == {"kind": "gap", "data": {"dropped": 11}}
        assert len(frames) == QUEUE_FRAMES + 1
        assert [f["data"] for f in frames if f["kind"] == "agents"] == [49]

    run(body)


@pytest.mark.covers("UI-94")
def test_missed_frames_are_replayed_while_the_ring_holds_them() -> None:
    async def body(hub: Hub, listener: Listener) -> None:
        await asyncio.to_thread(push_many, 5)
        frames = await take_until(listener, 5)
        boot, last = frames[1]["boot_id"], frames[1]["seq"]
        missed = await hub.missed(last, boot)
        assert missed is not None and [frame["data"] for frame in missed] == [2, 3, 4]
        assert await hub.missed(last, "another boot") is None
        assert await hub.missed(last + 99, boot) is None

    run(body)


def test_sockets_that_join_at_once_share_one_reader() -> None:
    async def scene() -> None:
        hub, listeners = Hub(), [Listener() for _ in range(8)]
        await asyncio.gather(*(hub.join(listener) for listener in listeners))
        try:
            await asyncio.to_thread(push_many, 6)
            for listener in listeners:
                frames = await asyncio.wait_for(take_until(listener, 6), timeout=20)
                assert [frame.get("data") for frame in frames] == [0, 1, 2, 3, 4, 5]
        finally:
            await asyncio.gather(*(hub.leave(listener) for listener in listeners))

    asyncio.run(scene())


def test_who_joins_while_the_last_one_leaves_hears_what_comes() -> None:
    async def scene() -> None:
        hub, old, new = Hub(), Listener(), Listener()
        await hub.join(old)
        await asyncio.gather(hub.leave(old), hub.join(new))
        try:
            await asyncio.to_thread(push_many, 2)
            frames = await asyncio.wait_for(take_until(new, 2), timeout=20)
            assert [frame["data"] for frame in frames] == [0, 1]
        finally:
            await hub.leave(new)

    asyncio.run(scene())


def test_a_frame_is_encoded_once_for_all_sockets() -> None:
    async def body(hub: Hub, listener: Listener) -> None:
        other = Listener()
        await hub.join(other)
        await asyncio.to_thread(push, "event", "x" * 100)
        (mine,), (theirs,) = await take_until(listener, 1), await take_until(other, 1)
        assert isinstance(mine, Shared) and isinstance(theirs, Shared)
        assert mine.text is theirs.text
        assert json.loads(mine.text)["data"] == "x" * 100
        await hub.leave(other)

    run(body)


def test_a_flushed_redis_shows_as_a_gap_and_frames_go_on() -> None:
    async def body(hub: Hub, listener: Listener) -> None:
        await asyncio.to_thread(push, "event", "before")
        await take_until(listener, 1)
        await asyncio.to_thread(client().flushdb)
        await asyncio.to_thread(push, "event", "after")
        frames: Frames = []
        while not {"gap", "event"} <= {frame["kind"] for frame in frames}:
            frames += await listener.take()
            if all(frame.get("data") != "after" for frame in frames):
                await asyncio.to_thread(push, "event", "after")
        assert "after" in [frame["data"] for frame in frames]

    run(body)


def test_partial_text_reaches_only_who_watches() -> None:
    async def body(hub: Hub, listener: Listener) -> None:
        await hub.listen(listener, {"turn:1"})
        sent = 0
        while not listener._frames:
            await asyncio.to_thread(live.partial, "turn:2", {"text": "other"})
            await asyncio.to_thread(live.partial, "turn:1", {"text": f"mine {sent}"})
            sent += 1
        frames = await listener.take()
        assert {frame["topic"] for frame in frames} == {"turn:1"}
        assert frames[-1]["data"]["text"].startswith("mine")

    run(body)


def test_only_a_registered_topic_is_heard() -> None:
    assert not live.may_hear(person(), "nobody:registered")


@pytest.mark.django_db(transaction=True)
def test_the_frames_of_a_transaction_go_in_one_message_and_a_rolled_back_one_goes_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[list[Any]] = []
    monkeypatch.setattr(live, "_send", lambda frames: sent.append([f["data"] for f in frames]))
    with transaction.atomic():
        live.push("event", 1)
        with contextlib.suppress(ZeroDivisionError), transaction.atomic():
            live.push("event", "undone")
            raise ZeroDivisionError
        live.push("event", 2)
    live.push("event", 3)

    assert sent == [[1, 2], [3]]


def test_the_steps_of_a_turn_are_each_told_and_leave_the_reader_alive() -> None:
    async def body(hub: Hub, listener: Listener) -> None:
        listener.topics.add("turn:1")
        for event in ("answered", "calling", "called"):
            await asyncio.to_thread(push, "progress", {"event": event}, ("turn:1",))
        await asyncio.to_thread(push, "event", "after")
        frames = await take_until(listener, 4)
        assert [frame["data"] for frame in frames[:3]] == [
            {"event": "answered"}, {"event": "calling"}, {"event": "called"},
        ]  # fmt: skip
        assert frames[3]["data"] == "after"

    run(body)


def test_a_frozen_redis_holds_partial_text_up_once_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    class Frozen:
        def publish(self, channel: str, body: str) -> None:
            asked.append(channel)
            raise redis.TimeoutError("Timeout reading from socket")

    monkeypatch.setattr(live, "_down_until", 0.0)
    monkeypatch.setattr(live, "client", Frozen)
    for _ in range(5):
        live.partial("turn:1", {"text": "more"})

    assert len(asked) == 1
