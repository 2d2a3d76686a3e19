"""One supervised child: started in a group of its own, restarted with a growing pause, ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crewlet.environment import BASE_DIR
from crewlet.ops.roster import Role
from crewlet.ops.screen import Screen

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
# A child that lived this long has recovered; its next death is a first one again.
STEADY_SECONDS = 60.0


@dataclass
class Child:
    """A process and the number of times it died in a row. `start` returns the running process."""

    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    stop: signal.Signals = signal.SIGTERM
    node_id: str = ""
    process: subprocess.Popen[bytes] | None = None
    deaths: int = 0
    started_at: float = 0.0
    restart_at: float | None = None

    def run(self, now: float) -> subprocess.Popen[bytes]:
        """Starts the child."""
        self.process = self.start()
        self.started_at = now
        self.restart_at = None
        return self.process

    def note_death(self, now: float) -> float:
        """Counts a death and returns the pause before the next start, in seconds."""
        if now - self.started_at >= STEADY_SECONDS:
            self.deaths = 0
        pause = min(FIRST_PAUSE_SECONDS * 2.0**self.deaths, LONGEST_PAUSE_SECONDS)
        self.deaths += 1
        self.process = None
        self.restart_at = now + pause
        return pause

    @property
    def running(self) -> bool:
        """Tells whether the process lives."""
        return self.process is not None and self.process.poll() is None

    def ask_to_stop(self) -> None:
        """Sends the child's own stop signal, to it alone: it ends its children itself."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(self.stop)

    def kill(self) -> None:
        """Ends the child and everything in its group at once."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait(self, seconds: float) -> bool:
        """Waits for the end; tells whether it came."""
        if self.process is None:
            return True
        try:
            self.process.wait(timeout=max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True


def child_of(role: Role, environment: Mapping[str, str], screen: Screen) -> Child:
    """Returns a child of `role` whose output goes to the screen under its name."""

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            role.argv,
            cwd=BASE_DIR,
            env={**environment, **role.environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        if process.stdout is not None:
            screen.follow(role.name, process.stdout)
        return process

    return Child(role.name, start, role.stop, role.node_id)
