"""What the pages of the site read, in their shapes. Bounded statements, whatever a page holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet

from agents.queries.turns import live_of_items, turns_of_item
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import NotFound
from orgs import epochs
from orgs.models.seats import Seat
from tracker.filters import Sort, parse_filters, write_cursor
from tracker.models.comments import Comment
from tracker.models.items import WorkItem
from tracker.queries import asks as ask_queries
from tracker.queries import rows as shapes
from tracker.queries.conditions import Asker
from tracker.queries.detail import (
    SHOWN,
    activity,
    changes_of,
    children_of,
    comments_of,
    text_of,
    watchers_of,
    whole_item,
)
from tracker.queries.files import attachments
from tracker.queries.groups import grouped, in_column
from tracker.queries.items import (
    Neighbours,
    cursor_behind,
    filtered,
    find_by_words,
    neighbours,
    ordered_by,
    page_of,
    totals,
)
from tracker.queries.listing import listing
from tracker.queries.mine import my_work as my_sections
from tracker.queries.projects import project
from tracker.queries.rows import (
    Row,
    age,
    item_row,
    items,
    reporter,
    seat_party,
)
from tracker.queries.tags import tags_by_project
from tracker.statuses import STATUS_LABELS, Status

PRIORITIES = shapes.PRIORITIES
STATUSES = shapes.STATUSES
LANE = 40
"""How many cards of a lane are loaded at a time; its total counts all of them."""


def rows_of(found: Iterable[WorkItem], *, live: bool = True) -> list[Row]:
    """Returns items of `items()` as rows with what is waited for and who works on them now."""
    loaded = list(found)
    if not loaded:
        return []
    now, snapshot = clock.now(), epochs.active()
    today = now.astimezone(snapshot.timezone).date()
    rows = [item_row(item, snapshot.timezone, today) for item in loaded]
    running = live_of_items([row["key"] for row in rows]) if live else {}
    waiting = _waiting(loaded, now)
    for item, row in zip(loaded, rows, strict=True):
        row["waiting"] = waiting.get(item.pk, "")
        row["live"] = running.get(item.key)
    return rows


def _waiting(loaded: list[WorkItem], now: datetime) -> dict[Any, str]:
    open_asks = (
        Comment.objects.filter(
            item_id__in=[item.pk for item in loaded], asked__isnull=False, answered_at=None
        )
        .order_by("-created_at")
        .values_list("item_id", "asked__name", "created_at")
    )
    return {item_id: f"Waiting on {name}, {age(at, now)}" for item_id, name, at in open_asks}


def work_page(
    actor: Actor,
    *,
    project: str = "",
    status: list[str] | None = None,
    assignee: str = "",
    q: str = "",
    shape: str = "list",
    cursor: str = "",
    limit: int = 100,
    query: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Returns the work page: a list page, its bands, a board's lanes or columns, over one query.

    `query` holds every further key of the grammar.
    """
    snapshot = epochs.active()
    given: dict[str, Any] = {"status": status or [], "assignee": assignee, "q": q, **(query or {})}
    if project:
        given["project"] = project
    answer: dict[str, Any] = {
        "project": _project_of(actor, project),
        "items": [],
        "lanes": [],
        "columns": [],
        "next": "",
        "statuses": STATUSES,
        "assignees": assignees(),
        "tags": tags_by_project([project.upper()]).get(project.upper(), []) if project else [],
    }
    asker = Asker.now(actor, snapshot)
    answer["totals"] = _figures(given, asker)
    by = given.get("group_by", "")
    if "group" not in given and (by if shape == "list" else by not in ("", "status")):
        return answer | _in_columns(given, asker)
    if shape == "board" and "group" not in given:
        lanes = _lanes(_of_now(filtered(parse_filters(given), asker), snapshot.timezone))
        return answer | {"lanes": lanes, "total": sum(lane["total"] for lane in lanes)}
    if shape == "board" and by == "status":
        return answer | _rest_of_lane(given | {"cursor": cursor}, asker)
    if shape == "bands":
        return answer | _in_bands(given, asker)
    loaded = listing(parse_filters(given | {"cursor": cursor, "limit": limit}), asker).page
    return answer | {
        "items": rows_of(loaded.rows), "next": loaded.next_cursor, "total": loaded.total,
    }  # fmt: skip


