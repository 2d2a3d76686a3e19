"""Asks: what waits for whom, as a card with its options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import QuerySet

from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import NotFound
from crewlet.kernel.refs import label_of, url_of
from orgs import epochs
from tracker.answering import may_answer
from tracker.decisions import Decision, is_address
from tracker.models.comments import Comment
from tracker.queries.rows import author_party, brief, seat_party

if TYPE_CHECKING:
    from orgs.epochs import Snapshot


def asks() -> QuerySet[Comment]:
    """Returns every ask with what its card shows joined; those on removed items wait with them."""
    return Comment.objects.filter(asked__isnull=False, item__removed_at=None).select_related(
        "item", "item__project", "author_seat", "asked", "answer", "answer__author_seat"
    )


def open_asks_to(actor: Actor) -> QuerySet[Comment]:
    """Returns the open asks to the seat that an actor holds, oldest first."""
    if actor.seat_id is None:
        return Comment.objects.none()
    return asks().filter(asked_id=actor.seat_id, answered_at=None).order_by("created_at", "id")


def ask_card(actor: Actor, comment_id: UUID | str) -> dict[str, Any]:
    """Returns one ask as its card; raises `NotFound`."""
    try:
        ident = UUID(str(comment_id))
    except ValueError:
        ident = None
    ask = asks().filter(pk=ident).first() if ident else None
    if ask is None:
        raise NotFound(f"There is no ask {comment_id}.", field="ask")
    return card(ask, actor, epochs.active())


def cards(found: Iterable[Comment], actor: Actor) -> list[dict[str, Any]]:
    """Returns asks as cards."""
    rows = list(found)
    snapshot = epochs.active() if rows else None
    return [card(ask, actor, snapshot) for ask in rows if snapshot is not None]


def card(ask: Comment, actor: Actor, snapshot: Snapshot) -> dict[str, Any]:
    """Returns an ask of `asks()` with its question, options, evidence and, once there, answer."""
    decision = Decision.model_validate(ask.decision) if ask.decision else None
    return {
        "id": str(ask.pk),
        "item": brief(ask.item),
        "who": author_party(ask.author, ask.author_name, ask.author_kind, ask.author_seat),
        "to": seat_party(ask.asked),
        "mine": ask.answered_at is None and may_answer(ask, actor, snapshot),
        "role": decision.role.value if decision else "",
        "at": ask.created_at,
        "question": decision.question if decision else "",
        "context": ask.body,
        "rationale": decision.rationale if decision else "",
        "recommended": decision.recommended if decision else "",
        "options": [option.model_dump() for option in decision.options] if decision else [],
        "evidence": [_evidence(ref) for ref in decision.evidence] if decision else [],
        "answered": _answer(ask, decision),
    }


def _evidence(ref: str) -> dict[str, str]:
    if is_address(ref):
        return {"label": ref.removeprefix("https://"), "url": ref}
    return {"label": label_of(ref), "url": url_of(ref)}


def _answer(ask: Comment, decision: Decision | None) -> dict[str, Any] | None:
    if ask.answered_at is None:
        return None
    answer = getattr(ask, "answer", None)
    if answer is None:
        return None
    label = decision.label_of(answer.choice) if decision and answer.choice else ""
    return {
        "who": author_party(
            answer.author, answer.author_name, answer.author_kind, answer.author_seat
        ),
        "at": answer.created_at,
        "choice": answer.choice,
        "label": label,
        "body": answer.body,
    }
