"""Waiting on purpose: the one place in the product that sleeps in a thread."""

from __future__ import annotations

import threading

_never = threading.Event()


def wait(seconds: float) -> None:
    """Waits for so many seconds; nothing or less returns at once."""
    if seconds > 0:
        _never.wait(seconds)
