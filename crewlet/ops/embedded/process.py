"""One server process: started in a group of its own, watched while it comes up, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from crewlet.ops.embedded.errors import ServerProblem

READY_SECONDS = 30.0
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class ServerCommand:
    """How one server is started: argv, the account, where its log goes."""

    name: str
    argv: Sequence[str]
    log: Path
    uid: int | None = None
    gid: int | None = None

    def start(self, output: IO[bytes] | int | None = None) -> subprocess.Popen[bytes]:
        """Starts the server in its own process group; `output` stands in for the log file."""
        # The working directory is / because the account may not be able to enter the caller's.
        if output is not None:
            return self._popen(output)
        with self.log.open("ab") as log:
            return self._popen(log)

    def _popen(self, output: IO[bytes] | int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            user=self.uid,
            group=self.gid,
            extra_groups=[] if self.uid is not None else None,
            process_group=0,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        )


def wait_ready(
    name: str,
    process: subprocess.Popen[bytes],
    ready: Callable[[], bool],
    log: Path,
    seconds: float = READY_SECONDS,
) -> None:
    """Returns once `ready()` holds; raises ServerProblem with the log's end when it cannot."""
    deadline = time.monotonic() + seconds
    while not ready():
        code = process.poll()
        if code is not None:
            raise ServerProblem(f"{name} ended at once with code {code}.{_tail(log)}")
        if time.monotonic() > deadline:
            process.kill()
            raise ServerProblem(f"{name} was not ready within {seconds:g} s.{_tail(log)}")
        time.sleep(POLL_SECONDS)


def end(process: subprocess.Popen[bytes], how: signal.Signals, seconds: float = 20.0) -> int:
    """Ends `process` by `how`, by SIGKILL to its group when it takes longer; returns its code."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _tail(log: Path, lines: int = 12) -> str:
    try:
        found = log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        return ""
    return "".join(f"\n  {line}" for line in found)
