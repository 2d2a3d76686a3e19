"""What the runtime shows on Home: tiles, live turns, tokens by team and what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from agents.budgets import spend
from agents.budgets.windows import WindowKind
from agents.live import pages as queries
from agents.live.snapshot import seat_rows
from agents.queries import usage
from agents.views.faces import turn_face
from agents.views.news import news
from agents.views.spend import window_face
from crewlet.console.readings import once
from crewlet.console.registries import HOME_PANELS, HomePanel
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.cursors import write_cursor
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs import epochs
from orgs.views.panels import decisions

FEED_READ, FEED_ROWS = 120, 20
RANGES = {"today": 1, "7d": 7, "30d": 30}
DEFAULT_RANGE = "7d"
RANGE_WORDS = {"today": "Today", "7d": "7 days", "30d": "30 days"}
_STATES = {
    "working": "working", "needs": "waiting on a person", "stopped": "stopped", "idle": "idle",
}  # fmt: skip


def register_home() -> None:
    """Registers the panels; the tracker puts its tiles between these."""
    for key, panel in {
        "tiles": HomePanel("agents/_home_tiles.html", tiles, 10, "agents live inbox work", "tiles"),
        "tokens": HomePanel("agents/_home_tokens.html", tokens, 30, "live agents", "tiles"),
        "now": HomePanel("agents/_home_now.html", now, 20, "agents live"),
        "teams": HomePanel("agents/_home_teams.html", teams, 28, "live agents", "side"),
        "feed": HomePanel("agents/_home_feed.html", feed, 40, "work agents home"),
    }.items():
        HOME_PANELS.register(key, panel)


def range_of(query: QueryDict) -> tuple[str, int]:
    """Returns the chosen range and its company days; refuses a word that is none."""
    chosen = query.get("range", DEFAULT_RANGE)
    if chosen not in RANGES:
        words = f"range knows no '{chosen}'; it takes {', '.join(RANGES)}."
        raise CrewletError(words, code=ErrorCode.INVALID_QUERY, field="range")
    return chosen, RANGES[chosen]


def tiles(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns how many agents work, in which state the others are, and what waits on the reader."""
    chosen, _ = range_of(query)
    agents = [row for row in once("seats", lambda: seat_rows(actor)) if row["activity"] != "person"]
    counts = Counter(row["activity"] for row in agents)
    waiting = decisions(actor, query)
    oldest = min((row["at"] for row in waiting["rows"]), default=None)
    return {
        "ranges": [
            {"label": words, "url": f"/?range={key}", "here": key == chosen}
            for key, words in RANGE_WORDS.items()
        ],
        "working": counts["working"],
        "total": len(agents),
        "states": _state_bar(counts, len(agents)),
        "waiting": None if waiting["hint"] else len(waiting["rows"]),
        "oldest": oldest,
    }


def _state_bar(counts: Mapping[str, int], total: int) -> list[dict[str, Any]]:
    """Returns the states that are there, each with its place in the bar in percent."""
    found: list[dict[str, Any]] = []
    left = 0.0
    for state, word in _STATES.items():
        if counts[state]:
            wide = counts[state] / total * 100
            place = {"x": f"{left:.2f}%", "wide": f"{wide:.2f}%"}
            found.append({"state": state, "word": word, "count": counts[state], **place})
            left += wide
    return found


def now(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the turns that run or are parked."""
    running = [turn_face(row) for row in queries.running_turns(actor)]
    return {"running": running, "parked": [turn_face(row) for row in queries.parked_turns(actor)]}


def used(days: int) -> dict[str, Any] | None:
    """Returns the breakdown of the last company days; None before a company is set up."""
    if epochs.current() is None:
        return None
    snapshot = epochs.active()
    span = usage.span_of(snapshot, clock.now(), days=days)
    return usage.breakdown(snapshot, span, previous=True)


def week() -> dict[str, Any] | None:
    """Returns the company's week as the pages draw it; None where no counter can be read."""
    if epochs.current() is None:
        return None
    scopes = spend.readable(epochs.active(), clock.now())
    if not scopes:
        return None
    return next(window_face(w) for w in scopes[0].windows if w.kind == WindowKind.WEEK)


def tokens(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the tokens of the range, and the week's window."""
    chosen, days = range_of(query)
    found = used(days)
    return {
        "words": RANGE_WORDS[chosen],
        "tokens": found and found["total"]["tokens"],
        "unknown": found["total"]["unknown_calls"] if found else 0,
        "w": week(),
    }


def teams(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the tokens of the range by unit."""
    chosen, days = range_of(query)
    found = used(days)
    rows = found["by_unit"] if found else []
    return {
        "words": RANGE_WORDS[chosen],
        "rows": [row | {"pct": (row["share"] or 0) * 100} for row in rows[: usage.TOP + 1]],
        "more": max(0, len(rows) - usage.TOP - 1),
    }


def feed(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the newest events that a person wants, or those before a cursor.

    Turns without work are folded into one line.
    """
    before = query.get("before", "")
    page = queries.feed(actor, limit=FEED_READ, cursor=before)
    lines = news(page["events"], FEED_ROWS + 1)
    more, shown = len(lines) > FEED_ROWS, lines[:FEED_ROWS]
    following = page["next"]
    if more:
        last = shown[-1]["fold"][-1] if "fold" in shown[-1] else shown[-1]["row"]
        following = write_cursor(last["at"], last["id"])
    keep = {"range": query["range"]} if "range" in query else {}
    return {
        "lines": shown,
        "before": before,
        "newest": f"/?{urlencode(keep)}" if keep else "/",
        "older": f"/?{urlencode({**keep, 'before': following})}#home-feed" if following else "",
    }
