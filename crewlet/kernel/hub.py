"""One hub per web process: reads the live ring once and fans out in memory to its sockets.

The reader starts with the first listener. A listener has a bounded queue; the kinds that only say
"how it is now" are coalesced by key in it, an overflow drops the oldest frames and says so with a
`gap`, after which the client fetches a snapshot.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from functools import cached_property
from typing import Any

import redis
import redis.asyncio
from prometheus_client import Counter, Gauge

from crewlet.kernel.live import ring_keys
from crewlet.kernel.redis import async_client, key

log = logging.getLogger(__name__)

QUEUE_FRAMES = 256
_BLOCK_MS = 2000
_BATCH = 256
_RETRY_SECONDS = 0.5
_COALESCED = frozenset({"agents", "health", "budget", "tokens"})

WS_CLIENTS = Gauge("crewlet_ws_clients", "Sockets that listen to this process.")
WS_DROPPED = Counter("crewlet_ws_dropped_total", "Frames dropped for a slow socket.")

Frame = dict[str, Any]
Entry = tuple[str, dict[str, str]]


def _entries(answer: Any, stream: str) -> list[Entry]:
    """Returns the entries of an XREAD answer: a map of streams in RESP3, a list of pairs in RESP2.

    RESP3 wraps the entries of a stream in one more list.
    """
    if not answer:
        return []
    found = answer[stream] if isinstance(answer, dict) else answer[0][1]
    if len(found) == 1 and isinstance(found[0], list) and isinstance(found[0][0], (list, tuple)):
        found = found[0]
    return [(entry[0], entry[1]) for entry in found]


class Shared(Frame):
    """A frame that many sockets are sent; encoded once, however many they are."""

    @cached_property
    def text(self) -> str:
        """The frame as JSON. A frame is never changed once it is offered."""
        return json.dumps(self, default=str, separators=(",", ":"))


class Listener:
    """One socket's view of the ring: its topics and its bounded queue."""

    def __init__(self) -> None:
        self.topics: set[str] = set()
        self._frames: OrderedDict[str, Frame] = OrderedDict()
        self._dropped = 0
        self._counter = 0
        self._ready = asyncio.Event()

    def offer(self, frame: Frame) -> None:
        """Queues a frame, coalescing or dropping the oldest when the socket is slow."""
        self._counter += 1
        slot = str(self._counter)
        if frame["kind"] in _COALESCED:
            slot = f"{frame['kind']}:{frame.get('key', '')}"
            self._frames.pop(slot, None)
        elif frame["kind"] == "progress" and "topic" in frame:
            # Only text in the making grows, so that its newest says all; a step is told once.
            slot = f"progress:{frame['topic']}:{frame['data'].get('kind', '')}"
            self._frames.pop(slot, None)
        self._frames[slot] = frame
        while len(self._frames) > QUEUE_FRAMES:
            self._frames.popitem(last=False)
            self._dropped += 1
            WS_DROPPED.inc()
        self._ready.set()

    def offer_gap(self) -> None:
        """Says that frames are missing."""
        self._dropped += 1
        self._ready.set()

    async def take(self) -> list[Frame]:
        """Waits for frames and returns all of them, a `gap` first when some were dropped."""
        await self._ready.wait()
        self._ready.clear()
        frames = list(self._frames.values())
        self._frames.clear()
        if self._dropped:
            frames.insert(0, {"kind": "gap", "data": {"dropped": self._dropped}})
            self._dropped = 0
        return frames

    def wants(self, frame: Frame) -> bool:
        """Returns whether the socket listens to what the frame is about."""
        topics = frame.get("topics") or ()
        return not topics or bool(self.topics.intersection(topics))


