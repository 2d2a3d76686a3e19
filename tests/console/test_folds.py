"""Runs of quiet rows fold into one line; what a person should see never does."""

from __future__ import annotations

from typing import Any

from agents.views.folds import folded
from agents.views.news import news
from crewlet.console.templatetags import ui
from crewlet.kernel.actors import Actor, ActorKind
from orgs.views.inbox import told


def row(name: str, quiet: bool = False) -> dict[str, Any]:
    return {"name": name, "quiet": quiet}


def hushed(one: Any) -> bool:
    return bool(one["quiet"])


def event(kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "text": text}


def test_a_quiet_run_is_one_line_where_it_stood() -> None:
    rows = [row("a"), row("b", True), row("c", True), row("d"), row("e", True)]
    lines = folded(rows, hushed)
    assert lines == [
        {"row": rows[0]}, {"fold": rows[1:3]}, {"row": rows[3]}, {"row": rows[4]},
    ]  # fmt: skip


def test_nothing_is_lost_by_folding() -> None:
    rows = [row(str(n), quiet=bool(n % 3)) for n in range(20)]
    flat = [one for line in folded(rows, hushed) for one in line.get("fold", [line.get("row")])]
    assert flat == rows
    assert folded([], hushed) == []


def test_home_tells_no_plumbing_and_folds_turns_without_work() -> None:
    lines = news(
        [
            event("seat_claimed", "vm took the seat."),
            event("agent_turn_completed", "Kofi Mensah had nothing to do: a comment"),
            event("agent_turn_stopped", "ana stopped this turn."),
            event("agent_turn_started", "Kofi Mensah: commented on ENG-4"),
            event("agent_turn_completed", "Edith Lang had nothing to do: a comment"),
            event("agent_turn_completed", "Iris Chen finished: a **task**"),
        ],
        limit=9,
    )
    assert [len(line.get("fold", ())) for line in lines] == [2, 0]
    assert lines[1]["row"]["text"] == "Iris Chen finished: a task"


def test_what_waits_on_the_reader_is_said_to_them_alone() -> None:
    reader = Actor(kind=ActorKind.PERSON, login="ana.ruiz", name="Ana Ruiz")
    assert ui.for_reader("Needs Ana Ruiz", reader) == "Needs you"
    assert ui.for_reader("Waiting on Ana Ruiz, 18 min", reader) == "Waiting on you, 18 min"
    assert ui.for_reader("Needs Edith Lang", reader) == "Needs Edith Lang"
    assert ui.for_reader("Needs Ana Ruiz", None) == "Needs Ana Ruiz"


def test_a_notice_does_not_say_twice_who_it_is_from() -> None:
    kofi = {"name": "Kofi Mensah"}
    row = {"who": kofi, "title": "Kofi Mensah: moved ENG-4", "body": "Kofi Mensah: moved ENG-4"}
    assert told(row) == {"who": kofi, "title": "Moved ENG-4", "body": ""}
    said = {"who": kofi, "title": "Kofi Mensah: commented on ENG-4", "body": "I looked."}
    assert told(said)["body"] == "I looked."
    plain = {"who": None, "title": "The budget is spent", "body": ""}
    assert told(plain) == plain
