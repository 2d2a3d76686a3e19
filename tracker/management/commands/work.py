"""`manage.py work list|show`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from crewlet.doors.cli import NounCommand, Verb, act

_FILTERS = ("assignee", "project", "status", "priority", "parent", "reporter", "text", "sort")


def _list(options: dict[str, Any]) -> dict[str, Any]:
    args: dict[str, Any] = {name: options[name] for name in _FILTERS if options[name]}
    if options["status"]:
        args["status"] = options["status"].split(",")
    if options["cursor"]:
        args["cursor"] = options["cursor"]
    result = act(
        "list_work_items", args | {"limit": options["limit"], "open_only": not options["all"]}
    )
    return {"message": result.message, **result.data}


def _show(options: dict[str, Any]) -> dict[str, Any]:
    include = ["comments", "history", "links"]
    result = act("get_work_item", {"item": options["item"], "include": include})
    return {"message": result.message, **result.data}


def _words(answer: dict[str, Any]) -> str:
    return str(answer["message"])


def _list_options(parser: CommandParser) -> None:
    for name in _FILTERS:
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--all", action="store_true", help="also what is done or cancelled")
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--cursor", default="")


def _item_option(parser: CommandParser) -> None:
    parser.add_argument("item", help="key of the item, such as ENG-4")


class Command(NounCommand):
    """Work items at a terminal."""

    help = "List and show work items."
    verbs = {
        "list": Verb("List work items, open ones unless --all.", _list, _words, _list_options),
        "show": Verb("Show one item with its talk and history.", _show, _words, _item_option),
    }
