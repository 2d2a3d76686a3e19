"""How much one run measures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

IN_FLIGHT = 32
CALLS = 3
"""Model calls of a reviewed turn: the write, the submission, the review."""
SLOW_SECONDS = 0.2
SOCKETS = 200


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes of a run. One pass measures every kind once, so that noise falls on all alike."""

    passes: int
    single_turns: int
    """Turns one after another, a kind and pass."""
    batches: int
    """Turns each of the seats in flight works, a kind and pass."""
    slow_passes: int
    letters: int
    """Letters to an idle node, one at a time."""
    broadcasts: int
    burst: int
    """Frames sent without a pause, for the sustained rate."""
    page_views: int
    """Requests of each page that is timed."""
    stream_seconds: float
    """How long events stream at the full rate."""


QUICK = Plan(
    passes=3,
    single_turns=15,
    batches=2,
    slow_passes=2,
    letters=25,
    broadcasts=30,
    burst=60,
    page_views=20,
    stream_seconds=2.0,
)
FULL = Plan(
    passes=6,
    single_turns=40,
    batches=4,
    slow_passes=4,
    letters=150,
    broadcasts=150,
    burst=200,
    page_views=100,
    stream_seconds=8.0,
)
PARTS = ("turns", "wakes", "sockets", "stream", "pages")


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asks for."""

    plan: Plan
    parts: tuple[str, ...]
    json: Path | None
    profile: bool


def read(arguments: Sequence[str] | None = None) -> Wish:
    """Returns what was asked; ends the process with a usage message on a bad argument."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measures turns, wakes and sockets against a floor of the same run. It brings "
        "its own Postgres (fsync on), Valkey and model server, in a temporary folder.",
    )
    parser.add_argument("--quick", action="store_true", help="about a minute instead of five")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument(
        "--only", choices=PARTS, action="append", help="measure this part (may be repeated)"
    )
    parser.add_argument(
        "--profile", action="store_true", help="show where a turn's CPU goes, and measure nothing"
    )
    given = parser.parse_args(arguments)
    parts = tuple(part for part in PARTS if not given.only or part in given.only)
    return Wish(QUICK if given.quick else FULL, parts, given.json, given.profile)
