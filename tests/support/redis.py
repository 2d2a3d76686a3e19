"""The Valkey of the tests: one server a session, one numbered database and prefix a worker."""

from __future__ import annotations

import subprocess
from pathlib import Path

import redis

from crewlet.environment import embedded_redis_url
from crewlet.ops.embedded.valkey import Valkey
from tests.support import postgres


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Starts a server that keeps nothing."""
    server = Valkey(postgres.sockets(folder), folder / "valkey.log")
    server.prepare(lambda _line: None)
    return server.start()


def url(folder: Path, worker: str) -> str:
    """Returns the address of one test process's database."""
    number = 0 if worker == "main" else 1 + int(worker.removeprefix("gw")) % 15
    return embedded_redis_url(postgres.sockets(folder)).replace("?db=0", f"?db={number}")


def flush(address: str) -> None:
    """Empties one test process's database; other workers' stay."""
    with redis.Redis.from_url(address, socket_timeout=5) as client:
        client.flushdb()