def _figures(given: Mapping[str, Any], asker: Asker) -> dict[str, float]:
    """Returns the figures that a query asks for, over all of it, if it asks any."""
    if not given.get("totals"):
        return {}
    whole = {name: value for name, value in given.items() if name not in {"cursor", "group"}}
    return totals(parse_filters(whole), asker)


def place_of(actor: Actor, key: str, query: Mapping[str, str]) -> Neighbours | None:
    """Returns where an item stands in the list of a query; None when it is not in that list."""
    asker = Asker.now(actor, epochs.active())
    try:
        return neighbours(parse_filters({**query, "around": key}), asker)
    except NotFound:
        return None  # it left the list since the link was drawn, and the page says no place


def _in_columns(given: Mapping[str, Any], asker: Asker) -> dict[str, Any]:
    filters = parse_filters(given)
    found = grouped(filters, asker)
    loaded = {item.pk: item for column in found.columns for item in column.rows}
    rows = {row["id"]: row for row in rows_of(loaded.values())}
    columns = [
        {
            "id": column.value,
            "title": column.label,
            "total": column.total,
            "items": [rows[str(item.pk)] for item in column.rows],
            "next": column.next_cursor(filters.sort),
        }
        for column in found.columns
    ]
    return {"columns": columns, "total": found.total}


def _project_of(actor: Actor, key: str) -> dict[str, Any] | None:
    return project(actor, key) if key and "," not in key and key[0] != "!" else None


def assignees() -> list[dict[str, Any]]:
    """Returns everybody to whom an item can be given."""
    seats = Seat.objects.filter(removed_at=None).order_by("name", "handle")
    return [party for seat in seats if (party := seat_party(seat)) is not None]


def _of_now(found: QuerySet[WorkItem], zone: Any) -> QuerySet[WorkItem]:
    """Leaves out what was finished before the company's Monday: a board is about now."""
    today = clock.now().astimezone(zone)
    monday = (today - timedelta(days=today.weekday())).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    return found.filter(Q(finished_at=None) | Q(finished_at__gte=monday)).order_by()


def _in_bands(given: Mapping[str, Any], asker: Asker) -> dict[str, Any]:
    """Returns a list under its states: counts of the whole set, the first rows of each."""
    filters = parse_filters({**given, "group_by": "status"})
    found = filtered(filters, asker).order_by()
    totals = dict(found.values_list("status").annotate(number=Count("pk")))
    loaded = _firsts(found, totals, filters.sort, filters.group_limit)
    rows = rows_of(loaded)
    columns = []
    for status in Status:
        of_band = [at for at, item in enumerate(loaded) if item.status == status.value]
        if of_band:
            more = totals[status.value] > len(of_band)
            columns.append(
                {
                    "id": status.value,
                    "title": STATUS_LABELS[status],
                    "total": totals[status.value],
                    "items": [rows[at] for at in of_band],
                    "next": cursor_behind(loaded[of_band[-1]], filters.sort) if more else "",
                }
            )
    return {"columns": columns, "total": sum(totals.values())}


def _firsts(
    found: QuerySet[WorkItem], statuses: Iterable[str], sort: Sort, limit: int
) -> list[WorkItem]:
    """Returns the first items of each status, in the order."""
    first = [
        ordered_by(found.filter(status=status), sort).values_list("pk", flat=True)[:limit]
        for status in statuses
    ]
    # Each state's index is walked and left: to number the rows of the whole set, all were read.
    chosen = first[0].union(*first[1:], all=True) if first else []
    return list(ordered_by(items().filter(pk__in=list(chosen)), sort))


def _rest_of_lane(given: Mapping[str, Any], asker: Asker) -> dict[str, Any]:
    """Returns the following cards of one lane, in the order by hand that a board has."""
    filters = parse_filters({**given, "sort": "rank", "limit": LANE})
    found = _of_now(filtered(filters, asker), asker.snapshot.timezone)
    loaded = page_of(filters, in_column(found, filters, asker))
    return {"items": rows_of(loaded.rows), "next": loaded.next_cursor, "total": loaded.total}


def _lanes(shown: QuerySet[WorkItem]) -> list[dict[str, Any]]:
    """Returns a lane for every status: counts of the whole set and the first cards of each."""
    totals = dict(shown.values_list("status").annotate(number=Count("pk")))
    cards = rows_of(_firsts(shown, totals, Sort("rank"), LANE))
    lanes = []
    for status in Status:
        total = totals.get(status.value, 0)
        if status is Status.CANCELLED and not total:
            continue
        of_lane = [card for card in cards if card["status"] == status.value]
        more = bool(of_lane) and total > len(of_lane)
        lanes.append(
            {
                "id": status.value,
                "title": STATUS_LABELS[status],
                "total": total,
                "items": of_lane,
                "next": _behind(of_lane[-1]) if more else "",
                "note": "this week" if status in {Status.DONE, Status.CANCELLED} else "",
            }
        )
    return lanes


