"""One item with everything that stands around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from orgs.models.seats import Seat
from tracker.letters import status_name
from tracker.models.comments import Comment, CommentKind
from tracker.models.history import Change
from tracker.models.items import Participant, WorkItem
from tracker.queries.lookup import pick
from tracker.queries.rows import author_party, items, seat_party

SHOWN = 200
"""How many entries of talk and history are shown, newest ones."""


_PLAIN = {"created": "filed it", "removed": "removed it", "restored": "restored it"}


def whole_item(word: str) -> WorkItem:
    """Returns an item with what a row shows; raises `NotFound` naming the word."""
    return pick(items(), word, field="item")


def text_of(item: WorkItem) -> str:
    """Returns an item's text as it is now."""
    found = item.bodies.filter(version=item.body_version).values_list("text", flat=True).first()
    return found or ""


def comments_of(item: WorkItem, limit: int = SHOWN) -> list[Comment]:
    """Returns the newest comments of an item, oldest first."""
    found = item.comments.select_related("author_seat", "asked").order_by("-created_at", "-id")
    return list(reversed(found[:limit]))


def changes_of(item: WorkItem, limit: int = SHOWN) -> list[Change]:
    """Returns the newest changes of an item, oldest first."""
    found = item.changes.select_related("seat").order_by("-seq")
    return list(reversed(found[:limit]))


def children_of(item: WorkItem) -> list[WorkItem]:
    """Returns the parts of an item in their manual order; of a removed one, those that went with
    it.
    """
    parts = items().filter(parent=item, removed_with=item.removed_with)
    return list(parts.order_by("rank", "id"))


def watchers_of(item: WorkItem) -> list[dict[str, Any]]:
    """Returns who watches an item."""
    found = Participant.objects.filter(item=item).select_related("seat").order_by("since", "id")
    return [party for entry in found if (party := seat_party(entry.seat)) is not None]


def names_in(changes: Iterable[Change]) -> dict[str, str]:
    """Resolves the seat ids that history keeps: one statement for all of them."""
    wanted: set[UUID] = set()
    for change in changes:
        pair = change.fields.get("assignee") or {}
        wanted |= {UUID(value) for value in (pair.get("from"), pair.get("to")) if value}
    seats = Seat.objects.filter(pk__in=wanted).values_list("id", "name")
    return {str(seat_id): name for seat_id, name in seats}


def sentence(change: Change, names: Mapping[str, str]) -> str:
    """Returns what a change did, without its actor: `moved it to In progress`."""
    if change.kind in _PLAIN:
        return _PLAIN[change.kind]
    parts = [_part(name, pair, names) for name, pair in change.fields.items()]
    return " and ".join(part for part in parts if part) or change.kind.replace("_", " ")


def _part(name: str, pair: Mapping[str, Any], names: Mapping[str, str]) -> str:
    new = pair.get("to")
    if name == "status":
        return f"moved it to {status_name(str(new))}"
    if name == "assignee":
        return f"assigned it to {names.get(new, 'somebody who left')}" if new else "unassigned it"
    if name == "title":
        return f"renamed it to “{new}”"
    if name == "body":
        return "edited the text"
    if name == "watching":
        return "began to watch it" if new else "stopped watching it"
    if name == "parent":
        return f"made it a part of {new}" if new else "took it out of its parent"
    if isinstance(new, list):
        new = ", ".join(new)
    return f"set {name} to {new}" if new else f"cleared {name}"


def reach(change: Change) -> str:
    """Returns who a change reached: `told @kofi (assignee)`; empty for nobody."""
    told = [
        f"@{entry['handle']} ({entry['reason'].replace('_', ' ')})" for entry in change.notified
    ]
    return f"told {', '.join(told)}" if told else ""


def activity(
    comments: list[Comment], changes: list[Change], limit: int = SHOWN
) -> list[dict[str, Any]]:
    """Returns talk and history as one timeline, oldest first, the newest `limit` entries."""
    names = names_in(changes)
    reached = {change.comment_id: reach(change) for change in changes if change.comment_id}
    rows = [_comment_row(comment, reached.get(comment.pk, "")) for comment in comments]
    rows += [_change_row(change, names) for change in changes if change.comment_id is None]
    rows.sort(key=lambda row: (row["at"], row["id"]))
    return rows[-limit:]


def _comment_row(comment: Comment, reached: str) -> dict[str, Any]:
    return {
        "id": str(comment.pk),
        "kind": "ask" if comment.asked_id else "comment",
        "who": author_party(
            comment.author, comment.author_name, comment.author_kind, comment.author_seat
        ),
        "at": comment.created_at,
        "text": "",
        "body": comment.body,
        "reach": reached,
        "url": f"/live/turns/{comment.turn_id}" if comment.turn_id else "",
        "meta": "note" if comment.kind == CommentKind.SYSTEM else comment.choice,
        "to": seat_party(comment.asked),
        "change": "",
        "answers": str(comment.answers_id) if comment.answers_id else "",
        "reply_to": str(comment.reply_to_id) if comment.reply_to_id else "",
        "open": bool(comment.asked_id and comment.answered_at is None),
    }


def _change_row(change: Change, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": str(change.pk),
        "kind": "change",
        "who": author_party(change.actor, change.actor_name, change.actor_kind, change.seat),
        "at": change.at,
        "text": sentence(change, names),
        "body": "",
        "reach": reach(change),
        "url": f"/live/turns/{change.turn_id}" if change.turn_id else "",
        "meta": change.reason,
        "to": None,
        "change": change.kind,
        "answers": "",
        "reply_to": "",
        "open": False,
    }
