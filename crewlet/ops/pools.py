"""Connections of a process that idles or ends."""

from __future__ import annotations

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper


def close_pools() -> None:
    """Closes this thread's connections and every pool of the process; the next use opens anew."""
    connections.close_all()
    for connection in connections.all(initialized_only=True):
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