class Hub:
    """Reads the ring for one event loop and hands every frame to its listeners."""

    def __init__(self) -> None:
        self.listeners: set[Listener] = set()
        self.seq = 0
        self.boot_id = ""
        self._task: asyncio.Task[None] | None = None
        self._client: redis.asyncio.Redis | None = None
        self._pubsub: Any = None
        self._partial_task: asyncio.Task[None] | None = None
        self._changing = asyncio.Lock()

    async def join(self, listener: Listener) -> None:
        """Adds a listener; the first one starts the reader.

        A page that comes back opens many sockets at once: whoever joins while the reader is being
        started waits for it. Two readers would give every frame twice and a gap with each.
        """
        self.listeners.add(listener)
        WS_CLIENTS.set(len(self.listeners))
        async with self._changing:
            if self._task is None or self._task.done():
                self._client = async_client()
                await self._find_tail(self._client)
                self._task = asyncio.create_task(self._read_forever(self._client))

    async def leave(self, listener: Listener) -> None:
        """Takes a listener out; the last one stops the readers."""
        self.listeners.discard(listener)
        WS_CLIENTS.set(len(self.listeners))
        async with self._changing:
            # Asked under the lock: somebody may have joined while the last reader was stopped.
            if not self.listeners:
                await self._stop()
                return
        await self._follow_partials()

    async def listen(self, listener: Listener, topics: set[str]) -> None:
        """Sets the topics of a listener and follows their partial text."""
        listener.topics = topics
        await self._follow_partials()

    async def missed(self, last_seq: int, boot_id: str) -> list[Frame] | None:
        """Returns the frames after `last_seq`, or None when the ring no longer holds them all."""
        if boot_id != self.boot_id or last_seq > self.seq or self._client is None:
            return None
        try:
            answer: Any = await self._client.xrange(
                ring_keys()[0], f"({last_seq}-0", f"{self.seq}-0"
            )
        except redis.RedisError:
            return None
        rows: list[Entry] = list(answer or [])
        if len(rows) != self.seq - last_seq:
            return None
        return [self._frame(entry_id, fields) for entry_id, fields in rows]

    async def _find_tail(self, client: redis.asyncio.Redis) -> None:
        _, boot, counter = ring_keys()
        try:
            self.boot_id = str(await client.get(boot) or "")
            self.seq = int(await client.get(counter) or 0)
        except redis.RedisError as error:
            log.warning("hub_ring_unreachable", extra={"error": str(error)})

    async def _read_forever(self, client: redis.asyncio.Redis) -> None:
        lost = False
        while True:
            try:
                if lost:
                    await self._find_tail(client)
                    self._tell_gap()
                    lost = False
                await self._read_once(client)
            except (redis.RedisError, OSError) as error:
                log.warning("hub_ring_unreachable", extra={"error": str(error)})
                lost = True
                await asyncio.sleep(_RETRY_SECONDS)

    async def _read_once(self, client: redis.asyncio.Redis) -> None:
        stream = ring_keys()[0]
        answer: Any = await client.xread({stream: f"{self.seq}-0"}, count=_BATCH, block=_BLOCK_MS)
        rows = _entries(answer, stream)
        if not rows:
            await self._notice_new_ring(client)
            return
        for entry_id, fields in rows:
            seq = int(entry_id.split("-")[0])
            if fields["boot"] != self.boot_id or seq != self.seq + 1:
                if self.boot_id:
                    self._tell_gap()
                self.boot_id = fields["boot"]
            frame = self._frame(entry_id, fields)
            self.seq = seq
            for listener in tuple(self.listeners):
                if listener.wants(frame):
                    listener.offer(frame)

    async def _notice_new_ring(self, client: redis.asyncio.Redis) -> None:
        """A flushed Redis starts the count again: our place would wait for ever."""
        boot = str(await client.get(ring_keys()[1]) or "")
        if self.boot_id and boot != self.boot_id:
            self.seq, self.boot_id = 0, boot
            self._tell_gap()

    def _frame(self, entry_id: str, fields: dict[str, str]) -> Frame:
        frame: Frame = json.loads(fields["frame"])
        seq = int(entry_id.split("-", maxsplit=1)[0])
        return Shared({"boot_id": fields["boot"], "seq": seq, "prev": seq - 1, **frame})

    def _tell_gap(self) -> None:
        for listener in tuple(self.listeners):
            listener.offer_gap()

    async def _follow_partials(self) -> None:
        """Subscribes to exactly the partial text that somebody here watches."""
        if self._client is None:
            return
        wanted = {
            key("partial", topic)
            for listener in self.listeners
            for topic in listener.topics
            if topic.startswith(("turn:", "seat:"))
        }
        if self._pubsub is None:
            if not wanted:
                return
            self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)
        current = set(self._pubsub.channels)
        try:
            if wanted - current:
                await self._pubsub.subscribe(*(wanted - current))
            if current - wanted:
                await self._pubsub.unsubscribe(*(current - wanted))
        except redis.RedisError as error:
            log.warning("hub_partials_unreachable", extra={"error": str(error)})
            return
        if wanted and (self._partial_task is None or self._partial_task.done()):
            self._partial_task = asyncio.create_task(self._read_partials())

    async def _read_partials(self) -> None:
        while self._pubsub is not None and self._pubsub.subscribed:
            try:
                message = await self._pubsub.get_message(timeout=_BLOCK_MS / 1000)
            except (redis.RedisError, OSError) as error:
                log.warning("hub_partials_unreachable", extra={"error": str(error)})
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            if message is None:
                continue
            frame = Shared(json.loads(message["data"]))
            for listener in tuple(self.listeners):
                if frame["topic"] in listener.topics:
                    listener.offer(frame)

    async def _stop(self) -> None:
        for task in (self._task, self._partial_task):
            if task is not None:
                task.cancel()
        self._task = self._partial_task = None
        if self._pubsub is not None:
            await self._pubsub.aclose()
            self._pubsub = None
        if self._client is not None:
            await self._client.aclose()
            self._client = None


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def current_hub() -> Hub:
    """Returns the hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
