"""The rehearsal: what each seat does next, from the request alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.llm.base import (
    AssistantMessage,
    Delta,
    Message,
    Request,
    StopReason,
    ToolMessage,
    ToolSchema,
    UserMessage,
)
from agents.llm.rehearsal import RehearsalProvider

TEAM = """## Your team

### Baker (@baker)

Bake what was ordered

### Rita (@rita, a person)"""
LEAD = "You hold the seat **Head Baker** (@head) at Harbour.\n\n" + TEAM
MEMBER = "You hold the seat **Baker** (@baker) at Harbour.\n\n**Your goal.** Bake what was ordered"
PEOPLE = "\n\n## People you work with\n\n- Rita (@rita)"
WORK = tuple(
    ToolSchema(name, "", {})
    for name in ("get_work_item", "list_work_items", "create_work_item", "submit_work")
)
REVIEW = (ToolSchema("submit_review", "", {}),)


def letter(reason: str, *, kind: str = "agent", owed: bool = True, more: str = "") -> str:
    owes = "Somebody waits for your answer" if owed else "Nobody waits for a reply."
    return (
        f"## The message\n\nItem: ENG-4 — Bread\nReason: {reason}\n"
        f"From: Rita (@rita, {kind})\n{more}\n{owes}"
    )


class Play:
    """Plays a phase on: each answer's calls get the results that the test gives by name."""

    def __init__(self, system: str, message: str, tools: Any = WORK, **results: Any) -> None:
        self.system, self.tools, self.results = system, tools, results
        self.messages: list[Message] = [UserMessage(message)]
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def step(self) -> str:
        """Asks once; returns the name of the last call."""
        answer = RehearsalProvider("main").complete(
            Request(self.system, tuple(self.messages), self.tools)
        )
        assert answer.stop is StopReason.TOOL_USE
        self.messages.append(AssistantMessage(answer))
        for call in answer.calls:
            self.calls.append((call.name, call.arguments or {}))
            result = self.results.get(call.name, {})
            if callable(result):
                result = result(call.arguments)
            self.messages.append(ToolMessage(call.id, call.name, "ok\n" + json.dumps(result)))
        return answer.calls[-1].name

    def to_the_end(self) -> list[tuple[str, dict[str, Any]]]:
        """Plays until the work is submitted; returns every call."""
        for _ in range(10):
            if self.step().startswith("submit_"):
                return self.calls
        raise AssertionError(f"It never ends: {self.calls}")


def item(**fields: Any) -> dict[str, Any]:
    return {"item": {"key": "ENG-4", "status": "todo", "assignee": "baker", **fields}, "parts": []}


