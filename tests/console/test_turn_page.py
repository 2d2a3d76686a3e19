"""A journalled turn as its page shows it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from agents.views.chart import legend, sentence, tree
from agents.views.faces import turn_face
from agents.views.trace import one_round, trace
from crewlet.kernel import clock
from tests.console import samples


def seen(**changes: Any) -> dict[str, Any]:
    """Returns the page's context for the sample turn with changes."""
    return trace(samples.turn_detail() | changes, clock.now())


def test_the_steps_tell_the_story_of_the_turn() -> None:
    states = [(step["name"], step["state"]) for step in seen()["steps"]]
    assert states == [
        ("Context", "done"), ("Execute", "done"), ("Review", "back"), ("Execute", "now"),
        ("Review", "next"),
    ]  # fmt: skip


def test_the_waterfall_covers_the_turn_and_never_leaves_it() -> None:
    pieces = seen()["fall"]
    assert [piece["kind"] for piece in pieces] == ["ctx", "exec", "rev", "now"]
    assert all(0 <= float(piece["x"]) <= 100 for piece in pieces)
    assert float(pieces[-1]["x"]) + float(pieces[-1]["w"]) <= 100.5


def test_a_running_phase_ends_with_the_round_that_is_thought_now() -> None:
    rounds = seen()["phases"][-1]["rounds"]
    assert [item["n"] for item in rounds] == [1, 2, 3, 4, 5]
    assert rounds[-1]["live"]
    assert rounds[-1]["id"] == "r-execute-2-4"


def test_no_round_is_invented_while_calls_of_the_last_one_run() -> None:
    detail = samples.turn_detail()
    detail["phases"][-1]["rounds"][-1]["calls"][-1] |= {"status": "running", "ok": None}
    rounds = trace(detail, clock.now())["phases"][-1]["rounds"]
    assert not rounds[-1]["live"]
    assert rounds[-1]["calls"][-1]["ok"] == "run"


def test_a_live_round_becomes_the_finished_one_under_its_id() -> None:
    detail = samples.turn_detail()
    live = one_round(detail, "execute", 2, 4)
    assert live
    assert live["live"]
    detail["phases"][-1]["rounds"].append({**detail["phases"][-1]["rounds"][0], "n": 4})
    done = one_round(detail, "execute", 2, 4)
    assert done
    assert not done["live"]
    assert done["id"] == live["id"]


def test_an_ended_turn_has_no_live_round_to_show() -> None:
    detail = samples.turn_detail() | {"ended_at": clock.now(), "outcome": "failed"}
    assert one_round(detail, "execute", 2, 9) is None
    assert (
        seen(ended_at=clock.now(), outcome="failed", stage="done")["phases"][-1]["state"] == "bad"
    )


def test_a_call_says_what_it_touched_what_failed_and_what_nobody_saw() -> None:
    calls = [call for item in seen()["phases"][-1]["rounds"] for call in item["calls"]]
    by = {call["tool"]: call for call in calls}
    assert by["create_work_item"]["note"] == "ENG-151"
    assert by["run_tests"]["ok"] == "no"
    assert by["run_tests"]["server"] == "code"
    assert "JPY 1200.00" in by["run_tests"]["error"]
    detail = samples.turn_detail()
    detail["phases"][0]["rounds"][0]["calls"][0] |= {"ok": None}
    assert trace(detail, clock.now())["phases"][0]["rounds"][0]["calls"][0]["ok"] == "lost"


def test_long_numbers_in_arguments_keep_every_digit() -> None:
    detail = samples.turn_detail()
    raw = '{"id": 9007199254740993123}'
    detail["phases"][0]["rounds"][0]["calls"][0] |= {"args": {"id": 1}, "args_text": raw}
    assert trace(detail, clock.now())["phases"][0]["rounds"][0]["calls"][0]["args_full"] == raw


def test_a_prompt_is_cut_at_its_outline_byte_for_byte() -> None:
    detail = samples.turn_detail()
    text = "# Identität\nKofi\n# Rules\nBe kind\n"
    first = "# Identität\nKofi\n"
    detail["phases"][0] |= {
        "system": text,
        "system_outline": [
            {"key": "identity", "title": "Identity", "bytes": len(first.encode())},
            {"key": "rules", "title": "Rules", "bytes": len("# Rules\nBe kind\n")},
        ],
        "user": "Do it.", "user_outline": [],
    }  # fmt: skip
    parts = trace(detail, clock.now())["phases"][0]["parts"]
    assert [part["text"] for part in parts] == [first, "# Rules\nBe kind\n", "Do it."]
    assert parts[2]["title"] == "The user prompt"


