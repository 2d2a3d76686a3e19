"""The live ring: a Redis stream that every web process reads and fans out to its sockets.

A frame is `{boot_id, seq, prev, kind, ts, topics, data}`. `seq` counts up by one; a reader that
sees a gap, or another `boot_id`, asks for a snapshot. Pushing happens after commit, never blocks
for longer than a dead server takes to refuse, and never fails the caller: rows are the truth.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import redis
from django.db import connection, transaction
from prometheus_client import Counter

from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.ids import new_id
from crewlet.kernel.redis import client, key
from crewlet.kernel.registry import Registry

log = logging.getLogger(__name__)

RING_FRAMES = 4096
_BREAKER_SECONDS = 2.0

SnapshotPart = Callable[[Actor], Any]
SNAPSHOT_PARTS: Registry[SnapshotPart] = Registry("snapshot parts")
"""What the first frame of a socket holds: part name → function of the actor, JSON out."""

TopicRule = Callable[[Actor, str], bool]
TOPICS: Registry[TopicRule] = Registry("live topics")
"""Who may hear a topic: its name before the colon → `(actor, rest) -> bool`."""

HINTS_LOST = Counter("crewlet_live_frames_lost_total", "Frames that Redis did not take.")

_PUSH = """
local boot = redis.call('GET', KEYS[2])
if not boot then
  boot = ARGV[1]
  redis.call('SET', KEYS[2], boot)
end
for i = 3, #ARGV do
  local seq = redis.call('INCR', KEYS[3])
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], seq .. '-0', 'boot', boot, 'frame', ARGV[i])
end
return redis.call('GET', KEYS[3])
"""

_down_until = 0.0


def ring_keys() -> tuple[str, str, str]:
    """Returns the keys of the stream, its boot id and its counter."""
    return key("ring"), key("ring", "boot"), key("ring", "seq")


def _trip(lost: str, error: redis.RedisError) -> None:
    """Leaves Redis alone for a moment: a frozen one costs a second each time it is asked."""
    global _down_until  # noqa: PLW0603  # one breaker per process
    _down_until = clock.monotonic() + _BREAKER_SECONDS
    log.warning(lost, extra={"error": str(error)})


def _send(frames: list[dict[str, Any]]) -> None:
    if clock.monotonic() < _down_until:
        HINTS_LOST.inc(len(frames))
        return
    bodies = [json.dumps(frame, default=str, separators=(",", ":")) for frame in frames]
    try:
        stream, boot, seq = ring_keys()
        client().eval(_PUSH, 3, stream, boot, seq, str(new_id()), RING_FRAMES, *bodies)
    except redis.RedisError as error:
        HINTS_LOST.inc(len(frames))
        _trip("live_ring_unreachable", error)


@dataclass(slots=True)
class _Batch:
    """The frames of one transaction, sent together; those of a savepoint go with its rollback."""

    frames: list[dict[str, Any]]

    def __call__(self) -> None:
        _send(self.frames)


def push(kind: str, data: Any, *, topics: Iterable[str] = ()) -> None:
    """Puts a frame on the ring after the current transaction's commit, at once without one."""
    frame = {"kind": kind, "ts": clock.now().isoformat(), "topics": list(topics), "data": data}
    savepoints = set(connection.savepoint_ids)
    pending: list[Any] = list(connection.run_on_commit)
    for sids, hook, *_ in pending:
        if isinstance(hook, _Batch) and set(sids) == savepoints:
            hook.frames.append(frame)
            return
    transaction.on_commit(_Batch([frame]), robust=True)


def changed(*topics: str) -> None:
    """Hints after commit that what these topics show is to be fetched again."""
    push("changed", {"topics": sorted(set(topics))}, topics=topics)


def partial(topic: str, data: dict[str, Any]) -> None:
    """Sends text in the making to whoever listens right now; nothing keeps it.

    Never fails: a listener that missed it gets the whole round when it is recorded.
    """
    if clock.monotonic() < _down_until:
        return
    body = json.dumps({"kind": "progress", "topic": topic, "data": data}, default=str)
    try:
        client().publish(key("partial", topic), body)
    except redis.RedisError as error:
        _trip("live_partial_lost", error)


def may_hear(actor: Actor, topic: str) -> bool:
    """Returns whether an actor may subscribe to a topic; an unknown one is never heard."""
    name, _, rest = topic.partition(":")
    rule = TOPICS.get(name)
    return rule is not None and rule(actor, rest)


def snapshot(actor: Actor) -> dict[str, Any]:
    """Returns every registered part as the actor may see it."""
    return {name: part(actor) for name, part in SNAPSHOT_PARTS.items()}
