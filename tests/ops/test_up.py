"""`manage.py up`, as a person starts it: from an empty folder, without a terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest

from crewlet.environment import BASE_DIR
from tests.support.processes import free_port
from tests.support.until import until

pytestmark = pytest.mark.timeout(420)

START_SECONDS = 150.0
KEPT = ("PATH", "HOME", "LANG", "XDG_RUNTIME_DIR")


class Run:
    """One `up` over one data folder; what it says goes to a file."""

    def __init__(self, data: Path, *arguments: str) -> None:
        self.data = data
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self._log = data.parent / f"up-{self.port}.log"
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(self.port), *arguments],
                cwd=BASE_DIR,
                env={k: v for k, v in os.environ.items() if k in KEPT}
                | {"CREWLET_DATA_DIR": str(data), "CREWLET_NODE_ID": "here"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )

    @property
    def output(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def children(self) -> dict[str, int]:
        rows = json.loads((self.data / "children.json").read_text(encoding="utf-8"))
        return {row["name"]: row["pid"] for row in rows}

    def until_it_says(self, words: str, seconds: float = START_SECONDS) -> None:
        def said() -> bool:
            assert words in self.output or self.process.poll() is None, self.output
            return words in self.output

        try:
            until(said, seconds, what=words)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output}") from None

    def until_it_serves(self) -> Run:
        self.until_it_says("Sign in: ")
        assert self.answers() == 200, f"the link was shown before web answered\n{self.output}"
        return self

    def answers(self, path: str = "/health") -> int:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return int(answer.status)
        except (URLError, ConnectionError, TimeoutError):
            return 0

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGTERM)
                self.process.wait(30)


@pytest.fixture
def runs() -> Iterator[list[Run]]:
    started: list[Run] = []
    yield started
    for run in started:
        run.end()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "var"


def _alive(pids: dict[str, int]) -> dict[str, int]:
    return {
        name: pid
        for name, pid in pids.items()
        if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    }


def test_it_starts_from_nothing_heals_and_drains_at_a_signal(runs: list[Run], data: Path) -> None:
    run = Run(data)
    runs.append(run)
    run.until_it_serves()
    assert re.search(rf"Sign in: {run.url}/sign-in\S+", run.output)
    assert stat.S_IMODE((data / "secret.key").stat().st_mode) == 0o600
    pids = run.children()
    assert set(pids) == {"postgres", "valkey", "web", "worker", "duty", "beat"}
    until(
        lambda: any("celery" in part for part in psutil.Process(pids["worker"]).cmdline()),
        30,
        what="the worker's command line shows celery",
    )

    second = Run(data)
    runs.append(second)
    assert second.process.wait(30) != 0
    assert "already runs" in second.output
    assert run.answers() == 200

    os.killpg(pids["worker"], signal.SIGKILL)
    run.until_it_says("!! worker was killed by SIGKILL; starting it again in 1 s")
    until(lambda: run.children().get("worker") not in {None, pids["worker"]}, 30)
    assert "could not be ended" not in run.output
    pids = run.children()

    run.process.send_signal(signal.SIGTERM)
    assert run.process.wait(120) == 0, run.output
    said = run.output
    assert said.index("draining") < said.index("stopped.")
    assert _alive(pids) == {}


def test_what_a_killed_run_left_behind_is_ended_by_the_next(runs: list[Run], data: Path) -> None:
    first = Run(data)
    runs.append(first)
    first.until_it_serves()
    left = first.children()
    first.process.kill()
    first.process.wait()
    assert set(_alive(left)) >= {"postgres", "valkey"}

    second = Run(data)
    runs.append(second)
    second.until_it_serves()
    assert "ending postgres" in second.output
    assert _alive(left) == {}
    assert set(second.children().values()).isdisjoint(left.values())


def test_a_taken_port_ends_it_before_any_server_starts(runs: list[Run], data: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = Run(data, "--port", str(port))
        runs.append(run)
        assert run.process.wait(60) != 0
    assert f"Port {port} on 127.0.0.1 cannot be used" in run.output
    assert not (data / "postgres").exists()


def test_a_fresh_start_asks_first(runs: list[Run], data: Path) -> None:
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "PG_VERSION").write_text("18\n", encoding="ascii")
    run = Run(data, "--fresh")
    runs.append(run)
    assert run.process.wait(60) != 0
    assert "without a terminal add --yes" in run.output
    assert (data / "postgres" / "PG_VERSION").exists()
