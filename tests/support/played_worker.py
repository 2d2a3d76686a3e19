"""A real worker process whose turns run a script instead of a model: `celery -A` points here.

`CREWLET_PLAY` says what a turn does: `ends` at once, `waits` until the test opens the Redis key
`play:go` (and heeds a stop), `dies` with its process.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Final
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewlet.settings")
django.setup()

from agents.dispatch import worker  # noqa: E402
from agents.dispatch.turns import TurnContext  # noqa: E402
from agents.seats.lease import Lease  # noqa: E402
from crewlet.kernel.queue import app, node_queue  # noqa: E402
from crewlet.kernel.redis import client, key  # noqa: E402
from crewlet.ops.roster import Role  # noqa: E402
from tests.agents.play import PlayedTurns, ends  # noqa: E402
from tests.support.until import until  # noqa: E402

GO: Final = "play:go"
ENTERED: Final = "play:entered"


def waits(turns: PlayedTurns, turn_id: UUID, lease: Lease, context: TurnContext) -> None:
    """A turn that runs until the test lets it go."""
    client().rpush(key(ENTERED), str(turn_id))
    stopped = until(lambda: "stop" if context.should_stop() else client().get(key(GO)), 120)
    turns.settle(turn_id, lease, "stopped" if stopped == "stop" else "completed")


def dies(turns: PlayedTurns, turn_id: UUID, lease: Lease, context: TurnContext) -> None:
    """A turn that kills its process, as a crash of the machine would."""
    os.kill(os.getpid(), signal.SIGKILL)


SCRIPTS: Final = {"ends": ends, "waits": waits, "dies": dies}


def role(node_id: str, play: str) -> Role:
    """Returns how such a worker is started."""
    return Role(
        f"worker-{node_id}",
        (
            *(
                sys.executable,
                "-m",
                "celery",
                "-A",
                "tests.support.played_worker",
                "--skip-checks",
                "worker",
            ),
            *("-P", "threads", "-c", "2", "-Q", node_queue(node_id), "-n", node_id),
            *("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "info"),
        ),
        {"CREWLET_NODE_ID": node_id, "CREWLET_NODE_ROLES": "seats", "CREWLET_PLAY": play},
        node_id=node_id,
    )


app.autodiscover_tasks(["agents.dispatch"])
if os.environ.get("CREWLET_PLAY"):
    worker.install(app, PlayedTurns(SCRIPTS[os.environ["CREWLET_PLAY"]]))