def test_the_verdict_leads_with_its_reason() -> None:
    verdict = seen()["phases"][1]["verdict"]
    assert verdict["state"] == "back"
    assert verdict["lead"].startswith("The fix is real")
    assert verdict["done"].startswith("Root cause")


def test_the_engines_correction_stands_under_the_pass_it_sent_back() -> None:
    phases = seen()["phases"]
    assert "reached Petra" in phases[0]["correction"]
    assert phases[1]["correction"] == ""


def test_errors_are_told_first_and_by_name() -> None:
    detail = samples.turn_detail() | {
        "error": "No answer in 120 s.",
        "error_kind": "provider_timeout",
    }
    detail["stop_request"] = {"by": "ana", "at": clock.now(), "reason": ""}
    wrong = trace(detail, clock.now())["wrong"]
    assert wrong[0] == {"title": "Provider timeout", "text": "No answer in 120 s."}
    assert "ana asked to stop" in wrong[1]["title"]


def test_the_cache_share_is_absent_when_nothing_was_reported() -> None:
    assert seen()["cached"] == 71
    assert seen(cache_read=None)["cached"] is None


@pytest.mark.parametrize(
    ("changes", "activity", "word", "reason"),
    [
        ({}, "working", "Working", "execute, pass 2, round 5 of 24"),
        ({"stage": "context", "phase": ""}, "working", "Working", "reads the situation"),
        ({"round": None, "iteration": 1}, "working", "Working", "execute"),
        ({"stage": "parked", "park_reason": "budget"}, "needs", "Parked", "waits for its budget"),
        ({"outcome": "completed", "submitted": "no_action", "iteration": 1}, "idle",
         "Nothing to do", ""),
        ({"outcome": "skipped", "submitted": "no_action", "iteration": 1}, "idle",
         "Nothing to do", ""),
        ({"outcome": "completed", "submitted": "delivered", "iteration": 3}, "ok", "Delivered",
         "sent back 2 times"),
        ({"outcome": "completed", "submitted": "blocked", "iteration": 1}, "needs", "Blocked", ""),
        ({"outcome": "failed", "error_kind": "provider_timeout"}, "stopped", "Failed",
         "provider timeout"),
        ({"outcome": "stopped", "iteration": 1}, "stopped", "Stopped", ""),
    ],
)  # fmt: skip
def test_a_turn_has_one_state_one_word_and_one_reason(
    changes: dict[str, Any], activity: str, word: str, reason: str
) -> None:
    ended = {"ended_at": clock.now(), "stage": "done"} if "outcome" in changes else {}
    face = turn_face(samples.turn_row("kofi", "x") | ended | changes)
    assert (face["activity"], face["word"], face["reason"]) == (activity, word, reason)
    assert face["tokens"] == 194_000


def test_a_lead_stands_before_its_members_and_nobody_is_drawn_twice() -> None:
    found = tree(samples.chart(), samples.seat_rows())
    assert [row["handle"] for row in found["head"]] == ["ana"]
    engineering = next(unit for unit in found["units"] if unit["key"] == "engineering")
    assert engineering["seats"][0]["handle"] == "edith"
    assert [row["lead"] for row in engineering["seats"]] == [True, False, False, False, False]
    drawn = [row["handle"] for unit in found["units"] for row in unit["seats"]]
    assert len(drawn) == len(set(drawn)) == 17


def test_the_legend_counts_people_apart_and_the_sentence_says_no_zero() -> None:
    counts = legend(samples.seat_rows())
    assert {row["key"]: row["count"] for row in counts} == {
        "working": 4, "needs": 2, "stopped": 2, "idle": 7, "person": 3,
    }  # fmt: skip
    assert sentence([{"key": "working", "count": 0}]) == "No agent is working."
    assert sentence([{"key": "working", "count": 1}]) == "One agent is working."
    several = sentence([{"key": "working", "count": 12}, {"key": "stopped", "count": 1}])
    assert several == "12 agents are working. One is stopped."


def test_times_before_the_turn_are_never_drawn_left_of_it() -> None:
    detail = samples.turn_detail()
    detail["phases"][0]["started_at"] = detail["started_at"] - timedelta(seconds=9)
    assert float(trace(detail, clock.now())["fall"][1]["x"]) == 0