def names(calls: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return [name for name, _ in calls]


def test_the_same_request_has_the_same_answer() -> None:
    first, second = (Play(MEMBER, letter("assigned")) for _ in range(2))
    first.step()
    second.step()
    assert first.messages == second.messages


def test_a_member_does_its_item_and_reports_on_it() -> None:
    calls = Play(MEMBER, letter("assigned"), get_work_item=item()).to_the_end()

    assert names(calls) == [
        "get_work_item",
        "update_work_item",
        "comment_on_work_item",
        "update_work_item",
        "submit_work",
    ]
    assert [args["status"] for name, args in calls if name == "update_work_item"] == [
        "in_progress",
        "done",
    ]
    assert calls[-1][1]["outcome"] == "delivered"


def test_one_part_is_handed_in_without_its_result_and_mended_in_the_next_pass() -> None:
    view = item() | {"body": "This is part 1 of part 1 of **ENG-1 Bread**."}
    first = Play(MEMBER, letter("assigned"), get_work_item=view).to_the_end()
    again = Play(
        MEMBER, letter("assigned") + "\n\n## Work already done in this turn\n", get_work_item=view
    ).to_the_end()

    assert "comment_on_work_item" not in names(first)
    assert "comment_on_work_item" in names(again)


def test_a_lead_breaks_down_files_a_part_for_each_agent_and_tells_the_plan() -> None:
    calls = Play(LEAD, letter("assigned"), get_work_item=item(assignee="head")).to_the_end()
    filed = [args for name, args in calls if name == "create_work_item"]

    assert [(args["assignee"], args["parent"]) for args in filed] == [("baker", "ENG-4")]
    assert names(calls)[-2:] == ["comment_on_work_item", "submit_work"]


def finished_part(arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments["item"] == "ENG-4":
        return item(status="done", parent="ENG-1")
    return {"item": {"key": "ENG-1", "status": "in_progress", "assignee": "head"}, "parts": ["A"]}


REPORTED = letter("a part of your item was finished", owed=False)


@pytest.mark.parametrize(
    ("manager", "still_open", "ending"),
    [
        ("", [{"key": "ENG-5"}], "no_action"),
        ("\n\nYou report to Chief (@chief).", [], "delivered"),
    ],
)
def test_a_lead_reports_up_when_the_last_part_is_finished_and_not_before(
    manager: str, still_open: list[Any], ending: str
) -> None:
    play = Play(
        LEAD + manager,
        REPORTED,
        get_work_item=finished_part,
        list_work_items={"items": still_open},
    )
    calls = play.to_the_end()

    assert calls[-1][1]["outcome"] == ending
    closed = [a for n, a in calls if n == "update_work_item" and a["status"] == "done"]
    assert [args["item"] for args in closed] == (["ENG-1"] if ending == "delivered" else [])


def test_at_the_top_one_decision_is_asked_of_a_person() -> None:
    play = Play(
        LEAD + PEOPLE,
        REPORTED,
        get_work_item=finished_part,
        list_work_items={"items": []},
    )
    calls = play.to_the_end()
    asked = next(args for name, args in calls if name == "comment_on_work_item")

    assert (asked["ask"], asked["item"]) == ("rita", "ENG-1")
    assert asked["decision"]["recommended"] in [o["id"] for o in asked["decision"]["options"]]


def test_a_persons_question_is_answered_where_it_was_asked() -> None:
    ask = "01a22843-b93b-72ae-85e4-aaa96fdaec83"
    calls = Play(
        MEMBER,
        letter("asked", kind="human", more=f"answers={ask}"),
        get_work_item=item(assignee="somebody-else"),
    ).to_the_end()

    answered = next(args for name, args in calls if name == "comment_on_work_item")
    assert (answered["item"], answered["answers"]) == ("ENG-4", ask)


def test_news_that_ask_for_nothing_end_without_a_trace() -> None:
    calls = Play(
        MEMBER,
        letter("a comment on an item you filed", owed=False),
        get_work_item=item(assignee="somebody-else"),
    ).to_the_end()
    assert names(calls) == ["get_work_item", "submit_work"]
    assert calls[-1][1]["outcome"] == "no_action"


@pytest.mark.parametrize(
    ("record", "decision"),
    [("1. update_work_item ENG-4: ok", "self_iterate"), ("1. comment_on_work_item: ok", "done")],
)
def test_the_reviewer_goes_by_the_record(record: str, decision: str) -> None:
    system = (
        "# You review\n\n## What the seat claims\n\n**delivered**: done\n\n"
        f"## The record of its calls\n\n{record}\n"
    )
    calls = Play(system, letter("assigned"), tools=REVIEW).to_the_end()
    assert calls[0][1]["decision"] == decision


def test_what_it_says_is_streamed_piece_by_piece() -> None:
    pieces: list[Delta] = []
    answer = RehearsalProvider("main").complete(
        Request(
            MEMBER, (UserMessage(letter("assigned")),), WORK, stream=True, on_delta=pieces.append
        )
    )
    assert "".join(piece.text for piece in pieces) == answer.text
    assert answer.usage.estimated and answer.usage.input > 0
