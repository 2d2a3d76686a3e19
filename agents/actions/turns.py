"""Verbs over turns: steer one, stop one, work its mail again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast
from uuid import UUID

from pydantic import Field, StringConstraints

from agents import wake
from agents.mail import again
from agents.turn import journal, reading, steering
from agents.turn.reading import Standing
from crewlet.kernel import live
from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Conflict, ErrorCode, Gone, Invalid
from crewlet.kernel.ids import new_id
from orgs import epochs
from orgs.access import seat_by_handle
from orgs.document.providers import ProviderType

if TYPE_CHECKING:
    from agents.mail.letters import ReplyKind

NoteText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=steering.LONGEST)
]


class StopTurn(Args):
    """Which turn is to end."""

    turn: UUID = Field(description="The turn's id.")
    reason: str = Field(default="", max_length=500, description="Why, for whoever waits.")


class RerunTurn(Args):
    """Which ended turn's mail is to be worked once more."""

    turn: UUID = Field(description="The turn's id.")
    reason: str = Field(default="", max_length=500, description="Why, for the audit.")


class SteerTurn(Args):
    """What a running turn is to know. Name the turn, or the seat whose turn runs."""

    turn: UUID | None = Field(default=None, description="The turn's id.")
    seat: str = Field(default="", max_length=64, description="Or the seat's handle.")
    note: NoteText = Field(description="What to tell it, at most 2000 characters.")
    request_id: str = Field(
        default="", max_length=200, description="Your own id: the same one leaves one note."
    )


def _open_turn(actor: Actor, args: StopTurn) -> Standing:
    turn = reading.standing(args.turn)
    if turn.stage == "done":
        raise Gone(f"That turn has ended ({turn.outcome}); there is nothing to stop.", field="turn")
    return turn


def _steered_turn(actor: Actor, args: SteerTurn) -> Standing:
    if args.turn is not None:
        return reading.standing(args.turn)
    if not args.seat:
        raise Invalid("Name the turn or the seat whose turn is to read the note.", field="turn")
    seat = seat_by_handle(args.seat)
    found = reading.open_of(seat.id)
    if found is None:
        raise Gone(
            f"No turn of {seat.handle} runs, so nobody would read the note. Write where the work "
            "is instead.",
            field="seat",
        )
    return found


def _leads_somebody(epoch: int, handle: str) -> bool:
    return bool(epochs.snapshot(epoch).chart.reports(handle))


@action(
    "steer_turn",
    args=SteerTurn,
    doors=Doors.ALL,
    rules=("leads_seat_or_operates",),
    fetch=_steered_turn,
    idempotent=True,
    label="Steered a turn",
    available=_leads_somebody,
)
def steer_turn(actor: Actor, args: SteerTurn, target: Standing) -> Result:
    """Tells a running turn of a seat that you lead something it should know: it reads the note at
    its next round, and every later phase of it does. The note ranks with the message that woke the
    seat; where it breaks something higher it is answered, not obeyed. A turn that ends first leaves
    the note unread and says so."""
    _refuse_unreadable(target)
    left = steering.leave(
        target.id,
        request_id=args.request_id or str(new_id()),
        text=args.note,
        by=actor.author,
    )
    live.changed(f"turn:{target.id}")
    return Result(
        f"{target.handle}'s turn reads your note at its next round.",
        refs=(f"turn:{target.id}", f"seat:{target.handle}"),
        data=left,
    )


def _refuse_unreadable(target: Standing) -> None:
    """Refuses a note to a turn whose model is a program of its own: it hears nothing midway."""
    snapshot = epochs.active()
    seat = snapshot.chart.seats.get(target.handle)
    chain = seat.role.chain("execute") if seat is not None and seat.role is not None else ()
    entry = snapshot.document.providers.llm.get(chain[0]) if chain else None
    if target.stage != "done" and entry is not None and entry.type is ProviderType.CLI_AGENT:
        raise Conflict(
            f"{target.handle} works inside a coding program, which reads no notes. Stop the turn, "
            "or write where the work is.",
            code=ErrorCode.STEER_UNSUPPORTED,
            field="turn",
        )


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


def _ended_turn(actor: Actor, args: RerunTurn) -> Standing:
    turn = reading.standing(args.turn)
    if turn.stage != "done":
        raise Conflict("That turn has not ended; stop it first.", field="turn")
    if turn.outcome == "completed":
        raise Conflict(
            "That turn was completed, and its work counts. Write where the work is to have more "
            "done.",
            field="turn",
        )
    return turn


@action(
    "rerun_turn",
    args=RerunTurn,
    doors=Doors.PEOPLE,
    rules=("leads_seat_or_operates",),
    fetch=_ended_turn,
    idempotent=True,
    label="Ran a turn again",
)
def rerun_turn(actor: Actor, args: RerunTurn, target: Standing) -> Result:
    """Puts the mail of a failed, stopped or skipped turn of a seat that you lead back into its
    mailbox. The new turn is the same unit of work: what the old one had written does not land a
    second time."""
    head = reading.head(target.id)
    count = again.put_back(
        again.Worked(
            head.id, head.seat_id, head.constituents, head.batch_key, head.conversation,
            cast("ReplyKind", head.reply_kind), head.reply_surface, head.work_item, head.depth,
            head.chain, head.parent_turn, head.agent_caused, head.trace,
        )
    )  # fmt: skip
    refs = (f"turn:{target.id}", f"seat:{target.handle}")
    if not count:
        return Result(f"That mail waits for {target.handle} already.", refs=refs)
    letters = "1 letter" if count == 1 else f"{count} letters"
    why = f": {args.reason}" if args.reason else "."
    return Result(f"{target.handle} works {letters} again{why}", refs=refs, data={"letters": count})
