"""A server that is a program of this machine: its process, its pipes, and its last words.

Loaded with the first server only, since the protocol's library takes longer to import than Django.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from crewlet.kernel.redact import clean
from integrations.mcp.config import Reach
from integrations.mcp.hiding import hide
from integrations.mcp.orphans import Orphans

log = logging.getLogger(__name__)

CHUNK: Final = 1 << 16
LONGEST_LINE: Final = 64 << 20
LAST_WORDS: Final = 20
LINE_CHARS: Final = 500
LOOK_SECONDS: Final = 0.1
"""How often a death is looked for: a grandchild may hold the pipes open after it."""
GRACE_SECONDS: Final = 1.0


class LastWords:
    """The newest lines that a server wrote beside the protocol, without secrets."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._lines: deque[str] = deque(maxlen=LAST_WORDS)

    def add(self, line: str, where: str) -> None:
        """Keeps a line, and logs it as a field."""
        said = clean(hide(line.strip(), self._reach.secrets))[:LINE_CHARS]
        if said:
            self._lines.append(said)
            log.info("mcp_server_said", extra={
                "server": self._reach.server, "where": where, "line": said,
            })  # fmt: skip

    def tell(self) -> str:
        """Returns them as the end of a sentence; empty when there are none."""
        return " Its last lines: " + " | ".join(list(self._lines)[-5:]) if self._lines else ""


@asynccontextmanager
async def running(
    reach: Reach, words: LastWords, orphans: Orphans, ended: asyncio.Event
) -> AsyncIterator[Any]:
    """Starts the program in a process group of its own; gives its streams of messages.

    The stream that is read ends when the program does, or when its output does; `ended` is set
    when the program is gone.
    """
    orphans.ready()
    process = await asyncio.create_subprocess_exec(
        *reach.command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=reach.environment,
        cwd=reach.cwd or None,
        start_new_session=True,
    )
    orphans.add(process.pid)
    into, incoming = anyio.create_memory_object_stream[Any](0)
    outgoing, out_of = anyio.create_memory_object_stream[Any](0)
    pumps = [
        asyncio.create_task(_read(process, into, words)),
        asyncio.create_task(_write(process, out_of)),
        asyncio.create_task(_listen(process, words)),
        asyncio.create_task(_watch(process, into, ended)),
    ]
    try:
        yield incoming, outgoing
    finally:
        await _end(process)
        orphans.drop(process.pid)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        for stream in (into, incoming, outgoing, out_of):
            stream.close()


async def _read(process: asyncio.subprocess.Process, into: Any, words: LastWords) -> None:
    """Hands on every line that is a message; what a program prints besides is kept as its log."""
    pipe = process.stdout
    assert pipe is not None  # noqa: S101 - asked for at the start
    rest = b""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while chunk := await pipe.read(CHUNK):
            *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
            for line in lines:
                await _hand_on(line, into, words)
            if len(rest) > LONGEST_LINE:
                words.add(f"a message of more than {LONGEST_LINE >> 20} MB was refused", "engine")
                break
    into.close()


async def _hand_on(line: bytes, into: Any, words: LastWords) -> None:
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        words.add(line.decode(errors="replace"), "stdout")
        return
    await into.send(SessionMessage(message))


async def _write(process: asyncio.subprocess.Process, out_of: Any) -> None:
    pipe = process.stdin
    assert pipe is not None  # noqa: S101 - asked for at the start
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for item in out_of:
            body = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            pipe.write(body.encode() + b"\n")
            await pipe.drain()


async def _listen(process: asyncio.subprocess.Process, words: LastWords) -> None:
    pipe = process.stderr
    assert pipe is not None  # noqa: S101 - asked for at the start
    rest = b""
    while chunk := await pipe.read(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            words.add(line.decode(errors="replace"), "stderr")
        rest = rest[-CHUNK:]
    words.add(rest.decode(errors="replace"), "stderr")


async def _watch(process: asyncio.subprocess.Process, into: Any, ended: asyncio.Event) -> None:
    while process.returncode is None:
        await asyncio.sleep(LOOK_SECONDS)
    await asyncio.sleep(LOOK_SECONDS)  # what it wrote before it died may still be in the pipe
    into.close()
    ended.set()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Closes its input, then asks, then kills, and always the whole group."""
    if process.stdin is not None:
        process.stdin.close()
    for wish in (None, signal.SIGTERM, signal.SIGKILL):
        if wish is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, wish)
        if await _gone(process.pid, process):
            return
    log.warning("mcp_server_survives", extra={"pid": process.pid})


async def _gone(group: int, process: asyncio.subprocess.Process) -> bool:
    """Whether every process of the group ends within the grace."""
    deadline = asyncio.get_running_loop().time() + GRACE_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        if process.returncode is not None and not _alive(group):
            return True
        await asyncio.sleep(0.02)
    return False


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
