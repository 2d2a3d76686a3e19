"""Real processes from a warm interpreter: one that has imported the libraries, and none of ours.

Half of what a worker's start costs is importing Django, Celery and the model SDKs, and the crash
ring starts a worker for each place where one can die. A process here is forked from an interpreter
that stands there with those imports done; it then takes its own environment, log and process group
and runs its command from the beginning. Whatever of Crewlet it needs it imports itself.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final, NoReturn

from django.conf import settings

# None of them may read Django's settings as it is imported: the settings are the fork's own.
LIBRARIES: Final = (
    "anthropic",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "django.core.management",
    "django.db.backends.postgresql.base",
    "kombu.transport.redis",
    "openai",
    "psycopg_pool",
    "pydantic",
    "redis",
    "structlog",
    "uvicorn",
)

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(list(LIBRARIES))


class WarmProcess:
    """A process forked from the warm interpreter, with the part of Popen's face that tests use."""

    def __init__(
        self, argv: Sequence[str], *, folder: Path, environment: Mapping[str, str], log: Path
    ) -> None:
        ready, says_ready = _FORKS.Pipe(duplex=False)
        self._process: BaseProcess = _FORKS.Process(
            target=_become, args=(list(argv), folder, dict(environment), log, says_ready)
        )
        self._process.start()
        says_ready.close()
        with contextlib.suppress(EOFError):  # it died before it had a group: its log says why
            ready.recv()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, -N after signal N, None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Returns the exit code, None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Returns the exit code; raises subprocess.TimeoutExpired after `timeout` seconds."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal to it alone, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


def _become(
    argv: list[str], folder: Path, environment: dict[str, str], log: Path, ready: Connection
) -> None:
    """Turns the fork into the process that `argv` names, in a group of its own."""
    os.setpgid(0, 0)
    ready.send(True)
    ready.close()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    assert not settings.configured, "a preloaded library has read another process's settings"
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # To replace the process would throw the warm interpreter away: it goes on in this one.
    os.execv = _go_on_as  # type: ignore[assignment]
    _run(argv)


def _go_on_as(_path: str, argv: Sequence[str]) -> NoReturn:
    _run(list(argv))
    sys.exit(0)


def _run(argv: list[str]) -> None:
    """Runs `python FILE ...` or `python -m MODULE ...` in this process."""
    _python, *rest = argv
    if rest[0] == "-m":
        sys.argv = rest[1:]
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = rest
        runpy.run_path(rest[0], run_name="__main__")
