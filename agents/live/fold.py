"""What a seat is doing, in one of four words. Pure: facts in, the face of a seat out.

| activity | means | checked |
|---|---|---|
| working | a turn of its runs | first |
| needs | something of its waits on a person | second |
| stopped | it is held; `stopped_reason` says by what | third |
| idle | none of these | last |

A failed last turn stops nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_MINUTES_AN_HOUR = 60
_HOURS_A_DAY = 24

REASONS = ("paused", "unplaced", "budget", "provider")


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that decides the face of a seat.

    `turn` is its open turn (running or parked), `waits` what waits on a person ({who, title, key,
    since}), `holds` the reasons that stop it with their detail. `placed` is None while unknown.
    """

    kind: str
    turn: Mapping[str, Any] | None
    last: Mapping[str, Any] | None
    waits: Mapping[str, Any] | None
    holds: Mapping[str, Mapping[str, Any]]
    placed: bool | None


def activity(facts: Facts) -> tuple[str, str | None]:
    """Returns the word and, for a stopped seat, the reason."""
    if facts.kind == "human":
        return "person", None
    running = facts.turn is not None and facts.turn["stage"] != "parked"
    if running:
        return "working", None
    if facts.waits is not None:
        return "needs", None
    reason = stopped_reason(facts)
    if reason is not None:
        return "stopped", reason
    return "idle", None


def stopped_reason(facts: Facts) -> str | None:
    """Returns why a seat is stopped, the strongest reason first, or None."""
    parked = facts.turn["park_reason"] if facts.turn and facts.turn["stage"] == "parked" else ""
    present = {
        "paused": "seat_paused" in facts.holds,
        "unplaced": facts.placed is False,
        "budget": "budget_window" in facts.holds or parked == "budget",
        "provider": "no_provider" in facts.holds or parked == "provider",
    }
    return next((reason for reason in REASONS if present[reason]), None)


def face(facts: Facts, now: datetime) -> dict[str, Any]:
    """Returns the words of a seat's card."""
    word, reason = activity(facts)
    shown: dict[str, Any] = {"secs": None, "pct": None, "key": "", "what": ""}
    if facts.last is not None:
        shown |= {"key": facts.last["work_item"] or "", "what": facts.last["title"]}
    if word == "person":
        return shown | {"word": "Person", "reason": "", "key": "", "what": _person_line(facts)}
    if word == "working" and facts.turn is not None:
        return shown | _working(facts.turn)
    if word == "needs" and facts.waits is not None:
        waits = facts.waits
        return shown | {
            "word": f"Needs {waits['who']}",
            "reason": "to decide",
            "key": waits["key"],
            "what": waits["title"],
            "secs": max(0, int((now - waits["since"]).total_seconds())),
        }
    if word == "stopped":
        return shown | {"word": "Stopped", "reason": _stop_words(facts, reason or "")}
    return shown | {"word": "Idle", "reason": _since(facts.last, now)}


def _working(turn: Mapping[str, Any]) -> dict[str, Any]:
    rounds, cap = turn["round"], turn["max_rounds"]
    phase = turn["phase"] or "reading"
    return {
        "word": "Working",
        "reason": f"{phase}, round {rounds}" if rounds else phase,
        "key": turn["work_item"] or "",
        "what": turn["title"],
        "secs": turn["secs"],
        "pct": round(100 * rounds / cap) if rounds and cap else 0,
    }


def _stop_words(facts: Facts, reason: str) -> str:
    if reason == "paused":
        hold = facts.holds["seat_paused"]
        return f"paused by {hold.get('name') or hold.get('by', 'somebody')}"
    if reason == "unplaced":
        return "no worker holds it"
    wake = facts.turn.get("wake_at") if facts.turn else None
    until = f", until {wake:%a %H:%M}" if wake else ""
    if reason == "budget":
        return f"budget{until}"
    return f"no model answers{until}"


def _since(last: Mapping[str, Any] | None, now: datetime) -> str:
    if last is None:
        return "no turn yet"
    minutes = int((now - last["ended_at"]).total_seconds() // 60)
    if minutes < 1:
        return "just now"
    if minutes < _MINUTES_AN_HOUR:
        return f"{minutes} min"
    hours = minutes // _MINUTES_AN_HOUR
    return f"{hours} h" if hours < _HOURS_A_DAY else f"{hours // _HOURS_A_DAY} d"


def _person_line(facts: Facts) -> str:
    waits = facts.waits
    if waits is None:
        return "Nothing waits on them"
    count = waits["count"]
    return f"{count} decision{'s' if count != 1 else ''} waiting"
