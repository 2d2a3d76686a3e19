"""The verbs over seats and nodes: pause, resume, drain, end."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from agents.models.seats import HoldReason
from agents.seats import holds, presence
from crewlet.kernel import clock
from crewlet.kernel.actions import Args, Door, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Invalid
from crewlet.kernel.events import EventType, publish
from orgs.access import seat_by_handle
from orgs.models.seats import Seat, SeatKind

Handle = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
NodeName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]


class PauseSeat(Args):
    """Whose mail is to wait."""

    seat: Handle = Field(description="The seat's handle.")
    reason: str = Field(default="", max_length=500, description="Why, for whoever looks.")
    stop_running: bool = Field(
        default=False, description="Also end the running turn at its next round."
    )


class ResumeSeat(Args):
    """Whose mail is to flow again."""

    seat: Handle = Field(description="The seat's handle.")


class DrainNode(Args):
    """Which node is to stop taking work."""

    node: NodeName = Field(description="The node's id, as `fleet show` lists it.")


class EndNode(Args):
    """Which node's process is gone."""

    node: NodeName = Field(description="The node's id, as `fleet show` lists it.")


def _agent_seat(actor: Actor, args: PauseSeat | ResumeSeat) -> Seat:
    seat = seat_by_handle(args.seat)
    if seat.kind != SeatKind.AGENT:
        raise Invalid(
            f"{seat.handle} is held by a person; only an agent's seat can be paused.", field="seat"
        )
    return seat


@action(
    "pause_seat",
    args=PauseSeat,
    doors=Doors.PEOPLE,
    rules=("leads_seat_or_operates",),
    fetch=_agent_seat,
    idempotent=True,
    label="Paused {seat}",
)
def pause_seat(actor: Actor, args: PauseSeat, seat: Seat) -> Result:
    """Pauses an agent seat that you lead: no new turn starts, its mail waits in order, nothing is
    lost. A running turn finishes unless stop_running is set; then it ends at its next round and
    its mail counts as worked. Pausing a paused seat changes nothing, except that it can add
    stop_running. It stays paused until resume_seat."""
    before = holds.of_seat(seat.id, HoldReason.SEAT_PAUSED)
    hold = holds.put(
        seat.id,
        HoldReason.SEAT_PAUSED,
        by=actor.author,
        now=clock.now(),
        note=args.reason,
        stop_running=args.stop_running,
    )
    added_stop = before is not None and hold.stop_running and not before.stop_running
    if not hold.created and not added_stop:
        return Result(
            f"{seat.handle} is already paused by {hold.by}.",
            refs=(f"seat:{seat.handle}",),
            data={"changed": False, "by": hold.by},
        )
    stops = " Its running turn ends at the next round." if hold.stop_running else ""
    publish(
        EventType.SEAT_PAUSED,
        summary=f"{actor.name} paused {seat.handle}.{stops}",
        actor=actor.author,
        seat_id=seat.id,
        payload={"reason": args.reason, "stop_running": hold.stop_running, "by": hold.by},
        topics=("agents", f"seat:{seat.handle}"),
    )
    return Result(
        f"{seat.handle} is paused.{stops} Its mail waits until somebody resumes it.",
        refs=(f"seat:{seat.handle}",),
        data={"changed": True, "by": hold.by},
    )


@action(
    "resume_seat",
    args=ResumeSeat,
    doors=Doors.PEOPLE,
    rules=("leads_seat_or_operates",),
    fetch=_agent_seat,
    idempotent=True,
    label="Resumed {seat}",
)
def resume_seat(actor: Actor, args: ResumeSeat, seat: Seat) -> Result:
    """Ends the pause of an agent seat that you lead: its waiting mail flows again, oldest first.
    A budget stop or a missing model is not lifted by this."""
    if not holds.lift(seat.id, HoldReason.SEAT_PAUSED):
        return Result(
            f"{seat.handle} is not paused.",
            refs=(f"seat:{seat.handle}",),
            data={"changed": False},
        )
    publish(
        EventType.SEAT_RESUMED,
        summary=f"{actor.name} resumed {seat.handle}.",
        actor=actor.author,
        seat_id=seat.id,
        topics=("agents", f"seat:{seat.handle}"),
    )
    return Result(
        f"{seat.handle} works again.", refs=(f"seat:{seat.handle}",), data={"changed": True}
    )


@action(
    "drain_node",
    args=DrainNode,
    doors={Door.REST, Door.FORM, Door.CLI, Door.MCP},
    grant=Grant.FLEET_OPERATE,
    rules=("not_agent",),
    idempotent=True,
    label="Drained {node}",
)
def drain_node(actor: Actor, args: DrainNode, target: None) -> Result:
    """Lets a node take no more work: its running turns finish, its seats go to other nodes, and
    its process stays idle until it is restarted."""
    presence.start_draining(presence.live_incarnation(args.node))
    return Result(f"{args.node} takes no more work; its running turns finish.")


@action(
    "end_node",
    args=EndNode,
    doors={Door.REST, Door.CLI, Door.MCP},
    grant=Grant.FLEET_OPERATE,
    rules=("not_agent",),
    destructive=True,
    idempotent=True,
    label="Ended {node}",
)
def end_node(actor: Actor, args: EndNode, target: None) -> Result:
    """Declares a node's process dead, so that its seats move at once instead of after a lease.
    If the process still lives, everything that it writes from now on is refused."""
    ended = presence.end(presence.live_incarnation(args.node))
    return Result(
        f"{args.node} has ended; {len(ended.seats)} seats are free.",
        data={"incarnation": ended.incarnation, "seats": len(ended.seats)},
    )
