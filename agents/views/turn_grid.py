"""Ended turns as the one grid draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from agents.views.faces import turn_face
from crewlet.console.grid import Column, grid, sort_of
from crewlet.console.templatetags.ui import spell_seconds, tokens

COLUMNS = (
    Column("turn", "On"),
    Column("seat", "Seat", keep=1),
    Column("outcome", "Outcome"),
    Column("started", "Started", sort=True, kind="time", keep=2),
    Column("took", "Took", num=True, keep=2),
    Column("rounds", "Rounds", num=True, keep=3),
    Column("tokens", "Tokens", sort=True, num=True, keep=1),
)
DEFAULT = "-started"


def turn_grid(
    query: QueryDict,
    ask: Callable[[str, str], Mapping[str, Any]],
    *,
    empty: Mapping[str, str],
    sorts: Sequence[str],
    own: bool = False,
) -> dict[str, Any]:
    """Returns a page of turns; `ask(sort, cursor)` reads it. `own` leaves the seat out."""
    columns = [column for column in COLUMNS if not (own and column.key == "seat")]
    key, down = sort_of(query, "", columns, DEFAULT)
    sort = f"-{key}" if down else key
    found = ask(sort if sort in sorts else DEFAULT, query.get("cursor", ""))
    rows = [_line(turn_face(row)) for row in found["turns"]]
    return grid(
        query, "", columns, rows, label="Ended turns", empty=empty, total=found["total"],
        next_url=next_url(query, found["next"]), default_sort=DEFAULT, sorted_by_caller=True,
    )  # fmt: skip


def next_url(query: QueryDict, cursor: str) -> str | None:
    """Returns the same address at the following page, None after the last."""
    if not cursor:
        return None
    changed = query.copy()
    changed["cursor"] = cursor
    return f"?{changed.urlencode()}"


def _line(face: Mapping[str, Any]) -> dict[str, Any]:
    key, title = face.get("work_item"), face["title"]
    seat = face["seat"]
    return {
        "id": f"tr-{face['id']}",
        "peek": f"turn:{face['id']}",
        "turn": {"text": f"{key} {title}" if key else title or "A turn", "url": face["url"],
                 "peek": f"turn:{face['id']}"},
        "seat": {"text": seat["name"], "url": seat["url"], "title": f"@{seat['handle']}",
                 "peek": f"seat:{seat['handle']}"},
        "outcome": {"text": face["word"], "tone": face["tone"], "title": face["reason"]},
        "started": face["started_at"],
        "took": spell_seconds(face["secs"]),
        "rounds": face["rounds"],
        "tokens": {"text": tokens(face["tokens"]), "sort": face["tokens"]},
    }  # fmt: skip
