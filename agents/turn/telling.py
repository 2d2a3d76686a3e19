"""A turn that failed is told in words: to the seat's lead, and to a person who asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.events import TurnFailed
from agents.mail.post import Mail, post
from agents.turn.record import TurnHead
from crewlet.kernel import clock
from crewlet.kernel.events import announce
from crewlet.kernel.ids import derived_id
from orgs import notices

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

KIND = "turn_failed"


@dataclass(frozen=True, slots=True)
class Failure:
    """A turn that failed: whose, of what, in which company, and how it is said."""

    head: TurnHead
    snapshot: Snapshot
    handle: str
    name: str
    message: str


def tell_failure(failed: Failure, error_kind: str) -> None:
    """Tells the lead (a person gets a notice, an agent a letter) and the nearest person above.

    The asker is told by whoever owns the surface of the ask; a person whose ask came from nowhere
    of ours is told here. Runs in the settling transaction.
    """
    head = failed.head
    announce(
        TurnFailed(
            turn_id=head.id,
            seat_id=head.seat_id,
            handle=failed.handle,
            name=failed.name,
            error_kind=error_kind,
            message=failed.message,
            reply_kind=head.reply_kind,
            reply_surface=head.reply_surface,
            trigger=head.trigger,
            work_item=head.work_item,
        )
    )
    chart, told = failed.snapshot.chart, set[str]()
    lead = chart.primary_manager(failed.handle)
    if lead is not None:
        _tell(failed, lead, told)
        person = _person_above(failed, lead)
        if person is not None:
            _tell(failed, person, told)
    sender = failed.head.trigger.get("sender") or {}
    asker = str(sender.get("handle", ""))
    if asker in chart.seats and failed.head.work_item is None and not chart.seats[asker].is_agent:
        _tell(failed, asker, told)


def _person_above(failed: Failure, handle: str) -> str | None:
    """The nearest person at or above a seat; a chart that loops is walked once."""
    chart, seen = failed.snapshot.chart, set[str]()
    at: str | None = handle
    while at is not None and at not in seen:
        if not chart.seats[at].is_agent:
            return at
        seen.add(at)
        at = chart.primary_manager(at)
    return None


def _tell(failed: Failure, handle: str, told: set[str]) -> None:
    head = failed.head
    if handle in told or handle == failed.handle:
        return
    told.add(handle)
    seat_id = failed.snapshot.seat_ids[handle]
    event_id = derived_id(KIND, str(head.id))
    about = str(head.trigger.get("summary", "")) or "a message"
    title = f"{failed.name} could not finish: {about}"[:300]
    if not failed.snapshot.chart.seats[handle].is_agent:
        notices.notify(
            seat_id, KIND, reason=KIND, title=title, body=failed.message, ref=f"turn:{head.id}",
            event_id=event_id,
        )  # fmt: skip
        return
    post(
        seat_id,
        Mail(
            event_id=event_id,
            kind=KIND,
            source="engine",
            batch_key=f"event:{event_id}",
            conversation=f"turn_failed:{failed.handle}",
            ts=clock.now(),
            payload={
                "summary": title,
                "sender": {"handle": failed.handle, "name": failed.name, "kind": "agent"},
                "text": f"From: {failed.name} (@{failed.handle}, agent)\n"
                f"Reason: a turn of a seat you lead has failed\n\n{failed.message}",
            },
            reply_kind="none",
            agent_caused=True,
            parent_turn=head.id,
            trace=head.trace,
        ),
    )
