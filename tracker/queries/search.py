"""Items by the words in their title, text and talk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet, Subquery

from crewlet.kernel.actors import Actor
from crewlet.search.find import Found, search
from tracker.models.comments import Comment, CommentKind
from tracker.models.items import ItemBody, WorkItem
from tracker.queries.conditions import PRESENT

KIND = "item"
SAID = {
    "nothing": "Nothing matched. The whole index was searched, so no item has any of these words.",
    "building": "The index is still being built: there may be more than this. "
    "`manage.py search rebuild` builds it.",
    "failed": "The search could not be done. This is not an empty result: try again before you "
    "take it that nothing is there.",
}


def findable() -> QuerySet[WorkItem]:
    """Returns the items that a search may find."""
    return WorkItem.objects.filter(PRESENT)


def texts_to_index(found: QuerySet[WorkItem]) -> Iterator[tuple[UUID, str, str]]:
    """Yields id, title, and the text with what people said on it, oldest first: one statement."""
    body = ItemBody.objects.filter(item=OuterRef("pk"), version=OuterRef("body_version"))
    talk = Comment.objects.filter(item=OuterRef("pk"), kind=CommentKind.COMMENT)
    rows = found.annotate(
        text=Subquery(body.values("text")[:1]),
        talk=ArraySubquery(talk.order_by("created_at", "id").values("body")),
    ).values_list("pk", "key", "title", "text", "talk")
    for ident, key, title, text, said in rows.order_by("id").iterator(chunk_size=500):
        yield ident, f"{key} {title}", "\n\n".join([text, *said] if text else said)


def found_items(actor: Actor, text: str, limit: int) -> dict[str, Any]:
    """Returns the state of a search, its sentence, and the items found as rows, best first."""
    found: Found = search(actor, text, kinds=(KIND,), limit=limit)
    items = (
        findable().select_related("assignee", "project").in_bulk([hit.ident for hit in found.hits])
    )
    by_id = {str(ident): item for ident, item in items.items()}
    rows = [
        _row(by_id[hit.ident], hit.snippet, hit.score) for hit in found.hits if hit.ident in by_id
    ]
    return {
        "state": found.state,
        "mode": found.mode,
        "note": SAID.get(found.state, ""),
        "items": rows,
    }


def _row(item: WorkItem, piece: str, score: float) -> dict[str, Any]:
    return {
        "key": item.key,
        "url": f"/work/{item.key}",
        "title": item.title,
        "project": item.project.key,
        "status": item.status,
        "assignee": item.assignee.handle if item.assignee else None,
        "snippet": piece,
        "score": round(score, 4),
    }
