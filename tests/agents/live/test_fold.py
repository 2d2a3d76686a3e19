"""What a seat is doing, in one of four words, asked in one order. Pure: no rows, no clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.live.fold import REASONS, Facts, activity, face

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def a_turn(stage: str = "phase", **more: Any) -> dict[str, Any]:
    return {
        "stage": stage, "park_reason": "", "phase": "execute", "round": 3, "max_rounds": 24,
        "work_item": "ENG-1", "title": "Lamp", "secs": 40, "wake_at": None,
    } | more  # fmt: skip


IDLE = Facts(kind="agent", turn=None, last=None, waits=None, holds={}, placed=True)
ASK = {"who": "Ana", "title": "Which?", "key": "ENG-1", "since": NOW - timedelta(minutes=2)}
PAUSED = {"seat_paused": {"by": "ana"}}
FAILED = {
    "ended_at": NOW - timedelta(minutes=3), "work_item": "ENG-1", "title": "Lamp",
    "error_kind": "max_iter", "outcome": "failed",
}  # fmt: skip


@pytest.mark.covers("ADD-1", "TURN-86")
def test_the_four_words_are_asked_in_their_order() -> None:
    """Working, then needs, then stopped, then idle."""
    everything = replace(IDLE, turn=a_turn(), waits=ASK, holds=PAUSED)
    assert activity(everything) == ("working", None)
    waiting = replace(everything, turn=None)
    assert activity(waiting) == ("needs", None)
    held = replace(waiting, waits=None)
    assert activity(held) == ("stopped", "paused")
    assert activity(replace(held, holds={})) == ("idle", None)


@pytest.mark.covers("ADD-1")
def test_an_ask_to_a_person_shows_who_is_needed_also_while_the_turn_is_parked() -> None:
    facts = replace(IDLE, turn=a_turn("parked", park_reason="budget"), waits=ASK)
    shown = face(facts, NOW)
    assert (shown["word"], shown["key"], shown["what"], shown["secs"]) == (
        "Needs Ana", "ENG-1", "Which?", 120,
    )  # fmt: skip


@pytest.mark.covers("TURN-86")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"holds": PAUSED, "placed": False}, "paused"),
        ({"placed": False, "turn": a_turn("parked", park_reason="budget")}, "unplaced"),
        ({"holds": {"budget_window": {}, "no_provider": {}}}, "budget"),
        ({"turn": a_turn("parked", park_reason="budget")}, "budget"),
        ({"holds": {"no_provider": {}}}, "provider"),
        ({"turn": a_turn("parked", park_reason="provider")}, "provider"),
        ({"placed": None}, None),
    ],
)
def test_a_stopped_seat_says_the_strongest_reason(
    changes: dict[str, Any], reason: str | None
) -> None:
    """Paused, unplaced, budget, provider."""
    assert activity(replace(IDLE, **changes)) == ("stopped" if reason else "idle", reason)
    assert reason is None or reason in REASONS


@pytest.mark.covers("TURN-65")
def test_a_failed_last_turn_stops_nobody() -> None:
    facts = replace(IDLE, last=FAILED)
    assert activity(facts) == ("idle", None)
    shown = face(facts, NOW)
    assert (shown["word"], shown["reason"], shown["key"]) == ("Idle", "3 min", "ENG-1")


@pytest.mark.covers("ADD-3")
def test_a_working_seat_shows_its_phase_and_its_round() -> None:
    shown = face(replace(IDLE, turn=a_turn(phase="review", round=2, max_rounds=4)), NOW)
    assert (shown["word"], shown["reason"], shown["pct"]) == ("Working", "review, round 2", 50)
    begun = face(replace(IDLE, turn=a_turn(phase="", round=None)), NOW)
    assert (begun["reason"], begun["pct"]) == ("reading", 0)


def test_a_person_is_never_called_idle() -> None:
    facts = replace(IDLE, kind="human", waits=ASK | {"count": 2})
    assert activity(facts) == ("person", None)
    assert face(facts, NOW)["what"] == "2 decisions waiting"
