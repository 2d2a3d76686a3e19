"""What the pages ask of the runtime: questions of `agents.queries` beside the live state."""

from __future__ import annotations

from datetime import timedelta

from agents.budgets.spend import budgets
from agents.budgets.windows import WindowKind
from agents.live.seats import seat_about
from agents.live.snapshot import OPEN_WORK, seat_row, seat_rows
from agents.llm.base import NoProvider
from agents.llm.chain import chain_of
from agents.queries import history, turns
from agents.queries.feed import feed
from agents.queries.rows import Row
from agents.queries.turns import (
    live_of_items,
    parked_turns,
    recent_turns,
    running_turns,
    turn_detail,
    turns_of_item,
)
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from orgs import epochs


def seat_detail(actor: Actor, handle: str) -> Row:
    """Returns a seat's live row with its charter, mail, budgets and figures."""
    about = seat_about(actor, handle)
    return {
        "row": seat_row(actor, handle),
        **about,
        "figures": history.figures(handle),
        "setup": _setup(handle),
    }


def _setup(handle: str) -> Row:
    """Returns the providers that answer for a seat, in order, or in words why none does."""
    snapshot = epochs.active()
    if not snapshot.chart.seats[handle].is_agent:
        return {"chain": [], "problem": ""}
    try:
        keys = chain_of(snapshot, handle, "execute")
    except NoProvider as error:
        return {"chain": [], "problem": str(error)}
    known = snapshot.document.providers.llm
    return {
        "chain": [{"key": key, "type": known[key].type, "model": known[key].model} for key in keys],
        "problem": "",
    }


def recent_phases(actor: Actor, *, cursor: str = "", limit: int = 20) -> Row:
    """Returns a page of phases, newest first: `phases` and `next_cursor`."""
    return history.phases(actor, cursor=cursor, limit=limit)


def roster(actor: Actor) -> list[Row]:
    """Returns every seat as it is now with its week, its tokens today, its mail and its work."""
    snapshot = epochs.active()
    week = history.turns_by_seat(clock.now() - timedelta(days=7))
    mail = history.mail_by_seat()
    today = {
        scope.handle: next(w for w in scope.windows if w.kind == WindowKind.DAY)
        for scope in budgets(snapshot, clock.now())
        if scope.handle
    }
    work: dict[str, int] = {}
    for source in OPEN_WORK.values():
        work |= source()
    found = []
    for row in seat_rows(actor):
        handle, agent = row["handle"], row["kind"] == "agent"
        day = today.get(handle)
        found.append(
            {
                **row,
                "turns_7d": week.get(handle, 0) if agent else None,
                "mail": mail.get(handle, 0) if agent else None,
                "work": work.get(handle, 0) if OPEN_WORK.values() else None,
                "today": {"used": day.used, "limit": day.limit} if day else None,
            }
        )
    return found


def tokens_week(actor: Actor) -> Row | None:
    """Returns the company's week: tokens used, its ceiling (None without one) and the state."""
    if epochs.current() is None:
        return None
    company = budgets(epochs.active(), clock.now())[0]
    week = next(window for window in company.windows if window.kind == WindowKind.WEEK)
    return {"used": week.used, "limit": week.limit, "state": week.state.value}


def turn_hours(actor: Actor) -> list[Row]:
    """Returns the last 24 hours of ended turns, oldest hour first."""
    return turns.turn_hours(actor, clock.now())


__all__ = [
    "feed",
    "live_of_items",
    "parked_turns",
    "recent_phases",
    "recent_turns",
    "roster",
    "running_turns",
    "seat_detail",
    "tokens_week",
    "turn_detail",
    "turn_hours",
    "turns_of_item",
]
