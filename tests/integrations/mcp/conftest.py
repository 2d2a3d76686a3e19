"""Servers of tools for the tests: real processes, shared by a module where nothing kills them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from integrations.mcp.config import Reach
from integrations.mcp.pool import Pool

SERVER = Path(__file__).parents[2] / "support" / "tool_server.py"
MakeReach = Callable[..., Reach]


def reach_to(mode: str = "", *, server: str = "box", **more: Any) -> Reach:
    """Returns how the test's own server is reached, in a mode."""
    command = (sys.executable, "-I", "-S", str(SERVER), mode)
    values: dict[str, Any] = {"start_seconds": 20.0, "call_seconds": 20.0, **more}
    return Reach(server=server, seat_id=None, command=command, **values)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """A pool of this module; its servers end with it."""
    made = Pool()
    yield made
    made.stop()
