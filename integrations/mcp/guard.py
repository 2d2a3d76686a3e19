"""Ends the children of a worker that is gone. Run as a program; standard library only.

It reads `+<group>` and `-<group>` lines from the worker. When the pipe ends, however the worker
died, it kills every process group that is still on its list.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def main() -> None:
    """Keeps the list until the worker's end of the pipe closes."""
    # A Ctrl-C or a stop of the worker's group is the worker's matter: it drains first.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line.startswith("+") else groups.discard)(int(line[1:]))
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
