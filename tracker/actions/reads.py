"""Reading verbs: one item, a list, one's own work. Their messages are what a model reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from crewlet.kernel import clock
from crewlet.kernel.actions import Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Invalid
from orgs import epochs
from tracker import wording
from tracker.access import comment_on, item_by_key
from tracker.actions.arguments import GetWorkItem, ListWorkItems, MyWork
from tracker.filters import IN_BRANCH, KEYS, WHOLE, parse_filters
from tracker.models.items import WorkItem
from tracker.queries import asks as ask_queries
from tracker.queries.detail import (
    changes_of,
    children_of,
    comments_of,
    names_in,
    text_of,
    whole_item,
)
from tracker.queries.items import page
from tracker.queries.mine import my_work as my_sections
from tracker.queries.rows import item_row
from tracker.wakes import AGENT_WAKES_IN_A_ROW

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

COMMENTS = 20
CHANGES = 50
ANSWER_BYTES = 64 * 1024


@action(
    "get_work_item",
    args=GetWorkItem,
    grant=Grant.STATE_READ,
    fetch=lambda actor, args: item_by_key(args.item),
    reads=True,
    label="Read {item}",
)
def get_work_item(actor: Actor, args: GetWorkItem, target: WorkItem) -> Result:
    """Show one work item: its text, status, people, parts, open asks with their ids, and the
    newest comments. include=["history"] adds who changed what, ["links"] its parent and parts;
    comment=<id> shows one long comment whole.
    """
    snapshot = epochs.active()
    item = whole_item(target.key)
    if args.comment:
        comment = comment_on(item, args.comment, field="comment")
        text = wording.comment_lines(comment, whole=True)
        return Result("\n".join(text), (f"item:{item.key}",), {"comment": str(comment.pk)})
    body = text_of(item)
    row = _rows([item], snapshot)[0]
    lines = wording.item_lines(row)
    if item.wakes_stopped_at is not None:
        lines.append(
            f"Agents woke each other {AGENT_WAKES_IN_A_ROW} times in a row here: nobody more is "
            "woken by an agent until a person says something."
        )
    if args.body:
        lines += ["", body or "(no text)"]
    data: dict[str, Any] = {"item": _plain(row), "body": body if args.body else None}
    _add_asks(item, actor, lines, data)
    if "links" in args.include:
        parts = children_of(item)
        lines += wording.section("Parts", [wording.row_line(r) for r in _rows(parts, snapshot)])
        data["parts"] = [part.key for part in parts]
    if "comments" in args.include:
        comments = comments_of(item, COMMENTS)
        lines += wording.section("Comments, newest last", wording.talk(comments))
        data["comments"] = [wording.comment_data(comment) for comment in comments]
    if "history" in args.include:
        changes = changes_of(item, CHANGES)
        lines += wording.section("History", wording.history(changes, names_in(changes)))
        data["history"] = [wording.change_data(change) for change in changes]
    return Result(_fits("\n".join(lines)), (f"item:{item.key}",), data)


def _add_asks(item: WorkItem, actor: Actor, lines: list[str], data: dict[str, Any]) -> None:
    found = ask_queries.asks().filter(item=item, answered_at=None).order_by("created_at", "id")
    cards = ask_queries.cards(found, actor)
    lines += wording.section(
        "Open asks", [line for ask in cards for line in wording.ask_lines(ask)]
    )
    data["asks"] = [
        {"id": ask["id"], "to": ask["to"]["handle"], "question": ask["question"] or ask["context"]}
        for ask in cards
    ]


@action(
    "list_work_items",
    args=ListWorkItems,
    grant=Grant.STATE_READ,
    reads=True,
    label="Listed work items",
)
def list_work_items(actor: Actor, args: ListWorkItems, target: None) -> Result:
    """List work items, one line each with key, status, priority, assignee and title. Filters
    combine. Only open items unless open_only is false. To look for a duplicate before filing,
    use text.
    """
    snapshot = epochs.active()
    loaded = page(parse_filters(_query(args)), snapshot, actor)
    rows = _rows(loaded.rows, snapshot)
    lines = [wording.row_line(row) for row in rows] or ["Nothing matches these filters."]
    if loaded.next_cursor:
        shown = f"{len(rows)} of {loaded.total} shown"
        lines += ["", f"{shown}; go on with cursor={loaded.next_cursor}"]
    data = {
        "items": [_plain(row) for row in rows],
        "total": loaded.total,
        "next_cursor": loaded.next_cursor or None,
    }
    return Result(_fits("\n".join(lines)), (), data)


_SHOWS_CLOSED = (
    "closed", "finished", "open_only", "removed", "show_closed", "status", "status_group",
)  # fmt: skip


def _query(args: ListWorkItems) -> dict[str, Any]:
    """Returns the arguments as one query; what shapes a page is not for this verb."""
    for key in args.filters:
        if key not in (*IN_BRANCH, *WHOLE, "any") and key in KEYS:
            raise Invalid(f"filters: {key} shapes a page; it is no filter here.", field="filters")
    given: dict[str, Any] = {
        "assignee": args.assignee, "project": args.project, "status": args.status, "q": args.text,
        "priority": args.priority, "parent": args.parent, "reporter": args.reporter,
        "preset": args.preset, "due": args.due, "updated": args.updated, "tag": args.label,
        "sort": args.sort, "cursor": args.cursor, "limit": args.limit,
        "removed": args.removed or "",
    }  # fmt: skip
    query = {name: value for name, value in given.items() if value not in ("", ())} | args.filters
    if args.open_only and not any(key in query for key in _SHOWS_CLOSED):
        query["open_only"] = True
    return query


@action("my_work", args=MyWork, grant=Grant.STATE_READ, reads=True, label="Looked at own work")
def my_work(actor: Actor, args: MyWork, target: None) -> Result:
    """Show what is on you: the open items assigned to you, asks that wait for your answer, asks
    of yours that wait for others, open items you filed, and items you watch.
    """
    snapshot = epochs.active()
    sections = my_sections(actor)
    titles = {
        "assigned": "On you", "filed": "Filed by you, on others", "watching": "You watch",
        "asked_of_me": "Asks that wait for you", "asked_by_me": "Your asks that wait for others",
    }  # fmt: skip
    lines: list[str] = []
    data: dict[str, Any] = {}
    for name, section in sections.items():
        found = section["rows"]
        if name in {"asked_of_me", "asked_by_me"}:
            words = [wording.ask_line(ask) for ask in found]
            data[name] = [{"id": str(ask.pk), "item": ask.item.key} for ask in found]
        else:
            rows = _rows(found, snapshot)
            words = [wording.row_line(row) for row in rows]
            data[name] = [_plain(row) for row in rows]
        data[f"{name}_total"] = section["total"]
        lines += wording.section(f"{titles[name]} ({section['total']})", words)
    message = "\n".join(lines).strip() or "Nothing is on you, nobody waits for you."
    return Result(_fits(message), (), data)


def _rows(found: Iterable[WorkItem], snapshot: Snapshot) -> list[dict[str, Any]]:
    today = clock.now().astimezone(snapshot.timezone).date()
    return [item_row(item, snapshot.timezone, today) for item in found]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the part of a row that a program needs, as JSON."""
    kept = (
        "key", "title", "project", "status", "priority", "parent", "version", "overdue", "url",
    )  # fmt: skip
    return {name: row[name] for name in kept} | {
        "assignee": row["assignee"]["handle"] if row["assignee"] else None,
        "reporter": row["reporter"]["handle"],
        "due": row["due"].isoformat() if row["due"] else None,
        "updated_at": row["updated_at"].isoformat(),
    }


def _fits(message: str) -> str:
    size = len(message.encode())
    if size > ANSWER_BYTES:
        raise Invalid(
            f"The answer would be {size} bytes, more than {ANSWER_BYTES}. Narrow it: fewer parts "
            "in include, a smaller limit, or one comment by its id.",
            field="limit",
        )
    return message
