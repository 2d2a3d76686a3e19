"""`manage.py turns show|rerun|stop|steer|export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from agents.queries import feed
from agents.queries.turns import turn_detail
from crewlet.doors.cli import NounCommand, Verb, act, operator
from crewlet.kernel.errors import Invalid


def _turn(parser: CommandParser) -> None:
    parser.add_argument("turn", help="the turn's id")


def _stop_options(parser: CommandParser) -> None:
    _turn(parser)
    parser.add_argument("--reason", default="", help="why, for whoever waits")


def _steer_options(parser: CommandParser) -> None:
    parser.add_argument("turn", help="the turn's id, or the handle of the seat whose turn runs")
    parser.add_argument("note", help="what it is to know, at most 2000 characters")
    parser.add_argument("--request-id", default="", help="your own id: the same leaves one note")


def _export_options(parser: CommandParser) -> None:
    _turn(parser)
    parser.add_argument("--output", default="", help="the file to write; standard output without")


def _detail(options: dict[str, Any]) -> dict[str, Any]:
    return turn_detail(operator(), options["turn"])


def _stop(options: dict[str, Any]) -> dict[str, Any]:
    return _told("stop_turn", {"turn": options["turn"], "reason": options["reason"]})


def _rerun(options: dict[str, Any]) -> dict[str, Any]:
    return _told("rerun_turn", {"turn": options["turn"]})


def _steer(options: dict[str, Any]) -> dict[str, Any]:
    try:
        where = {"turn": str(UUID(options["turn"]))}
    except ValueError:
        where = {"seat": options["turn"]}
    given = {"note": options["note"], "request_id": options["request_id"]}
    return _told("steer_turn", where | given)


def _told(action: str, args: dict[str, Any]) -> dict[str, Any]:
    result = act(action, args)
    return {"message": result.message, **result.data}


def _export(options: dict[str, Any]) -> dict[str, Any]:
    """Returns everything on record of a turn, with its events; writes it where that is asked."""
    detail = _detail(options)
    told = feed.events(operator(), turn=UUID(detail["id"]), limit=400)["events"]
    whole = {"turn": detail, "events": told[::-1]}
    if not options["output"]:
        return whole
    path = Path(options["output"])
    try:
        path.write_text(_as_json(whole), encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{path} could not be written: {error}.", field="output") from error
    return {"message": f"Written to {path}."}


def _as_json(answer: Any) -> str:
    return json.dumps(answer, indent=2, default=str, ensure_ascii=False)


def _message(answer: dict[str, Any]) -> str:
    return str(answer["message"])


def _exported(answer: dict[str, Any]) -> str:
    return _message(answer) if "message" in answer else _as_json(answer)


def _words(detail: dict[str, Any]) -> str:
    stands = detail["outcome"] or detail["stage"]
    why = f": {detail['error']}" if detail["error"] else ""
    lines = [
        f"{detail['seat']['name']}  {detail['title']}",
        f"{stands}{why}",
        f"began {detail['started_at']:%Y-%m-%d %H:%M:%S}, attempt {detail['attempt']} on "
        f"{detail['node']}, {detail['calls']} model calls, "
        f"{detail['tokens_in'] + detail['tokens_out']} tokens",
    ]
    lines += [f"waits: {wait['question']} ({wait['state']})" for wait in detail["waits"]]
    lines += [f"note of {note['by']} ({note['state']}): {note['note']}" for note in detail["notes"]]
    for phase in detail["phases"]:
        lines.append(f"{phase['phase']}, pass {phase['iteration']}: {phase['status']}")
        for item in phase["rounds"]:
            lines += [f"  {item['n'] + 1:>3}  {_call(call)}" for call in item["calls"]]
    return "\n".join(lines)


def _call(call: dict[str, Any]) -> str:
    fate = {True: "ok", False: "failed", None: "denied" if call["status"] == "done" else "open"}
    return f"{call['name']}  {fate[call['ok']]}  {', '.join(call['refs'])}".rstrip()


class Command(NounCommand):
    """Turns: what one did, and a person's hand on it."""

    help = "Shows, exports, steers, stops and runs turns again."
    verbs = {
        "show": Verb("one turn with its phases and calls", _detail, words=_words, options=_turn),
        "rerun": Verb("work an ended turn's mail once more", _rerun, words=_message, options=_turn),
        "stop": Verb("end a turn", _stop, words=_message, options=_stop_options),
        "steer": Verb("tell a running turn something", _steer, words=_message,
                      options=_steer_options),
        "export": Verb("everything on record of a turn, as JSON", _export, words=_exported,
                       options=_export_options),
    }  # fmt: skip
