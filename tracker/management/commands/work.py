"""`manage.py work list|show|remove|restore|purge`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from crewlet.doors.cli import NounCommand, Verb, act
from crewlet.kernel.errors import Conflict
from tracker import counts

_FILTERS = ("assignee", "project", "status", "priority", "parent", "reporter", "text", "sort")


def _list(options: dict[str, Any]) -> dict[str, Any]:
    args: dict[str, Any] = {name: options[name] for name in _FILTERS if options[name]}
    if options["status"]:
        args["status"] = options["status"].split(",")
    if options["removed"]:
        args["removed"] = True
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


def _remove(options: dict[str, Any]) -> dict[str, Any]:
    names = ("item", "subtree", "reason")
    result = act("remove_work_item", {name: options[name] for name in names})
    return {"message": result.message, **result.data}


def _restore(options: dict[str, Any]) -> dict[str, Any]:
    result = act("restore_work_item", {"item": options["item"]})
    return {"message": result.message, **result.data}


def _purge(options: dict[str, Any]) -> dict[str, Any]:
    names = ("item", "key", "reason")
    result = act("purge_work_item", {name: options[name] for name in names})
    return {"message": result.message, **result.data}


def _recount(options: dict[str, Any]) -> dict[str, Any]:
    wrong = counts.recount(check=options["check"])
    answer = {"projects": wrong, "message": _drift(wrong) or "Every count is right."}
    if wrong and options["check"]:
        raise Conflict(
            f"{answer['message']} Run it without --check to count them anew.", projects=wrong
        )
    return answer


def _drift(wrong: list[dict[str, Any]]) -> str:
    return " ".join(
        f"{row['project']}: "
        + ", ".join(
            f"{name} was {pair['kept']}, is {pair['true']}" for name, pair in row["wrong"].items()
        )
        + "."
        for row in wrong
    )


def _words(answer: dict[str, Any]) -> str:
    return str(answer["message"])


def _list_options(parser: CommandParser) -> None:
    for name in _FILTERS:
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--all", action="store_true", help="also what is done or cancelled")
    parser.add_argument("--removed", action="store_true", help="what was removed, nothing else")
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--cursor", default="")


def _recount_options(parser: CommandParser) -> None:
    parser.add_argument("--check", action="store_true", help="change nothing; fail on a wrong one")


def _item_option(parser: CommandParser) -> None:
    parser.add_argument("item", help="key of the item, such as ENG-4")


def _remove_options(parser: CommandParser) -> None:
    _item_option(parser)
    parser.add_argument("--subtree", action="store_true", help="together with its parts")
    parser.add_argument("--reason", default="", help="why, for the history")


def _purge_options(parser: CommandParser) -> None:
    _item_option(parser)
    parser.add_argument("--key", required=True, help="the key once more: there is no way back")
    parser.add_argument("--reason", required=True, help="why; the project's lead hears of it")


class Command(NounCommand):
    """Work items at a terminal."""

    help = "List and show work items."
    verbs = {
        "list": Verb("List work items, open ones unless --all.", _list, _words, _list_options),
        "show": Verb("Show one item with its talk and history.", _show, _words, _item_option),
        "recount": Verb(
            "Count the items of every project anew.", _recount, _words, _recount_options
        ),
        "remove": Verb("Take an item out of sight.", _remove, _words, _remove_options),
        "restore": Verb("Bring a removed item back.", _restore, _words, _item_option),
        "purge": Verb("Destroy an item for good.", _purge, _words, _purge_options),
    }
