"""Where a run happens: its own Postgres and Valkey in a temporary folder, two model servers.

Everything here runs before Django reads its settings, so nothing here imports it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from crewlet.environment import BASE_DIR
from crewlet.ops.embedded import postgres as pg
from crewlet.ops.embedded import process as processes
from crewlet.ops.embedded import valkey as vk

TOKEN: Final = "a-token-of-the-bench-that-protects-nothing"  # noqa: S105 - a folder's lifetime
_FOREIGN: Final = ("CREWLET_", "DATABASE_URL", "REDIS_URL", "ANTHROPIC_", "OPENAI_")
READY_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.01


class BenchProblem(Exception):
    """The run cannot be measured; the message says what stood in the way."""


@dataclass(frozen=True)
class ModelServer:
    """A model server in a process of its own."""

    port: int

    @property
    def openai_url(self) -> str:
        """The address with the version."""
        return f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> dict[str, Any]:
        """Returns what it received; arrivals are on this machine's monotonic clock."""
        found: dict[str, Any] = json.loads(self._call("/stats", None))
        return found

    def reset(self) -> None:
        """Forgets what it received."""
        self._call("/reset", b"{}")

    def _call(self, path: str, body: bytes | None) -> bytes:
        request = Request(f"http://127.0.0.1:{self.port}{path}", data=body)
        with urlopen(request, timeout=10) as answer:  # noqa: S310 - our own address
            return bytes(answer.read())


@dataclass(frozen=True)
class Place:
    """What a run stands on. `quick` answers at once, `slow` after 200 ms."""

    folder: Path
    quick: ModelServer
    slow: ModelServer


@contextmanager
def opened(slow_seconds: float) -> Iterator[Place]:
    """Starts everything and points this process's environment at it; ends it all afterwards."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="crewlet-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        _start_servers(folder, stack)
        quick = _start_model(folder, stack, 0.0)
        slow = _start_model(folder, stack, slow_seconds)
        yield Place(folder, quick, slow)


def _start_servers(folder: Path, stack: ExitStack) -> None:
    sockets = folder / "run"
    postgres = pg.Postgres(folder / "postgres", sockets, folder / "postgres.log")
    valkey = vk.Valkey(sockets, folder / "valkey.log")
    for server in (postgres, valkey):
        server.prepare(lambda line: None)
    stack.callback(pg.stop, postgres.start())
    stack.callback(vk.stop, valkey.start())
    postgres.create_database()
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "crewlet.settings",
        "DATABASE_URL": postgres.url,
        "REDIS_URL": valkey.url,
        "SECRET_KEY": "a-key-of-the-bench-that-protects-nothing",
        "CREWLET_DATA_DIR": str(folder / "var"),
        "CREWLET_LOG_LEVEL": "WARNING",
        "CREWLET_API_TOKEN_BENCH": TOKEN,
    }


def _start_model(folder: Path, stack: ExitStack, latency: float) -> ModelServer:
    port = free_port()
    argv = (
        *(sys.executable, "-m", "tests.support.model_server", "--port", str(port)),
        *("--latency-ms", str(latency * 1000), "--play", "reviewed-turn", "--rounds", "0"),
    )
    child(stack, "model server", argv, folder / f"model-{port}.log")
    server = ModelServer(port)
    until(lambda: accepts(port), what="the model server to listen")
    return server


def child(
    stack: ExitStack,
    name: str,
    argv: tuple[str, ...],
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a process in a group of its own that ends with `stack`; raises when it dies early."""
    with log.open("ab") as output:
        popen = subprocess.Popen(
            argv,
            cwd=BASE_DIR,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    stack.callback(processes.end, popen, signal.SIGTERM, 15.0)
    if popen.poll() is not None:
        raise BenchProblem(f"The {name} ended at once:\n{log.read_text(errors='replace')}")
    return popen


def free_port() -> int:
    """Returns a port of the loopback that nobody used a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def accepts(port: int) -> bool:
    """Tells whether somebody listens on a port of the loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(fact: Callable[[], object], *, what: str, seconds: float = READY_SECONDS) -> None:
    """Returns once `fact()` holds; raises BenchProblem naming what did not come."""
    deadline = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > deadline:
            raise BenchProblem(f"Waited {seconds:g} s in vain for {what}.")
        time.sleep(POLL_SECONDS)
