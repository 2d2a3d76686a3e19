"""Turns of several seats that run at the same time."""

from __future__ import annotations

import threading
from uuid import UUID

from django.db import connection

from tests.agents.turn.stage import Stage


def run_all(stage: Stage, turns: dict[str, UUID]) -> dict[str, str]:
    """Runs a turn of every seat at once, each on a connection of its own."""
    ends: dict[str, str] = {}
    start = threading.Barrier(len(turns))

    def run(handle: str, turn_id: UUID) -> None:
        try:
            start.wait(10)
            ends[handle] = stage.run(turn_id, handle=handle).kind
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in turns.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return ends
