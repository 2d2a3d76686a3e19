"""Samples for the kit page: one of each part, in each of its states."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import QueryDict

from crewlet.console.build.palette import PALETTE
from crewlet.console.grid import Column, grid
from crewlet.kernel import clock

IRIS = {"handle": "iris", "name": "Iris Chen", "kind": "agent", "url": "#"}
KOFI = {"handle": "kofi", "name": "Kofi Mensah", "kind": "agent", "url": "#"}
SOL = {"handle": "sol", "name": "Sol Park", "kind": "agent", "url": "#"}
ANA = {"handle": "ana", "name": "Ana Ruiz", "kind": "human", "url": "#"}


def samples(query: QueryDict | None = None) -> dict[str, Any]:
    """Returns the context of the kit page."""
    return {
        "swatches": list(PALETTE),
        "seats": _seats(),
        "cards": _cards(),
        "ask": _ask(),
        "turns": _turns(),
        "meters": [
            ("Day", "2.1M of 8M", 26, "done", "Day budget 26 percent used, state ok"),
            ("Week", "37.2M of 40M", 93, "need", "Week budget 93 percent used, state near"),
            ("Month", "123M of 120M", 100, "stop", "Month budget over by 3M, refusing"),
        ],
        "bands": ["Execute", "Review", "Workers", "Auxiliary"],
        "days": _days(),
        "counts": [{"label": day["label"], "values": [day["values"][0]]} for day in _days()],
        "budgets": _budgets(),
        "trend": [3, 5, 4, 9, 7, 12, 11],
        "hours": [(3, 0, 0), (5, 1, 0), (0, 0, 0), (8, 2, 1), (12, 3, 0), (6, 1, 0), (2, 0, 0)],
        "people": [ANA, KOFI, SOL, IRIS],
        "grid": _grid(query or QueryDict()),
    }


def _seat(party: dict[str, str], role: str, activity: str, **face: Any) -> dict[str, Any]:
    empty = {"word": "Idle", "reason": "", "key": "", "what": "", "secs": None, "pct": None}
    return {**party, "role": role, "activity": activity, **empty, **face}


def _seats() -> list[dict[str, Any]]:
    return [
        _seat(KOFI, "Backend engineer", "working", word="Working", reason="execute, round 5",
              key="ENG-142", what="Totals drift by a cent", secs=409, pct=21),
        _seat(IRIS, "Writer", "needs", word="Needs Ana", reason="to decide", key="GRO-22",
              what="Changelog and launch post", secs=1080),
        _seat(SOL, "Reliability", "stopped", word="Stopped", reason="paused by Ana",
              what="The supplier list is being checked"),
        _seat(ANA, "Founder", "person", word="Person", reason="", what="3 decisions waiting"),
    ]  # fmt: skip


def _card(key: str, title: str, **more: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {
        "key": key, "title": title, "url": "#", "priority": "normal", "assignee": KOFI,
        "labels": [], "due": None, "overdue": False, "comments": 0, "subs": None, "version": 1,
        "waiting": "", "blocked": "", "live": None, "status": "todo", "group": "not_started",
    }  # fmt: skip
    return {**blank, **more}


def _cards() -> list[dict[str, Any]]:
    running = {"turn_id": "", "who": KOFI, "text": "Execute, round 5 of 24", "secs": 409}
    return [
        _card("ENG-142", "Invoice totals drift by a cent on multi-currency credit notes",
              priority="urgent", labels=["billing", "release 2.4"], comments=6,
              subs={"done": 3, "total": 5}, live=running),
        _card("ENG-150", "Delete stale fixtures from the import suite", priority="high",
              waiting="Waiting on Ana, 18 min", comments=3),
        _card("ENG-151", "Correct the issued credit notes", priority="low", assignee=None,
              blocked="Blocked by ENG-142"),
    ]  # fmt: skip


def _ask() -> dict[str, Any]:
    return {
        "id": "kit", "item": {"key": "ENG-142", "title": "Invoice totals drift", "url": "#"},
        "who": KOFI, "to": ANA, "mine": True, "role": "approver",
        "at": clock.now() - timedelta(minutes=6),
        "question": "Which rounding rule should credit notes use from now on?",
        "context": "37 issued notes carry the drift. The fix needs **one** rule before it merges.",
        "rationale": "The ledger rounds half-even already.", "recommended": "a",
        "options": [
            {"id": "a", "label": "Round once, half-even", "detail": "The same rule as the ledger."},
            {"id": "b", "label": "Round once, half-up", "detail": "As on their paper."},
            {"id": "c", "label": "Keep rounding per line", "detail": "No issued note changes."},
        ],
        "evidence": [{"label": "The ledger's rule", "url": "#"}], "answered": None,
    }  # fmt: skip


def _turns() -> list[dict[str, Any]]:
    now = clock.now()
    blank = {
        "url": "#", "item": None, "park": "", "note": "", "ended_at": now, "secs": 312,
        "tokens": 41200, "rounds": 9, "pct": None,
    }  # fmt: skip
    return [
        {**blank, "id": "1", "seat": KOFI, "title": "Invoice totals drift by a cent",
         "activity": "working", "word": "Working", "reason": "execute, round 5 of 24",
         "tone": "work", "ended_at": None, "pct": 21, "secs": 409},
        {**blank, "id": "2", "seat": IRIS, "title": "Changelog and launch post",
         "activity": "ok", "word": "Completed", "reason": "delivered", "tone": "done"},
        {**blank, "id": "3", "seat": SOL, "title": "Rotate the webhook secret",
         "activity": "stopped", "word": "Failed", "reason": "the provider did not answer",
         "tone": "stop"},
    ]  # fmt: skip


def _days() -> list[dict[str, Any]]:
    """Five days of a stacked chart: one is empty, of one nothing is known."""
    values: list[list[int | None]] = [
        [41000, 9000, 3000, 800], [52000, 12000, 0, 900], [0, 0, 0, 0],
        [None, None, None, None], [64000, 15000, 7000, 1200],
    ]  # fmt: skip
    return [
        {"label": f"{day} Mar", "values": each, "url": f"#day-{day}"}
        for day, each in enumerate(values, 1)
    ]


def _budgets() -> list[dict[str, Any]]:
    """A window in each state, and one without a ceiling."""
    figures: tuple[tuple[str, int, int | None, str], ...] = (
        ("Today", 2_100_000, 8_000_000, "ok"), ("This week", 37_200_000, 40_000_000, "near"),
        ("This month", 123_000_000, 120_000_000, "refusing"), ("Night", 4_000, None, "ok"),
    )  # fmt: skip
    return [
        {"name": name, "used": used, "limit": limit, "state": state,
         "share": used / limit if limit else None}
        for name, used, limit, state in figures
    ]  # fmt: skip


def _grid(query: QueryDict) -> dict[str, Any]:
    now = clock.now()
    columns = [
        Column("seat", "Seat", sort=True),
        Column("outcome", "Outcome"),
        Column("rounds", "Rounds", sort=True, num=True),
        Column("ended", "Ended", sort=True, keep=1, kind="time"),
        Column("item", "Item", keep=2, kind="key"),
        Column("share", "Share of the day", sort=True, keep=3),
    ]
    rows: list[dict[str, Any]] = [
        {"seat": {"text": "Kofi Mensah", "url": "#"}, "band": "Running", "rounds": 5,
         "outcome": {"text": "Running", "tone": "work"}, "item": "ENG-142", "ended": None,
         "share": {"text": "21 %", "bar": 21, "sort": 21}},
        {"seat": {"text": "Iris Chen", "url": "#"}, "band": "Ended", "rounds": 9, "ended": now,
         "outcome": {"text": "Completed", "tone": "done"}, "item": "GRO-22",
         "share": {"text": "8 %", "bar": 8, "sort": 8}},
        {"seat": {"text": "Sol Park", "url": "#", "tag": "paused"}, "band": "Ended", "rounds": None,
         "outcome": {"text": "Failed", "tone": "stop"}, "ended": now - timedelta(hours=2),
         "item": None, "share": None},
    ]  # fmt: skip
    return grid(
        query, "", columns, rows, label="Turns", default_sort="-ended",
        empty={"title": "No turns yet", "text": "No seat has run."},
    )  # fmt: skip
