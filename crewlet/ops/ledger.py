"""Who runs under this `up`, on disk: so the next one finds what a `kill -9` left behind."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

WAIT_SECONDS = 15.0


@dataclass(frozen=True)
class Entry:
    """One running child. `born` tells it from a later process with the same number."""

    name: str
    pid: int
    born: float
    stop: int
    node_id: str = ""


class Ledger:
    """The file `children.json`; rewritten whole at every change, by the holder of the lock only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, pid: int, stop: signal.Signals, node_id: str = "") -> None:
        """Notes a child that was just started."""
        try:
            born = psutil.Process(pid).create_time()
        except psutil.NoSuchProcess:
            return
        self._entries[name] = Entry(name, pid, born, int(stop), node_id)
        self._write()

    def remove(self, name: str) -> None:
        """Forgets a child that has ended."""
        if self._entries.pop(name, None) is not None:
            self._write()

    def leftovers(self) -> list[Entry]:
        """Returns the children of an earlier `up` that still live, in the order they started."""
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return []
        return [entry for entry in (Entry(**row) for row in rows) if _alive(entry)]

    def forget(self) -> None:
        """Empties the file."""
        self._entries.clear()
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps([asdict(e) for e in self._entries.values()]), encoding="utf-8")
        draft.replace(self._path)


def end_leftovers(entries: list[Entry], say: Callable[[str], None]) -> None:
    """Ends every leftover with its process group, those that started last first; then it is gone.

    Each child leads a group of its own, so its own children (tool servers, boxes) end with it.
    """
    for entry in reversed(entries):
        say(f"ending {entry.name} (process {entry.pid}), left by an earlier run that was killed")
        _signal_group(entry, signal.Signals(entry.stop))
        try:
            psutil.Process(entry.pid).wait(timeout=WAIT_SECONDS)
        except psutil.NoSuchProcess:
            continue
        except psutil.TimeoutExpired:
            _signal_group(entry, signal.SIGKILL)
            psutil.Process(entry.pid).wait(timeout=WAIT_SECONDS)


def stray_postgres(data: Path) -> Entry | None:
    """Returns the Postgres that runs on `data` whoever started it, read from its own pid file."""
    try:
        pid = int((data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0])
        process = psutil.Process(pid)
        if "postgres" not in process.name():
            return None
        return Entry("postgres", pid, process.create_time(), int(signal.SIGINT))
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        return None


def _alive(entry: Entry) -> bool:
    try:
        process = psutil.Process(entry.pid)
        # Within a second: the clock of the boot time may have been set since.
        same = abs(process.create_time() - entry.born) < 1.0
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _signal_group(entry: Entry, how: signal.Signals) -> None:
    try:
        os.killpg(entry.pid, how)
    except ProcessLookupError:
        return
