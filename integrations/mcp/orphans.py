"""The worker's end of the guard: which process groups must not outlive this process."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

_GUARD: Final = Path(__file__).with_name("guard.py")


class Orphans:
    """Tells a guard process of every group that starts and ends; one guard for this process.

    The guard sees the end of its pipe whatever this process dies of, `kill -9` included.
    """

    def __init__(self) -> None:
        self._guard: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ready(self) -> None:
        """Starts the guard, unless it runs. Called before the first child is started."""
        with self._lock:
            if self._guard is not None and self._guard.poll() is None:
                return
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARD)],
                stdin=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )

    def add(self, group: int) -> None:
        """Names a group that must end with this process."""
        self._tell(f"+{group}\n")

    def drop(self, group: int) -> None:
        """Forgets a group that has ended; its number may be somebody else's soon."""
        self._tell(f"-{group}\n")

    def end(self) -> None:
        """Lets the guard finish; it kills what is still on its list."""
        with self._lock:
            guard, self._guard = self._guard, None
        if guard is not None and guard.stdin is not None:
            guard.stdin.close()
            guard.wait()

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._guard is not None and self._guard.stdin is not None:
                with suppress(BrokenPipeError):
                    self._guard.stdin.write(line.encode())
