"""How each process of an install is started: argv and environment, one function a kind.

`up` and the process tests start the same commands; a unit file or a compose file spells them out.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from crewlet.environment import BASE_DIR

# Requests in flight get this long after SIGTERM; sockets are closed with 1012 at once.
WEB_GRACE_SECONDS = 5


@dataclass(frozen=True)
class Role:
    """One kind of process: its name on screen, argv, what it adds to the environment."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop: signal.Signals = signal.SIGTERM
    # A worker of the fleet has a node id; when it dies, that incarnation is ended for it.
    node_id: str = ""


def manage(*arguments: str) -> tuple[str, ...]:
    """Returns the argv of a management command under this interpreter."""
    return (sys.executable, str(BASE_DIR / "manage.py"), *arguments)


def web(port: int, host: str = "127.0.0.1") -> Role:
    """The web process: uvicorn, because it answers requests in flight when it is told to stop."""
    return Role(
        "web",
        (
            *(sys.executable, "-m", "uvicorn", "crewlet.asgi:application"),
            *("--app-dir", str(BASE_DIR), "--host", host, "--port", str(port)),
            *("--timeout-graceful-shutdown", str(WEB_GRACE_SECONDS)),
            # Start-up lines would bury the sign-in link; the supervisor says what runs.
            *("--log-level", "warning", "--no-access-log", "--ws", "websockets-sansio"),
        ),
    )


def worker(node_id: str) -> Role:
    """The seat worker: holds leases, runs turns."""
    return Role("worker", manage("worker"), _node(node_id, "seats"), node_id=node_id)


def duty_worker(node_id: str) -> Role:
    """The duty worker: ticks, sweeps, everything that is no turn."""
    return Role("duty", manage("worker", "--duty"), _node(node_id, "duties"), node_id=node_id)


def beat() -> Role:
    """The clock: sends ticks, does nothing itself."""
    return Role("beat", manage("beat"))


def _node(node_id: str, role: str) -> dict[str, str]:
    return {"CREWLET_NODE_ID": node_id, "CREWLET_NODE_ROLES": role}
