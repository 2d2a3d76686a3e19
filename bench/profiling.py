"""Where the CPU of a reviewed turn goes."""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
from typing import Final

from bench.company import SOLO, Company, Node

TURNS: Final = 60
LINES: Final = 45


def show(company: Company, node: Node, turns: int = TURNS) -> None:
    """Prints what a turn spends, by function: in itself, then with what it calls."""
    seat_id = company.seats[SOLO]
    company.file(SOLO, turns + 3)
    for _ in range(3):
        node.work(seat_id)
    # Its own thread's CPU: waiting for a model or a commit costs nothing here.
    profile = cProfile.Profile(time.thread_time)
    profile.enable()
    for _ in range(turns):
        node.work(seat_id)
    profile.disable()
    stats = pstats.Stats(profile, stream=sys.stdout).strip_dirs()
    print(f"{turns} reviewed turns; divide by that. The profiler itself about doubles them.")
    stats.sort_stats("tottime").print_stats(LINES)
    stats.sort_stats("cumulative").print_stats(2 * LINES)
