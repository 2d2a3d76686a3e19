"""`manage.py tokens create|list|revoke`: bearer tokens, shown once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from crewlet.doors.cli import NounCommand, Verb, act, operator
from orgs.people.codes import digest_of, new_token
from orgs.queries.people import token_rows


def _create(options: dict[str, Any]) -> dict[str, Any]:
    value = new_token()
    grants = [name.strip() for name in options["grants"].split(",") if name.strip()]
    result = act(
        "create_token",
        {
            "label": options["label"],
            "digest": digest_of(value),
            "grants": grants,
            "login": options["login"] or "",
            "days": options["days"],
        },
    )
    return {"message": result.message, "token": value}


def _revoke(options: dict[str, Any]) -> dict[str, Any]:
    args = {"label": options["label"], "login": options["login"] or ""}
    return {"message": act("revoke_token", args).message}


def _label(parser: CommandParser) -> None:
    parser.add_argument("label", help="lower-case letters, digits, dots, hyphens")
    parser.add_argument("--login", help="whose it is; without one: a machine's own")


def _create_options(parser: CommandParser) -> None:
    _label(parser)
    parser.add_argument("--grants", default="state:read", help="comma-separated")
    parser.add_argument("--days", type=int, default=90, help="how long it works, at most 365")


def _table(answer: dict[str, Any]) -> str:
    lines = [
        f"{row['label']:<24} {row['login'] or 'machine':<24} until {row['expires_at']:%Y-%m-%d}  "
        f"{', '.join(row['grants'])}"
        for row in answer["tokens"]
    ]
    return "\n".join(lines) or "No stored tokens."


class Command(NounCommand):
    """Bearer tokens."""

    help = "Creates, lists and revokes bearer tokens."
    verbs = {
        "create": Verb(
            "Makes a token and shows it once.",
            _create,
            lambda answer: f"{answer['message']} It is not shown again:\n{answer['token']}",
            _create_options,
        ),
        "list": Verb(
            "Lists stored tokens.", lambda options: {"tokens": token_rows(operator())}, _table
        ),
        "revoke": Verb(
            "Ends a token at once.", _revoke, lambda answer: str(answer["message"]), _label
        ),
    }
