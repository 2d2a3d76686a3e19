"""Early pytest plugin (`-p`): Postgres and Valkey run before Django reads its settings.

The main process starts both once, in a temporary folder; workers of xdist inherit the addresses
through the environment. Each process takes a database and a Redis database of its own.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

FOLDER = "CREWLET_TEST_FOLDER"
# What a developer's shell may hold and a test must not see.
FOREIGN = ("CREWLET_FAILPOINT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CREWLET_NODE_ID")


class Servers:
    """The two servers of one test session, owned by the process that started them."""

    def __init__(self) -> None:
        from tests.support import postgres, redis

        self.folder = Path(tempfile.mkdtemp(prefix="crewlet-tests-"))
        self.processes: list[subprocess.Popen[bytes]] = []
        try:
            self.processes.append(postgres.start(self.folder))
            self.processes.append(redis.start(self.folder))
        except BaseException:
            self.stop()
            raise
        os.environ[FOLDER] = str(self.folder)

    def stop(self) -> None:
        """Ends both servers and removes their folder; a second call does nothing."""
        from tests.support import postgres

        while self.processes:
            postgres.end(self.processes.pop())
        shutil.rmtree(self.folder, ignore_errors=True)
        os.environ.pop(FOLDER, None)


def worker_name() -> str:
    """Returns this process's name among the workers of xdist: "main", "gw0", "gw1", …"""
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


def _set_environment(folder: Path) -> None:
    from tests.support import postgres, redis

    worker = worker_name()
    for name in FOREIGN:
        os.environ.pop(name, None)
    os.environ |= {
        "DATABASE_URL": postgres.url(folder, postgres.database_name(worker)),
        "REDIS_URL": redis.url(folder, worker),
        "CREWLET_REDIS_PREFIX": f"test-{worker}",
        "CREWLET_DATA_DIR": str(folder / f"var-{worker}"),
        "SECRET_KEY": "a-key-of-the-tests-that-protects-nothing",
        "CREWLET_LEASE_TTL": "2",
        "CREWLET_SWEEP_SECONDS": "0.2",
        # A test's transaction stays open while it thinks; processes it starts keep the rule.
        "CREWLET_IDLE_TRANSACTION_SECONDS": "60",
        "CREWLET_PUBLIC_URL": "http://testserver",
        "CREWLET_LOG_LEVEL": "WARNING",
        "CREWLET_REHEARSAL_PACE": "0",
        "CREWLET_LOG_FORMAT": "console",
        "CREWLET_MANIFEST_STATIC": "0",
    }


def _start() -> Servers | None:
    inherited = os.environ.get(FOLDER) if worker_name() != "main" else None
    servers = None if inherited else Servers()
    folder = Path(inherited) if inherited else Path(os.environ[FOLDER])
    _set_environment(folder)
    if servers is not None:
        atexit.register(servers.stop)
    return servers


# At import, not in a hook: pytest-django's first hook already imports the settings.
_SERVERS = _start()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Ends the servers after the last worker has gone."""
    if _SERVERS is not None:
        _SERVERS.stop()
