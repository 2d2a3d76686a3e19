"""The one source of time. Tests hold it with `time_machine`."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Returns the present instant, aware and in UTC."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Returns seconds on a clock that never goes back; only differences mean anything."""
    return time.monotonic()
