"""`manage.py mail list|dead|replay|discard`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from agents.mail import waiting
from crewlet.doors.cli import NounCommand, Verb, act
from orgs.access import seat_by_handle


def _seat(parser: CommandParser) -> None:
    parser.add_argument("seat", help="the seat's handle")


def _letter(parser: CommandParser) -> None:
    parser.add_argument("letter", help="the dead letter's id")


def _act(name: str, options: dict[str, Any]) -> dict[str, Any]:
    return {"message": act(name, {"letter": options["letter"]}).message}


def _letters(rows: list[dict[str, Any]]) -> str:
    lines = [
        f"{row['at']:%Y-%m-%d %H:%M:%S}  {row['title']:<24} {row['summary']}"
        + (f"  ({row['attempts']} failed: {row['last_error']})" if row["attempts"] else "")
        + ("  in work" if row["turn"] else "")
        for row in rows
    ]
    return "\n".join(lines) or "No mail waits."


def _dead(rows: list[dict[str, Any]]) -> str:
    lines = [f"{row['id']}  {row['seat']:<20} {row['summary']}\n    {row['error']}" for row in rows]
    return "\n".join(lines) or "There are no dead letters."


class Command(NounCommand):
    """Mail that waits, and mail that could not be worked."""

    help = "Lists the mail of a seat; lists, replays and discards dead letters."
    verbs = {
        "list": Verb(
            "the letters that wait for a seat",
            lambda options: waiting.of_seat(seat_by_handle(options["seat"]).id),
            words=_letters,
            options=_seat,
        ),
        "dead": Verb("dead letters", lambda _options: waiting.dead(), words=_dead),
        "replay": Verb(
            "work a dead letter after all",
            lambda options: _act("replay_dead_letter", options),
            words=lambda answer: str(answer["message"]),
            options=_letter,
        ),
        "discard": Verb(
            "give a dead letter up",
            lambda options: _act("discard_dead_letter", options),
            words=lambda answer: str(answer["message"]),
            options=_letter,
        ),
    }
