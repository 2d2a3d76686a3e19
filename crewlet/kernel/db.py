"""Connections: given back before every wait, never inside a transaction."""

from __future__ import annotations

from django.db import connection


def release() -> None:
    """Gives this thread's connection back to the pool, so that a wait holds none.

    Raises RuntimeError inside a transaction: closing there would silently discard it. Inside a
    test's own outermost block it does nothing.
    """
    blocks = connection.atomic_blocks
    if not blocks:
        connection.close()
        return
    if not all(getattr(block, "_from_testcase", False) for block in blocks):
        raise RuntimeError("A connection was released inside a transaction; commit first.")
