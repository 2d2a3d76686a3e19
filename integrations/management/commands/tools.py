"""`manage.py tools …`: what seats can call, and the servers that it comes from."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from crewlet.doors.cli import NounCommand, Verb
from crewlet.kernel.errors import NotFound
from integrations.mcp import standing


class Command(NounCommand):
    """The tools of the company."""

    help = "Tools: list, refresh."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.verbs = {
            "list": Verb("List every tool by its source, with what it is said to do.",
                         _list, _list_words),
            "refresh": Verb("Ask the tool servers, or one, for their tools from here.",
                            _refresh, _servers_words, _server),
        }  # fmt: skip


def _server(parser: CommandParser) -> None:
    parser.add_argument("server", nargs="?", default="", help="the server's name; all of them")


def _list(options: dict[str, Any]) -> dict[str, Any]:
    return standing.everything()


def _list_words(answer: dict[str, Any]) -> str:
    lines = []
    source = ""
    for tool in answer["tools"]:
        if tool["source"] != source:
            source = tool["source"]
            lines.append(source)
        hints = ", ".join(f"{hint} {tool[hint]}" for hint in standing.HINTS)
        lines.append(f"  {tool['name']}  ({hints}; {tool['arguments']} arguments)")
    return "\n".join([*lines, *_rows(answer["servers"])])


def _refresh(options: dict[str, Any]) -> dict[str, Any]:
    rows = standing.refresh(options["server"])
    if options["server"] and not rows:
        raise NotFound(
            f"There is no tool server '{options['server']}'; `manage.py tools list` names them."
        )
    return {"servers": rows}


def _servers_words(answer: dict[str, Any]) -> str:
    return "\n".join(_rows(answer["servers"])) or "The company names no MCP server."


def _rows(servers: list[dict[str, Any]]) -> list[str]:
    return [
        f"{row['name']}{' of @' + row['seat'] if row['seat'] else ''}: {row['state']}, "
        f"{len(row['tools'])} tools" + (f"  {row['error']}" if row["error"] else "")
        for row in servers
    ]
