"""`manage.py people create|invite|list|bind|grants|suspend|activate|sign-out`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from crewlet.doors.cli import NounCommand, Verb, act, operator
from crewlet.kernel.actions import Result
from crewlet.kernel.authority import ALL_GRANTS
from orgs.access import person_by_login
from orgs.people.codes import digest_of, new_code
from orgs.people.printed import path_of
from orgs.queries.people import people_rows, person_row


def _answer(result: Result, login: str) -> dict[str, Any]:
    return {"message": result.message, "person": person_row(person_by_login(login))}


def _grants(text: str | None) -> list[str]:
    if text == "all":
        return sorted(grant.value for grant in ALL_GRANTS)
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _create(options: dict[str, Any]) -> dict[str, Any]:
    login = options["login"].strip().lower()
    result = act(
        "create_person",
        {
            "login": login,
            "name": options["name"],
            "grants": _grants(options["grants"]),
            "seat": options["seat"],
        },
    )
    return _answer(result, login)


def _invite(options: dict[str, Any]) -> dict[str, Any]:
    code = new_code()
    result = act("invite_person", {"login": options["login"], "digest": digest_of(code)})
    return {"message": result.message, "link": f"{settings.CREWLET.public_url}{path_of(code)}"}


def _act_on(name: str, *also: str) -> Any:
    def run(options: dict[str, Any]) -> dict[str, Any]:
        args = {"login": options["login"], **{field: options[field] for field in also}}
        return _answer(act(name, args), options["login"])

    return run


def _set_grants(options: dict[str, Any]) -> dict[str, Any]:
    args = {"login": options["login"], "grants": _grants(options["grants"])}
    return _answer(act("set_grants", args), options["login"])


def _login(parser: CommandParser) -> None:
    parser.add_argument("login", help="such as ana.silva")


def _create_options(parser: CommandParser) -> None:
    _login(parser)
    parser.add_argument("--name", required=True, help="the full name")
    parser.add_argument("--grants", default="state:read,work:write", help="comma-separated, or all")
    parser.add_argument("--seat", help="the handle of a human seat to hold")


def _bind_options(parser: CommandParser) -> None:
    _login(parser)
    parser.add_argument("seat", nargs="?", default="", help="a handle; without one: unbind")


def _grants_options(parser: CommandParser) -> None:
    _login(parser)
    parser.add_argument("grants", help="comma-separated, or all; everything else is taken away")


def _message(answer: dict[str, Any]) -> str:
    return str(answer["message"])


def _link(answer: dict[str, Any]) -> str:
    return f"{answer['message']}\n{answer['link']}"


def _table(answer: dict[str, Any]) -> str:
    lines = [
        f"{row['login']:<28} {row['stage']:<10} {row['seat'] or '-':<20} {row['name']}"
        for row in answer["people"]
    ]
    return "\n".join(lines) or "Nobody yet. Start with: manage.py people create <login> --name …"


class Command(NounCommand):
    """People who sign in."""

    help = "Creates, invites, lists, binds and suspends people."
    verbs = {
        "create": Verb("Creates a person.", _create, _message, _create_options),
        "invite": Verb(
            "Prints a one-time sign-in link, good for 24 hours.", _invite, _link, _login
        ),
        "list": Verb(
            "Lists who may sign in.", lambda options: {"people": people_rows(operator())}, _table
        ),
        "bind": Verb(
            "Gives a person a human seat, or takes it away.",
            _act_on("bind_person", "seat"),
            _message,
            _bind_options,
        ),
        "grants": Verb("Sets what a person may do.", _set_grants, _message, _grants_options),
        "suspend": Verb("Keeps a person out at once.", _act_on("suspend_person"), _message, _login),
        "activate": Verb(
            "Lets a suspended person in again.", _act_on("activate_person"), _message, _login
        ),
        "sign-out": Verb(
            "Ends every session of a person.", _act_on("end_all_sessions"), _message, _login
        ),
    }