def _behind(card: Row) -> str:
    return write_cursor(Sort("rank"), card["rank"], card["id"])


def item_page(actor: Actor, key: str) -> dict[str, Any]:
    """Returns one item with its parts, asks, timeline, watchers and cost."""
    item = whole_item(key)
    subs = children_of(item)
    related = [item, *subs]
    if item.parent_id:
        related.append(items().get(pk=item.parent_id))
    rows = rows_of(related)
    comments, changes = comments_of(item), changes_of(item)
    turns = turns_of_item(actor, item.key)
    asks = ask_queries.asks().filter(item=item, answered_at=None).order_by("created_at", "id")
    timeline = [*activity(comments, changes), *(_turn_row(turn) for turn in turns)]
    timeline.sort(key=lambda row: (row["at"], row["id"]))
    return {
        "item": rows[0]
        | {
            "body": text_of(item),
            "reporter": reporter(item),
            "unit": item.project.unit_name,
            "parent": rows[-1] if item.parent_id else None,
            "status_entered_at": item.status_entered_at,
            "wakes_stopped_at": item.wakes_stopped_at,
        },
        "subs": rows[1 : 1 + len(subs)],
        "attachments": attachments(item),
        "blocked_by": [],
        "blocking": [],
        "asks": ask_queries.cards(asks, actor),
        "activity": timeline[-SHOWN:],
        "watchers": watchers_of(item),
        "cost": _cost(item, turns),
        "turns": turns,
        "statuses": STATUSES,
        "priorities": PRIORITIES,
        "assignees": assignees(),
    }


def _cost(item: WorkItem, turns: list[dict[str, Any]]) -> dict[str, Any]:
    sent_back = sum(max(0, (turn.get("iteration") or 1) - 1) for turn in turns)
    return {
        "turns": item.turns,
        "tokens": item.tokens_in + item.tokens_out,
        "tokens_in": item.tokens_in,
        "tokens_out": item.tokens_out,
        "secs": sum(turn.get("secs") or 0 for turn in turns),
        "sent_back": sent_back,
    }


def _turn_row(turn: dict[str, Any]) -> dict[str, Any]:
    outcome = turn.get("outcome") or turn.get("stage") or ""
    return {
        "id": str(turn["id"]),
        "kind": "turn",
        "who": turn.get("seat"),
        "at": turn["started_at"],
        "text": "worked on it" if outcome == "completed" else f"turn {outcome}",
        "body": "",
        "reach": "",
        "url": f"/live/turns/{turn['id']}",
        "meta": turn.get("error_kind") or "",
        "to": None,
        "change": "",
        "answers": "",
        "reply_to": "",
        "open": outcome in {"context", "phase", "parked"},
    }


def ask_card(actor: Actor, comment_id: str) -> dict[str, Any]:
    """Returns one ask as its card; raises `NotFound`."""
    return ask_queries.ask_card(actor, comment_id)


def open_asks(actor: Actor) -> list[dict[str, Any]]:
    """Returns the cards of the open asks to the actor, oldest first."""
    return ask_queries.cards(ask_queries.open_asks_to(actor), actor)


def find_items(actor: Actor, q: str, limit: int = 8) -> list[Row]:
    """Returns items by a piece of their title or their key, for completion."""
    return rows_of(find_by_words(q, limit), live=False)


def my_work(actor: Actor) -> dict[str, Any]:
    """Returns the actor's day: sections of rows (asks as cards) with full totals."""
    sections = my_sections(actor)
    return {
        name: {
            "rows": cards_of(section["rows"], actor)
            if name in {"asked_of_me", "asked_by_me"}
            else rows_of(section["rows"]),
            "total": section["total"],
        }
        for name, section in sections.items()
    }


def cards_of(rows: list[Comment], actor: Actor) -> list[dict[str, Any]]:
    """Returns asks as cards, whatever was loaded of them before."""
    found = ask_queries.asks().filter(pk__in=[row.pk for row in rows])
    return ask_queries.cards(found.order_by("created_at", "id"), actor)
