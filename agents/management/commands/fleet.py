"""`manage.py fleet show|end|drain`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from agents.seats import presence
from crewlet.doors.cli import NounCommand, Verb, act


def _node(parser: CommandParser) -> None:
    parser.add_argument("node", help="the node's id")


def _act(name: str, options: dict[str, Any]) -> dict[str, Any]:
    result = act(name, {"node": options["node"]})
    return {"message": result.message, **result.data}


def _line(node: dict[str, Any]) -> str:
    state = "stale" if node["stale"] else "draining" if node["draining"] else "live"
    return (
        f"{node['node']:<24} {state:<9} seats {node['seats']:<4} "
        f"turns {node['in_flight']}/{node['capacity']}  since {node['started_at']:%Y-%m-%d %H:%M}"
    )


def _table(rows: list[dict[str, Any]]) -> str:
    return "\n".join(map(_line, rows)) or "No worker runs. Start one: `manage.py worker`."


class Command(NounCommand):
    """The nodes that work for the company."""

    help = "Shows the nodes; drains one; declares a dead one ended."
    verbs = {
        "show": Verb(
            "every node that has not ended",
            lambda _options: [dict(node) for node in presence.nodes()],
            words=_table,
        ),
        "drain": Verb(
            "let a node take no more work",
            lambda options: _act("drain_node", options),
            words=lambda answer: str(answer["message"]),
            options=_node,
        ),
        "end": Verb(
            "declare a node's process dead",
            lambda options: _act("end_node", options),
            words=lambda answer: str(answer["message"]),
            options=_node,
        ),
    }
