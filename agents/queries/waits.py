"""What turns wait for people with: one in full, one turn's, one person's, and all by seat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from agents.models.turns import Suspension, WaitState
from agents.queries import rows
from agents.queries.rows import Row
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class Standing:
    """A wait as an action finds it: whose turn it is, what hangs, and who is asked."""

    id: UUID
    kind: str
    tool: str
    turn_id: UUID
    seat_id: UUID
    handle: str
    options: tuple[str, ...]
    asked_id: UUID | None
    schema: dict[str, Any]
    args_text: str


def standing(wait_id: UUID) -> Standing:
    """Returns a wait, answered or not; `schema` is what the tool takes. Raises NotFound."""
    found = (
        Suspension.objects.select_related("turn__seat", "call__round__phase")
        .filter(id=wait_id)
        .first()
    )
    if found is None:
        raise NotFound(f"Nothing waits under {wait_id}.", field="wait")
    offered = found.call.round.phase.tools
    tool: Row = next((tool for tool in offered if tool.get("name") == found.tool), {})
    return Standing(
        found.id, found.kind, found.tool, found.turn_id, found.turn.seat_id,
        found.turn.seat.handle, tuple(found.options), found.asked_id,
        dict(tool.get("parameters") or {}), found.args_text,
    )  # fmt: skip


def of_turn(turn_id: UUID) -> list[Row]:
    """Returns everything a turn waited for, oldest first."""
    found = Suspension.objects.filter(turn_id=turn_id).select_related("asked")
    return [shown(row) for row in found.order_by("opened_at")]


def shown(row: Suspension) -> Row:
    """Returns a wait as pages and programs read it."""
    return {
        "id": str(row.id),
        "turn": str(row.turn_id),
        "call": str(row.call_id),
        "kind": row.kind,
        "tool": row.tool,
        "question": row.question,
        "options": row.options,
        "arguments": row.args_text,
        "asked": rows.party(row.asked.handle, row.asked.name, row.asked.kind)
        if row.asked
        else None,
        "state": row.state,
        "opened_at": row.opened_at,
        "until": row.until,
        "decision": row.decision or None,
        "words": row.words,
        "edited": row.edited_text,
        "by": row.by or None,
        "decided_at": row.decided_at,
    }


def waiting_on(actor: Actor) -> QuerySet[Suspension]:
    """Returns what is in the actor's inbox: asked of their seat, or of whoever operates."""
    mine = Q(asked_id=actor.seat_id) if actor.seat_id else Q(pk=None)
    if Grant.FLEET_OPERATE in actor.grants:
        mine |= Q(asked_id=None)
    return Suspension.objects.filter(mine, state=WaitState.OPEN)


def inbox(actor: Actor) -> list[Row]:
    """Returns what waits on the actor, oldest first, each with its turn's `seat` and `about`."""
    found = waiting_on(actor).select_related("turn__seat", "asked").order_by("opened_at", "id")
    return [
        shown(wait)
        | {
            "seat": rows.party(wait.turn.seat.handle, wait.turn.seat.name, wait.turn.seat.kind),
            "about": " ".join(
                part
                for part in (wait.turn.work_item_key, str(wait.turn.trigger.get("summary") or ""))
                if part
            ),
        }
        for wait in found
    ]


def by_seat() -> dict[UUID, Row]:
    """Returns what waits on people by seat: on the agent's row the person, on the person's the
    agent; the oldest with the count of all.
    """
    found = (
        Suspension.objects.filter(state=WaitState.OPEN)
        .select_related("turn__seat", "asked")
        .order_by("opened_at", "id")
    )
    waits: dict[UUID, Row] = {}
    for wait in found:
        _count(waits, wait.turn.seat_id, wait.asked.name if wait.asked else "a person", wait)
        if wait.asked_id is not None:
            _count(waits, wait.asked_id, wait.turn.seat.name, wait)
    return waits


def _count(waits: dict[UUID, Row], seat_id: UUID, who: str, wait: Suspension) -> None:
    entry = waits.setdefault(
        seat_id,
        {
            "who": who,
            "title": wait.question,
            "key": wait.turn.work_item_key,
            "since": wait.opened_at,
            "count": 0,
        },
    )
    entry["count"] += 1
