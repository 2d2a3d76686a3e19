"""The data folder: one owner, a private key, a ledger of who runs."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from crewlet.environment import BASE_DIR
from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.ledger import Ledger, end_leftovers, stray_postgres
from crewlet.ops.place import Place, refuse_taken_port

HOLD = """
import sys
from pathlib import Path
from crewlet.ops.place import Place
Place(Path(sys.argv[1])).lock()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_holder_is_refused_in_words_until_the_first_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        cwd=BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(ServerProblem, match=rf"already runs .*process {holder.pid}"):
            Place(tmp_path).lock()
    finally:
        holder.kill()
        holder.communicate()
    place = Place(tmp_path)
    place.lock()
    place.unlock()


def test_the_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.ensure_key()
    path = tmp_path / "secret.key"
    first = path.read_text(encoding="utf-8")
    assert len(first) > 40
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    assert not place.ensure_key()
    assert path.read_text(encoding="utf-8") == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_emptied_key_file_is_not_papered_over(tmp_path: Path) -> None:
    (tmp_path / "secret.key").touch(mode=0o600)
    with pytest.raises(ServerProblem, match=r"is empty. Put the key back"):
        Place(tmp_path).ensure_key()


def test_a_folder_that_cannot_be_made_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerProblem, match=r"cannot be written.*CREWLET_DATA_DIR"):
        Place(tmp_path / "file" / "var").lock()


def test_a_fresh_start_keeps_the_key(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.ensure_key()
    (tmp_path / "postgres").mkdir()
    assert place.has_data()
    place.clear()
    assert not place.has_data()
    assert (tmp_path / "secret.key").exists()


def test_a_taken_port_is_named_and_another_offered() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerProblem, match=rf"Port {port} .*--port {port + 1}"):
            refuse_taken_port("127.0.0.1", port)
    refuse_taken_port("127.0.0.1", port)


def _sleeper() -> subprocess.Popen[bytes]:
    code = "import sys\nprint('up', flush=True)\nsys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=0,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


def test_children_of_a_killed_run_are_found_and_ended(tmp_path: Path) -> None:
    first, second = _sleeper(), _sleeper()
    try:
        ledger = Ledger(tmp_path / "children.json")
        ledger.add("worker", first.pid, signal.SIGTERM, "one")
        ledger.add("web", second.pid, signal.SIGTERM)
        ledger.remove("web")
        found = Ledger(tmp_path / "children.json").leftovers()
        assert [(entry.name, entry.node_id) for entry in found] == [("worker", "one")]
        said: list[str] = []
        end_leftovers(found, said.append)
        assert not psutil.pid_exists(first.pid)
        assert "left by an earlier run" in said[0]
        assert second.poll() is None
    finally:
        for process in (first, second):
            process.kill()
            process.communicate()


def test_a_number_that_now_belongs_to_another_process_is_left_alone(tmp_path: Path) -> None:
    process = _sleeper()
    try:
        ledger = Ledger(tmp_path / "children.json")
        ledger.add("worker", process.pid, signal.SIGTERM)
        path = tmp_path / "children.json"
        path.write_text(path.read_text(encoding="utf-8").replace('"born": ', '"born": 1'), "utf-8")
        assert Ledger(path).leftovers() == []
    finally:
        process.kill()
        process.communicate()


def test_a_pid_file_of_no_postgres_is_no_stray(tmp_path: Path) -> None:
    assert stray_postgres(tmp_path) is None
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\n", encoding="utf-8")
    assert stray_postgres(tmp_path) is None
