"""What the pages ask of the runtime: questions of `agents.queries` beside the live state."""

from __future__ import annotations

from agents.budgets.spend import budgets
from agents.budgets.windows import WindowKind
from agents.live.seats import seat_about
from agents.live.snapshot import seat_row
from agents.queries import turns
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
    return {"row": seat_row(actor, handle), **about}


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
    "recent_turns",
    "running_turns",
    "seat_detail",
    "tokens_week",
    "turn_detail",
    "turn_hours",
    "turns_of_item",
]
