"""Verbs over turns: stop one."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from agents import wake
from agents.turn import journal, reading
from agents.turn.reading import Standing
from crewlet.kernel import live
from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Gone


class StopTurn(Args):
    """Which turn is to end."""

    turn: UUID = Field(description="The turn's id.")
    reason: str = Field(default="", max_length=500, description="Why, for whoever waits.")


def _open_turn(actor: Actor, args: StopTurn) -> Standing:
    turn = reading.standing(args.turn)
    if turn.stage == "done":
        raise Gone(f"That turn has ended ({turn.outcome}); there is nothing to stop.", field="turn")
    return turn


@action(
    "stop_turn",
    args=StopTurn,
    doors=Doors.PEOPLE,
    rules=("leads_seat_or_operates",),
    fetch=_open_turn,
    destructive=True,
    idempotent=True,
    label="Stopped a turn",
)
def stop_turn(actor: Actor, args: StopTurn, target: Standing) -> Result:
    """Ends a running or parked turn of a seat that you lead. What it has done stays; a call that
    has begun is recorded; nothing further is started. Its mail counts as worked, so it is not
    tried again. Of two who stop a turn the first is named."""
    first = journal.ask_stop(target.id, by=actor.author, reason=args.reason)
    refs = (f"turn:{target.id}", f"seat:{target.handle}")
    if not first:
        return Result(f"{target.handle}'s turn is already being stopped.", refs=refs)
    live.changed("agents", f"seat:{target.handle}", f"turn:{target.id}")
    wake.ring(target.seat_id)  # a parked turn is taken up to be ended
    when = "now" if target.stage == "parked" else "at its next round"
    return Result(f"{target.handle}'s turn ends {when}.", refs=refs)
