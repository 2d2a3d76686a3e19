"""The play: what each seat does next. A pure function of the situation.

A lead breaks what it was given down and files a part for each report; a member does its part and
reports; when the parts are done the lead reports up; at the top one decision is asked of a person,
and their answer ends it. One part of the first team is handed in without its result, so that the
reviewer sends it back. Whatever a person says to a seat is answered where they said it. Mail that
asks for nothing ends the turn without a trace, so the company comes to rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.llm.rehearsal import lines
from agents.llm.rehearsal.situation import Situation

Calls = tuple[tuple[str, dict[str, Any]], ...]

_FINISHED = frozenset({"done", "cancelled"})
_INCLUDE = ["comments", "links"]


@dataclass(frozen=True, slots=True)
class Move:
    """One answer: a thought, a sentence beside the calls, and the calls."""

    thought: str
    speech: str
    calls: Calls


def next_move(now: Situation) -> Move:
    """Returns what the seat does next."""
    if now.reviewing:
        return _review(now)
    if not now.item:
        return _answer_colleague(now)
    looked = now.last("get_work_item", item=now.item)
    if looked is None:
        return _look(f"I was woken about {now.item}. I look at it before I act.", now.item)
    return _work(now, looked.data)


def _look(thought: str, key: str) -> Move:
    return Move(
        thought, f"Reading {key}.", (("get_work_item", {"item": key, "include": _INCLUDE}),)
    )


def _work(now: Situation, view: Mapping[str, Any]) -> Move:
    item = view.get("item", {})
    mine = item.get("assignee") == now.handle
    finished = item.get("status") in _FINISHED
    if now.reports and finished and not mine and item.get("parent") and not now.owed:
        return _part_finished(now, str(item["parent"]))
    if _a_person_speaks(now) and not _new_work(now, mine=mine, finished=finished):
        return _reply(now)
    if not mine or finished:
        return _reply(now) if now.owed else _nothing(now)
    if now.reports:
        return _lead(now, view)
    return _member(now, str(view.get("body") or ""))


def _a_person_speaks(now: Situation) -> bool:
    return now.sender_kind in ("human", "operator")


def _new_work(now: Situation, *, mine: bool, finished: bool) -> bool:
    return mine and not finished and now.reason in ("assigned", "your ask was answered")


# --- the one who leads ---------------------------------------------------------------------------


def _part_finished(now: Situation, whole: str) -> Move:
    """A part is finished: is what it was a part of finished too?"""
    looked = now.last("get_work_item", item=whole)
    if looked is None:
        return _look(f"{now.item} is finished. It is a part of {whole}, which I look at.", whole)
    item = looked.data.get("item", {})
    if item.get("assignee") != now.handle or item.get("status") in _FINISHED:
        return _nothing(now)
    return _lead(replace(now, item=whole, title=str(item.get("title"))), looked.data)


def _lead(now: Situation, view: Mapping[str, Any]) -> Move:
    parts = list(view.get("parts") or [])
    if now.reason == "your ask was answered":
        return _close(now, lines.closing(now))
    if not parts or now.did("create_work_item"):
        return _break_down(now, str(view.get("body") or ""))
    still_open = now.last("list_work_items")
    if still_open is None:
        return Move(
            f"{now.item} is broken into {_parts(len(parts))}. What is still open?",
            f"Looking at the parts of {now.item}.",
            (("list_work_items", {"parent": now.item, "open_only": True}),),
        )
    if still_open.data.get("items") or view.get("asks"):
        return _reply(now) if now.owed else _nothing(now)
    if now.manager and now.manager not in {person.handle for person in now.people}:
        return _close(now, lines.report_up(parts))
    return _ask_a_person(now)


def _break_down(now: Situation, own_body: str) -> Move:
    if not now.did("create_work_item"):
        calls: list[tuple[str, dict[str, Any]]] = [
            ("update_work_item", {"item": now.item, "status": "in_progress"})
        ]
        for place, report in enumerate(now.reports, 1):
            title, body = lines.part(now, own_body, report, place, len(now.reports))
            calls.append(
                (
                    "create_work_item",
                    {"title": title, "body": body, "parent": now.item, "assignee": report.handle},
                )
            )
        return Move(
            "This is more than one seat should carry. I split it by what each of us answers for.",
            f"Breaking {now.item} into {_parts(len(now.reports))} and assigning them.",
            tuple(calls),
        )
    keys = [
        str(call.arguments.get("title")) for call in now.done if call.name == "create_work_item"
    ]
    if not now.did("comment_on_work_item"):
        return Move(
            "The parts are filed; whoever asked should see the plan here.",
            "Telling the plan on the item.",
            (("comment_on_work_item", {"item": now.item, "body": lines.plan(now, keys)}),),
        )
    return _submit(
        f"Broke {now.item} into {_parts(len(keys))}, assigned each and told the plan on the item.",
        ["comment_on_work_item", "create_work_item"],
    )


def _parts(count: int) -> str:
    return f"{count} parts" if count > 1 else "one part"


def _close(now: Situation, body: str) -> Move:
    if not now.did("comment_on_work_item"):
        return Move(
            "Everything it depended on is finished. I report and close it.",
            f"Reporting on {now.item} and closing it.",
            (
                ("comment_on_work_item", {"item": now.item, "body": body}),
                ("update_work_item", {"item": now.item, "status": "done"}),
            ),
        )
    return _submit(f"Reported on {now.item} and closed it.", ["comment_on_work_item"])


def _ask_a_person(now: Situation) -> Move:
    if not now.people:
        return _close(now, lines.closing(now))
    if not now.did("comment_on_work_item"):
        person = now.people[0]
        return Move(
            "The parts are done, but what happens with the result is not mine to decide.",
            f"Asking {person.name} to decide.",
            (
                (
                    "comment_on_work_item",
                    {
                        "item": now.item,
                        "body": lines.ask_body(now, person),
                        "ask": person.handle,
                        "decision": lines.decision(now),
                    },
                ),
            ),
        )
    return _submit(
        f"All parts of {now.item} are finished; the decision on how to go on is asked.",
        ["comment_on_work_item"],
    )


# --- the one who does it -------------------------------------------------------------------------


def _member(now: Situation, own_body: str) -> Move:
    if not now.again and not now.did("update_work_item", status="in_progress"):
        return Move(
            "It is mine and it is clear. I say that I am on it.",
            f"Starting on {now.item}.",
            (("update_work_item", {"item": now.item, "status": "in_progress"}),),
        )
    if not now.again and lines.forgets_the_result(own_body):
        if not now.did("update_work_item", status="in_review"):
            return Move(
                "The work is finished; I hand it in.",
                f"Handing in {now.item}.",
                (("update_work_item", {"item": now.item, "status": "in_review"}),),
            )
        return _submit(f"{now.item} is finished and handed in.", ["update_work_item"])
    if not now.did("comment_on_work_item"):
        return Move(
            "The result belongs on the item, where whoever asked will look for it.",
            f"Writing the result on {now.item} and closing it.",
            (
                ("comment_on_work_item", {"item": now.item, "body": lines.result(now)}),
                ("update_work_item", {"item": now.item, "status": "done"}),
            ),
        )
    return _submit(
        f"Did {now.item}, wrote the result on it and closed it.", ["comment_on_work_item"]
    )


# --- everybody -----------------------------------------------------------------------------------


def _reply(now: Situation) -> Move:
    if not now.did("comment_on_work_item"):
        arguments: dict[str, Any] = {"item": now.item, "body": lines.reply(now)}
        if now.asked_comment:
            arguments["answers"] = now.asked_comment
        return Move(
            "I was addressed, so I answer here.",
            f"Answering on {now.item}.",
            (("comment_on_work_item", arguments),),
        )
    return _submit(f"Answered on {now.item}.", ["comment_on_work_item"])


def _nothing(now: Situation) -> Move:
    return Move(
        "This tells me something and asks nothing of me.",
        "Nothing to do here.",
        (
            (
                "submit_work",
                {"outcome": "no_action", "summary": f"Read the news on {now.item}; nothing to do."},
            ),
        ),
    )


def _answer_colleague(now: Situation) -> Move:
    outcome = "delivered" if now.owed or "A colleague waits" in now.message else "no_action"
    return Move(
        "A colleague wants to know something that I can say from what I answer for.",
        "Answering.",
        (("submit_work", {"outcome": outcome, "summary": lines.to_colleague(now)}),),
    )


def _submit(summary: str, deliveries: list[str]) -> Move:
    return Move(
        "It is done and can be seen where it was asked.",
        "Submitting the work.",
        (
            (
                "submit_work",
                {"outcome": "delivered", "summary": summary, "deliveries": deliveries},
            ),
        ),
    )


# --- the reviewer --------------------------------------------------------------------------------


def _review(now: Situation) -> Move:
    claim = _between(now.system, "## What the seat claims")
    record = _between(now.system, "## The record of its calls")
    earlier = _between(now.system, "## Earlier passes of this turn")
    told = "comment_on_work_item" in record or "comment_on_work_item" in earlier
    if "**delivered**" in claim and not told and "A colleague waits" not in now.message:
        return Move(
            "The claim says finished, but the record shows no result that anybody could read.",
            "Sending it back.",
            (
                (
                    "submit_review",
                    {
                        "decision": "self_iterate",
                        "notes": "Write the result on the item before handing it in: whoever asked "
                        "can see a new status and nothing else.",
                        "completed_work": "The item was taken up and moved on.",
                    },
                ),
            ),
        )
    return Move(
        "The record shows what was asked, where it was asked.",
        "Accepting it.",
        (
            (
                "submit_review",
                {"decision": "done", "completed_work": "What was asked is on the record."},
            ),
        ),
    )


def _between(text: str, heading: str) -> str:
    return text.partition(heading)[2].partition("\n## ")[0]
