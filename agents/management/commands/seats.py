"""`manage.py seats list|pause|resume`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from agents.seats.listing import seats
from crewlet.doors.cli import NounCommand, Verb, act


def _seat(parser: CommandParser) -> None:
    parser.add_argument("seat", help="the seat's handle")


def _pause_options(parser: CommandParser) -> None:
    _seat(parser)
    parser.add_argument("--reason", default="", help="why, for whoever looks")
    parser.add_argument("--stop-running", action="store_true", help="end the running turn too")


def _pause(options: dict[str, Any]) -> dict[str, Any]:
    names = ("seat", "reason", "stop_running")
    result = act("pause_seat", {name: options[name] for name in names})
    return {"message": result.message, **result.data}


def _resume(options: dict[str, Any]) -> dict[str, Any]:
    result = act("resume_seat", {"seat": options["seat"]})
    return {"message": result.message, **result.data}


def _line(row: dict[str, Any]) -> str:
    where = row["node"] or "no node"
    if row["lapsed"]:
        where += " (lapsed)"
    held = f"  held: {row['held_by']}" if row["held_by"] else ""
    turn = f"  turn: {row['turn']}" if row["turn"] else ""
    return f"{row['seat']:<24} {where:<24} mail {row['waiting']}{turn}{held}"


def _table(rows: list[dict[str, Any]]) -> str:
    return "\n".join(map(_line, rows)) or "The company has no agent seats."


class Command(NounCommand):
    """Seats: where they run, and a person's hold on them."""

    help = "Where seats run; pause and resume them."
    verbs = {
        "list": Verb("every agent seat", lambda _options: seats(), words=_table),
        "pause": Verb(
            "hold a seat's mail", _pause, words=lambda a: str(a["message"]), options=_pause_options
        ),
        "resume": Verb(
            "let a seat's mail flow again",
            _resume,
            words=lambda a: str(a["message"]),
            options=_seat,
        ),
    }
