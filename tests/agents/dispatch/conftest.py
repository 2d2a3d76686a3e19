"""Hosts of this process: started by a test, stopped with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from agents.dispatch.worker import build_host
from agents.seats.host import HostSettings, SeatHost
from tests.agents.play import PlayedTurns

MakeHost = Callable[..., SeatHost]


@pytest.fixture
def make_host(transactional_db: None) -> Iterator[MakeHost]:
    """Returns a maker of hosts over played turns. A held host was registered but runs no threads:
    the test sweeps and renews by hand."""
    made: list[SeatHost] = []

    def make(turns: PlayedTurns, node_id: str = "one", *, capacity: int = 4) -> SeatHost:
        settings = HostSettings(node_id, lease_ttl=60, sweep_seconds=0.2, capacity=capacity)
        host = build_host(settings, turns)
        made.append(host)
        return host

    yield make
    for host in made:
        if not host.ended:
            host.stop()
