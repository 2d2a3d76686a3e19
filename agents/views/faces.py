"""How a turn is said in a row: one state, one word, one reason. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

PHASES = {
    "onboard": "Onboarding",
    "execute": "Execute",
    "review": "Review",
    "judge": "Judge",
    "worker": "Worker",
}
PARKED = {
    "budget": "waits for its budget",
    "provider": "waits for the model provider",
    "run": "waits for a run",
    "person": "waits for a person",
}
# outcome → activity (the glyph), tone (the chip), word
_ENDS = {
    "completed": ("ok", "done", "Completed"),
    "failed": ("stopped", "stop", "Failed"),
    "skipped": ("idle", "idle", "Nothing to do"),
    "stopped": ("stopped", "stop", "Stopped"),
}
# what an accepted turn said of itself, more than that it is over
_SAID = {
    "delivered": ("ok", "done", "Delivered"),
    "no_action": ("idle", "idle", "Nothing to do"),
    "blocked": ("needs", "need", "Blocked"),
}
OUTCOME_WORDS = {name: word for name, (_, _, word) in _ENDS.items()}


def turn_face(row: Row) -> dict[str, Any]:
    """Returns a turn's row with its address, state, word, reason, tone and bar."""
    used = (row.get("tokens_in") or 0) + (row.get("tokens_out") or 0)
    face = {**row, "url": f"/live/turns/{row['id']}", "tokens": used, "pct": None}
    if row.get("ended_at") is not None:
        activity, tone, word = _end(row)
        return {**face, "activity": activity, "tone": tone, "word": word, "reason": _ended(row)}
    if row.get("stage") == "parked":
        reason = PARKED.get(str(row.get("park_reason")), "waits")
        return {**face, "activity": "needs", "tone": "need", "word": "Parked", "reason": reason}
    return {
        **face,
        "activity": "working",
        "tone": "work",
        "word": "Working",
        "reason": _running(row),
        "pct": _percent(row),
    }


def quiet(row: Row) -> bool:
    """Says whether a turn ended without work: nothing was to do."""
    return row.get("ended_at") is not None and row.get("outcome") == "skipped"


def phase_name(phase: str) -> str:
    """Returns what a phase is called on screen."""
    return PHASES.get(phase, phase.capitalize())


def _end(row: Row) -> tuple[str, str, str]:
    outcome = str(row.get("outcome"))
    if outcome == "completed" and row.get("submitted") in _SAID:
        return _SAID[str(row["submitted"])]
    return _ENDS.get(outcome, ("idle", "idle", "Ended"))


def _ended(row: Row) -> str:
    if row.get("outcome") == "failed":
        return words(str(row.get("error_kind") or row.get("error") or "for an unknown reason"))
    passes = row.get("iteration") or 1
    return {1: "", 2: "sent back once"}.get(passes, f"sent back {passes - 1} times")


def _running(row: Row) -> str:
    if row.get("stage") == "context" or not row.get("phase"):
        return "reads the situation"
    name = phase_name(str(row["phase"])).lower()
    if row.get("iteration", 1) > 1:
        name = f"{name}, pass {row['iteration']}"
    if not row.get("round"):
        return name
    return f"{name}, round {row['round']} of {row['max_rounds']}"


def _percent(row: Row) -> float:
    rounds, most = row.get("round") or 0, row.get("max_rounds") or 0
    return round(min(100.0, rounds / most * 100), 1) if most else 0.0


def words(code: str) -> str:
    """Returns a code as words: `provider_timeout` reads `provider timeout`."""
    return code.replace("_", " ")
