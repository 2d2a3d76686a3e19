"""What a seat writes down for its later turns."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agents.memory import diary
from crewlet.kernel import clock
from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Forbidden
from crewlet.kernel.events import EventType, publish


class ReflectAndPersist(Args):
    """Arguments of `reflect_and_persist`."""

    content: str = Field(description="The note, word for word, at most 2,000 characters.")
    kind: Literal["long", "short"] = Field(
        "long", description="long stays; short is dropped after `days`."
    )
    days: int = Field(14, ge=1, le=90, description="How long a short note is kept.")


@action("reflect_and_persist", args=ReflectAndPersist, doors=Doors.AGENTS, idempotent=True)
def reflect_and_persist(actor: Actor, args: ReflectAndPersist, target: None) -> Result:
    """Writes a note into your own diary. Your later turns open with it; no other seat reads it,
    people can. Keep what you learned and will need again, not what the tracker already records."""
    if actor.seat_id is None:
        raise Forbidden("Only a seat has a diary.")
    turn_id = actor.turn.turn_id if actor.turn else None
    note, new = diary.write(
        actor.seat_id, args.kind, args.content, clock.now(), turn_id=turn_id, days=args.days
    )
    if not new:
        return Result("You had written that down already.", data={"id": str(note.id)})
    publish(
        EventType.DIARY_ENTRY_WRITTEN,
        summary=f"{actor.name} wrote a note to itself",
        actor=actor.author,
        seat_id=actor.seat_id,
        turn_id=turn_id,
        trace_id=actor.turn.trace if actor.turn else "",
    )
    kept = f"until {note.expires_at:%d %b %Y}" if note.expires_at else "for good"
    return Result(f"Written down, kept {kept}.", data={"id": str(note.id)})
