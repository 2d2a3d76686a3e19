"""Real processes for crash and end-to-end tests: started, watched by their log, killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from crewlet.environment import BASE_DIR
from crewlet.ops import roster
from crewlet.ops.roster import Role
from tests.support import postgres, servers
from tests.support.until import until
from tests.support.warm import WarmProcess

START_SECONDS = 30.0
END_SECONDS = 20.0


@dataclass
class Process:
    """One running process in a group of its own, and the file that holds what it wrote."""

    name: str
    popen: WarmProcess | subprocess.Popen[bytes]
    log: Path
    url: str = ""

    @property
    def pid(self) -> int:
        """The process id, which is its group's too."""
        return self.popen.pid

    @property
    def output(self) -> str:
        """Everything written so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def ended(self) -> bool:
        """Tells whether it has ended."""
        return self.popen.poll() is not None

    def terminate(self) -> None:
        """Asks it to drain."""
        self.popen.send_signal(signal.SIGTERM)

    def freeze(self) -> None:
        """Stops it where it stands, as a node that swaps or a paused machine does."""
        os.killpg(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets it go on."""
        os.killpg(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kills the whole group as `kill -9` does; returns once it is gone."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            assert self.ended
        self.popen.wait(END_SECONDS)

    def wait(self, seconds: float = END_SECONDS) -> int:
        """Returns the exit code; fails with the log when it does not end in time."""
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.name} still runs after {seconds:g} s\n{self.output}"
            ) from None

    def until_it_says(self, words: str, deadline: float = START_SECONDS) -> None:
        """Returns once `words` stand in the log; fails with the log when it ends before."""

        def said() -> bool:
            found = words in self.output
            assert found or not self.ended, f"{self.name} ended without {words!r}\n{self.output}"
            return found

        until(said, deadline, what=f"{self.name} says {words!r}")


@dataclass
class Processes:
    """The processes of one test; all of them are killed at its end."""

    folder: Path
    running: list[Process] = field(default_factory=list)

    def start(self, role: Role, **environment: str) -> Process:
        """Starts `role` on this test's database and Redis, with the tests' short lease."""
        log = self.folder / f"{role.name}-{len(self.running)}.log"
        log.touch()
        popen = WarmProcess(
            role.argv,
            folder=BASE_DIR,
            environment={**child_environment(), **role.environment, **environment},
            log=log,
        )
        process = Process(role.name, popen, log)
        self.running.append(process)
        return process

    def start_web(self, **environment: str) -> Process:
        """Starts web on a free port; returns once it answers."""
        port = free_port()
        process = self.start(roster.web(port), **environment)
        process.url = f"http://127.0.0.1:{port}"
        until(lambda: _answers(process), START_SECONDS, what=f"web answers\n{process.output}")
        return process

    def start_worker(
        self,
        node_id: str = "one",
        *,
        duty: bool = False,
        failpoint: str = "",
        ready: Callable[[], object] | None = None,
        **environment: str,
    ) -> Process:
        """Starts a worker; returns once it consumes, or once `ready()` holds."""
        role = roster.duty_worker(node_id) if duty else roster.worker(node_id)
        extra = {"CREWLET_FAILPOINT": failpoint} if failpoint else {}
        process = self.start(role, **extra, **environment)
        if ready is None:
            process.until_it_says(" ready.")
        else:
            until(ready, START_SECONDS, what=f"worker {node_id} is ready")
        return process

    def end_all(self) -> None:
        """Kills whatever still runs, the newest first."""
        while self.running:
            self.running.pop().kill()


@contextmanager
def processes(folder: Path) -> Iterator[Processes]:
    """Yields the processes of one test and ends them with it; logs go to `folder`."""
    started = Processes(folder)
    try:
        yield started
    finally:
        started.end_all()


def child_environment() -> dict[str, str]:
    """Returns the environment of a process that works on this test worker's database and Redis.

    It keeps the rule about idle transactions that the tests' own process is excused from.
    """
    inherited = {k: v for k, v in os.environ.items() if k != "CREWLET_IDLE_TRANSACTION_SECONDS"}
    folder = Path(os.environ[servers.FOLDER])
    database = postgres.database_name(servers.worker_name())
    return inherited | {
        "DATABASE_URL": postgres.url(folder, database),
        "CREWLET_LOG_LEVEL": "INFO",
        "PYTHONUNBUFFERED": "1",
    }


def free_port() -> int:
    """Returns a port of the loopback that nobody used a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(process: Process) -> bool:
    assert not process.ended, f"web ended\n{process.output}"
    try:
        with urlopen(f"{process.url}/health", timeout=5) as answer:  # noqa: S310 - our own address
            return bool(answer.status == 200)
    except HTTPError as error:
        raise AssertionError(f"web answers {error.code}\n{process.output}") from None
    except (URLError, ConnectionError, TimeoutError):
        return False
