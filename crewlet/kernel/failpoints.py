"""Named places at which a crash test kills the process. A closed list; off unless asked for."""

from __future__ import annotations

import os
import signal
from typing import Final

NAMES: Final = (
    "mail.posted",
    "turn.opened",
    "context.built",
    "answer.received",
    "answer.recorded",
    "call.before",
    "call.effect",
    "call.recorded",
    "submission.recorded",
    "check.done",
    "review.recorded",
    "iteration.recorded",
    "parked",
    "resumed",
    "settle.before",
    "settled",
)

_VARIABLE = "CREWLET_FAILPOINT"
_hits: dict[str, int] = {}


def failpoint(name: str) -> None:
    """Kills this process by SIGKILL when `CREWLET_FAILPOINT` is `name` or `name:n` (n-th hit)."""
    wanted = os.environ.get(_VARIABLE)
    if wanted is None:
        return
    if name not in NAMES:
        raise ValueError(
            f"'{name}' is not a failpoint; the list is in crewlet/kernel/failpoints.py."
        )
    target, _, count = wanted.partition(":")
    if target != name:
        return
    _hits[name] = _hits.get(name, 0) + 1
    if _hits[name] == int(count or 1):
        os.kill(os.getpid(), signal.SIGKILL)
