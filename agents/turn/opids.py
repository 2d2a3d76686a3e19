"""The operation id of a tool call, derived so that the same work lands once.

Two executions of one unit of work derive the same ids for the same calls, so a re-run's write is
answered from the first one's operation row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from agents.turn.record import CallRecord


def digest_of(args: dict[str, Any] | None) -> str:
    """Returns the digest of a call's arguments, whatever order the model wrote them in."""
    body = json.dumps(args or {}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(body.encode()).hexdigest()[:32]


def operation_id(
    work_key: str, tool: str, args: dict[str, Any] | None, earlier: Iterable[CallRecord]
) -> str:
    """Derives the id of the next call of `tool` (at most 180 characters).

    `earlier` are the turn's calls so far, in order. The id counts the *different* calls of the
    tool that came before, so to-do → doing → to-do is three writes and an immediate repeat is one.
    A call that was refused counts as well: the model may try the same again once the reason is
    gone, and must not be answered with the old refusal.
    """
    mine = digest_of(args)
    different, refused, last = 0, 0, ""
    for call in earlier:
        if call.name != tool:
            continue
        theirs = digest_of(call.args)
        if theirs == mine:
            refused += call.ok is False
        elif theirs != last:
            different += 1
        last = theirs
    suffix = f"-r{refused}" if refused else ""
    return f"{work_key}:{tool[:40]}:{mine}:{different}{suffix}"
