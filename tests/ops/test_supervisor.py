"""Who is restarted when, and in which order everything ends."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from crewlet.ops.children import LONGEST_PAUSE_SECONDS, STEADY_SECONDS, Child, child_of
from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.ledger import Ledger
from crewlet.ops.roster import Role
from crewlet.ops.screen import Screen
from crewlet.ops.supervisor import Supervisor
from tests.support.until import until

WAITS = "import sys, signal; print('up', flush=True); signal.pause()"
NOTES_ITS_END = """
import signal, sys
def end(*_):
    with open(sys.argv[1], "a") as log:
        log.write(sys.argv[2] + "\\n")
    raise SystemExit(0)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
while True:
    signal.pause()
"""
IGNORES = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True:
    signal.pause()
"""


class Stage:
    """A supervisor over small scripts, with everything it did written down."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = io.StringIO()
        self.ended_nodes: list[str] = []
        self.marks: list[str] = []
        self.started: list[subprocess.Popen[bytes]] = []
        self.supervisor = Supervisor(
            Screen(self.out, colour=False),
            Ledger(folder / "children.json"),
            raise_mark=self._mark,
            end_incarnation=self.ended_nodes.append,
        )

    @property
    def log(self) -> Path:
        return self.folder / "ends.log"

    def child(self, name: str, code: str = WAITS, node_id: str = "") -> Child:
        def start() -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [sys.executable, "-c", code, str(self.log), name],
                stdout=subprocess.PIPE,
                process_group=0,
            )
            self.started.append(process)
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            return process

        return Child(name, start, signal.SIGTERM, node_id)

    def _mark(self) -> None:
        self.marks.append("raised")
        with self.log.open("a", encoding="utf-8") as log:
            log.write("mark\n")

    def close(self) -> None:
        for process in self.started:
            process.kill()
            process.communicate()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.close()


@pytest.mark.covers("RUN-50")
def test_the_mark_goes_up_then_workers_end_then_web_then_servers(stage: Stage) -> None:
    for name in ("postgres", "valkey"):
        stage.supervisor.start_server(stage.child(name, NOTES_ITS_END))
    for name in ("web", "worker", "duty", "beat"):
        stage.supervisor.start_process(stage.child(name, NOTES_ITS_END))
    stage.supervisor.stop()
    order = stage.log.read_text(encoding="utf-8").split()
    assert order[0] == "mark"
    assert set(order[1:4]) == {"worker", "duty", "beat"}
    assert order[4:] == ["web", "valkey", "postgres"]
    assert not (stage.folder / "children.json").exists()
    assert stage.out.getvalue().rstrip().endswith("stopped.")


def test_a_dead_worker_ends_its_incarnation_at_once_and_comes_back_after_a_pause(
    stage: Stage,
) -> None:
    worker = stage.child("worker", node_id="one")
    stage.supervisor.start_process(worker)
    stage.started[0].kill()
    stage.started[0].wait()
    stage.supervisor.run_once(100.0)
    assert stage.ended_nodes == ["one"]
    assert "!! worker was killed by SIGKILL; starting it again in 1 s" in stage.out.getvalue()
    stage.supervisor.run_once(100.9)
    assert len(stage.started) == 1
    stage.supervisor.run_once(101.0)
    assert len(stage.started) == 2
    assert worker.running
    assert "worker" in (stage.folder / "children.json").read_text(encoding="utf-8")


def test_the_pause_grows_to_a_limit_and_begins_anew_after_a_steady_life() -> None:
    child = Child("web", lambda: pytest.fail("not started here"))
    pauses = [child.note_death(now=1.0) for _ in range(7)]
    assert pauses == [1, 2, 4, 8, 16, LONGEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS]
    child.started_at = 1.0
    assert child.note_death(now=1.0 + STEADY_SECONDS) == 1


def test_a_server_that_cannot_come_back_is_tried_again(stage: Stage) -> None:
    child = stage.child("postgres")
    stage.supervisor.start_server(child)
    good = child.start

    def refuse() -> subprocess.Popen[bytes]:
        raise ServerProblem("no room on the disk")

    answers = iter([refuse, good])

    def next_answer() -> subprocess.Popen[bytes]:
        return next(answers)()

    child.start = next_answer
    stage.started[0].kill()
    stage.started[0].wait()
    stage.supervisor.run_once(10.0)
    stage.supervisor.run_once(11.0)
    assert "postgres: no room on the disk; trying again in 2 s" in stage.out.getvalue()
    stage.supervisor.run_once(13.0)
    assert child.running


def test_a_hook_that_fails_is_told_and_stops_nothing(stage: Stage) -> None:
    def fail(_node: str) -> None:
        raise RuntimeError("the lease table is locked")

    stage.supervisor._end_incarnation = fail
    stage.supervisor.start_process(stage.child("worker", node_id="one"))
    stage.started[0].kill()
    stage.started[0].wait()
    stage.supervisor.run_once(5.0)
    stage.supervisor.run_once(6.0)
    assert "could not be ended at once: the lease table is locked" in stage.out.getvalue()
    assert len(stage.started) == 2


@pytest.mark.covers("RUN-52")
def test_the_second_signal_kills_what_will_not_drain(stage: Stage) -> None:
    before = {how: signal.getsignal(how) for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        stage.supervisor.listen()
        stage.supervisor.start_process(stage.child("worker", IGNORES, node_id="one"))
        os.kill(os.getpid(), signal.SIGTERM)
        stage.supervisor.watch()
        assert stage.supervisor.stopping
        assert stage.started[0].poll() is None
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        stage.supervisor.stop()
        timer.join()
    finally:
        for how, handler in before.items():
            signal.signal(how, handler)
    assert stage.started[0].wait(5) == -signal.SIGKILL
    assert "killing worker; its turns go on at the next start" in stage.out.getvalue()


def test_lines_of_a_child_carry_its_name_and_a_closed_screen_is_no_error(tmp_path: Path) -> None:
    out = io.StringIO()
    screen = Screen(out, colour=True)
    role = Role("web", (sys.executable, "-c", "print('serving'); print('still')"))
    child = child_of(role, dict(os.environ), screen)
    process = child.run(0.0)
    until(lambda: "still" in out.getvalue(), 10)
    assert process.wait(10) == 0
    assert "\x1b[36mweb      │\x1b[0m serving\n" in out.getvalue()
    out.close()
    screen.say("nobody reads this")


def test_a_child_leads_a_group_of_its_own(tmp_path: Path) -> None:
    role = Role("web", (sys.executable, "-c", "import signal; signal.pause()"))
    child = child_of(role, dict(os.environ), Screen(io.StringIO()))
    process = child.run(0.0)
    try:
        assert os.getpgid(process.pid) == process.pid
        assert os.getsid(process.pid) == os.getsid(0)
    finally:
        child.kill()
    assert not child.running
