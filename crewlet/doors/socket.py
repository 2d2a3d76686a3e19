"""The socket `/ws/stream`: reads only. Snapshot or resume first, then numbered frames.

The client's first frame is `{"kind": "hello", "v": 1, "last_seq": n|null, "boot_id": "…",
"topics": […]}`; later ones are `sub`, `unsub` and `ping`. Subscribing comes before the snapshot is
read, so that nothing falls between the two.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import connection
from django.urls import path

from crewlet.kernel import live
from crewlet.kernel.actors import WAYS, Actor
from crewlet.kernel.errors import CrewletError, ErrorCode
from crewlet.kernel.hub import Listener, Shared, current_hub

CLOSE_CREDENTIAL = 4401
CLOSE_ORIGIN = 4403
RECHECK_SECONDS = 60.0
_MAX_TOPICS = 64
_ALWAYS = frozenset({"health"})


def _resolve(scope: Any) -> Actor | None:
    try:
        return WAYS["socket"](scope)
    finally:
        connection.close()


def _snapshot(actor: Actor) -> dict[str, Any]:
    try:
        return live.snapshot(actor)
    finally:
        connection.close()


class StreamConsumer(AsyncWebsocketConsumer):
    """One browser or program that listens."""

    actor: Actor
    listener: Listener
    _pump: asyncio.Task[None] | None = None
    _watch: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Accepts a known actor from an allowed origin; says by its close code why it does not."""
        try:
            actor = await database_sync_to_async(_resolve)(self.scope)
        except CrewletError as error:
            await self.accept()
            origin = error.code is ErrorCode.CSRF_ORIGIN
            await self.close(CLOSE_ORIGIN if origin else CLOSE_CREDENTIAL)
            return
        if actor is None:
            await self.accept()
            await self.close(CLOSE_CREDENTIAL)
            return
        self.actor = actor
        self.listener = Listener()
        await self.accept()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Understands hello, sub, unsub and ping; answers anything else with an error frame."""
        try:
            message = json.loads(text_data or "")
            kind = message["kind"]
        except (ValueError, KeyError, TypeError):
            await self._refuse("A frame is a JSON object with a kind.")
            return
        if kind == "hello":
            await self._hello(message)
        elif kind == "ping":
            await self._send({"kind": "pong"})
        elif kind in ("sub", "unsub") and self._pump is not None:
            await self._change_topics(kind, message.get("topics"))
        else:
            await self._refuse(f"Frames of kind '{kind}' are not understood here. Say hello first.")

    async def disconnect(self, code: int) -> None:
        """Leaves the hub."""
        for task in (self._pump, self._watch):
            if task is not None:
                task.cancel()
        if self._pump is not None:
            await current_hub().leave(self.listener)

    async def _hello(self, message: dict[str, Any]) -> None:
        if self._pump is not None:
            await self._refuse("Hello was said already; use sub and unsub.")
            return
        hub = current_hub()
        topics = self._allowed(message.get("topics"))
        await hub.join(self.listener)
        await hub.listen(self.listener, topics)
        missed = None
        if isinstance(message.get("last_seq"), int):
            missed = await hub.missed(message["last_seq"], str(message.get("boot_id", "")))
        if missed is None:
            await self._send_snapshot()
        else:
            await self._send(
                {
                    "kind": "resume",
                    "from": message["last_seq"],
                    "to": hub.seq,
                    "boot_id": hub.boot_id,
                }
            )
            for frame in missed:
                if self.listener.wants(frame):
                    await self._send(frame)
        self._pump = asyncio.create_task(self._pump_frames())
        self._watch = asyncio.create_task(self._watch_credential())

    async def _send_snapshot(self) -> None:
        hub = current_hub()
        seq, boot_id = hub.seq, hub.boot_id
        data = await database_sync_to_async(_snapshot)(self.actor)
        await self._send({"kind": "snapshot", "seq": seq, "boot_id": boot_id, "data": data})

    async def _change_topics(self, kind: str, raw: Any) -> None:
        topics = self._allowed(raw)
        current = self.listener.topics
        wanted = current | topics if kind == "sub" else (current - topics) | _ALWAYS
        await current_hub().listen(self.listener, wanted)

    def _allowed(self, raw: Any) -> set[str]:
        names = [name for name in raw if isinstance(name, str)] if isinstance(raw, list) else []
        heard = {name for name in names[:_MAX_TOPICS] if live.may_hear(self.actor, name)}
        return heard | _ALWAYS

    async def _pump_frames(self) -> None:
        while True:
            for frame in await self.listener.take():
                if frame["kind"] == "gap":
                    await self._send(frame)
                    await self._send_snapshot()
                else:
                    await self._send(frame)

    async def _watch_credential(self) -> None:
        """Ends the socket within a minute of its credential."""
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            try:
                actor = await database_sync_to_async(_resolve)(self.scope)
            except CrewletError:
                actor = None
            if actor is None:
                await self.close(CLOSE_CREDENTIAL)
                return

    async def _refuse(self, words: str) -> None:
        await self._send({"kind": "error", "data": {"message": words}})

    async def _send(self, frame: dict[str, Any]) -> None:
        shared = frame if isinstance(frame, Shared) else Shared(frame)
        await self.send(text_data=shared.text)


websocket_urlpatterns = [path("ws/stream", cast("Any", StreamConsumer.as_asgi()))]
