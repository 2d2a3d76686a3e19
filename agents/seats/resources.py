"""What is opened with a seat's lease and closed with it: MCP children, chat sockets, boxes."""

from __future__ import annotations

from typing import Protocol

from agents.seats.lease import Lease
from crewlet.kernel.registry import Registry


class SeatResource(Protocol):
    """Something that a node owns for a seat while it holds the seat's lease."""

    def open(self, lease: Lease) -> None:
        """Gets ready; raising makes the acquire fail, and the seat goes to another node."""

    def close(self, lease: Lease) -> None:
        """Ends everything that belongs to the seat. Called once per `open`, also after a fence."""


RESOURCES: Registry[SeatResource] = Registry("seat resources")
