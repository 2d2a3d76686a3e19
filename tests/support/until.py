"""Waiting for a fact, the only wait that tests have."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

POLL_SECONDS = 0.01


def until(fact: Callable[[], T], deadline: float = 10.0, *, what: str = "") -> T:
    """Returns the first truthy answer of `fact`; fails after `deadline` seconds, naming it.

    `fact` is asked about every 10 ms: a row that exists, a process that ended. An exception of
    `fact` is the test's failure at once. Reads the one clock that time travel in tests
    leaves alone.
    """
    pause = threading.Event()
    end = time.perf_counter() + deadline
    while True:
        answer = fact()
        if answer:
            return answer
        if time.perf_counter() >= end:
            name = what or getattr(fact, "__name__", repr(fact))
            raise AssertionError(f"not within {deadline:g} s: {name} (last answer: {answer!r})")
        pause.wait(POLL_SECONDS)
