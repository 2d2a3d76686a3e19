"""How a turn ended is told in words: to the seat's lead, the people above, a person who asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db import connection

from agents.events import TurnFailed
from agents.mail.post import Mail, post
from agents.turn.record import TurnHead
from crewlet.kernel import clock
from crewlet.kernel.events import announce
from crewlet.kernel.ids import derived_id
from orgs import notices

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

KIND: Final = "turn_failed"
BLOCKED: Final = "blocked_again"
CYCLES: Final = 3
"""So many turns on one item that end blocked within a day are no matter for one more try."""
CYCLES_WITHIN: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn that ended badly: whose, of what, in which company, and how it is said.

    `stopped_by` is who stopped it; `knowing` are the seats that were told of it already.
    """

    head: TurnHead
    snapshot: Snapshot
    handle: str
    name: str
    message: str
    stopped_by: str = ""
    knowing: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class _News:
    """What the people around a seat read: under which event, by which kind, in which words."""

    event_id: UUID
    kind: str
    reason: str
    why: str
    title: str
    ref: str


def tell_ended(ended: Ended, error_kind: str) -> None:
    """Tells the lead (a person gets a notice, an agent a letter) and the nearest person above.

    The asker is told by whoever owns the surface of the ask; a person whose ask came from nowhere
    of ours is told here. Nobody hears twice, and not who stopped it. Runs in the settling
    transaction.
    """
    head, stopped = ended.head, bool(ended.stopped_by)
    fact = TurnFailed(
        turn_id=head.id,
        seat_id=head.seat_id,
        handle=ended.handle,
        name=ended.name,
        error_kind=error_kind,
        message=ended.message,
        reply_kind=head.reply_kind,
        reply_surface=head.reply_surface,
        trigger=head.trigger,
        work_item=head.work_item,
        stopped_by=ended.stopped_by,
    )
    announce(fact)
    about = str(head.trigger.get("summary", "")) or "a message"
    news = _News(
        fact.event_id,
        KIND,
        KIND,
        f"a turn of a seat you lead {'was stopped' if stopped else 'has failed'}",
        f"{ended.name} {'was stopped' if stopped else 'could not finish'}: {about}",
        f"turn:{head.id}",
    )
    told = _tell_above(ended, news)
    sender = head.trigger.get("sender") or {}
    asker = str(sender.get("handle", ""))
    seats = ended.snapshot.chart.seats
    if asker in seats and head.work_item is None and not seats[asker].is_agent:
        _tell(ended, news, asker, told)


_BLOCKED_TURNS: Final = """
SELECT count(*) FROM agents_turn
WHERE seat_id = %s AND work_item_key = %s AND submitted = 'blocked' AND ended_at > %s
"""


def tell_blocked(ended: Ended, key: str) -> None:
    """Tells the people above when a seat was blocked on one item for the third time in a day, and
    at every third after that: each time somebody unblocked it, and it did not hold.

    Runs in the settling transaction, after the turn's own row was settled.
    """
    with connection.cursor() as cursor:
        since = clock.now() - CYCLES_WITHIN
        cursor.execute(_BLOCKED_TURNS, (ended.head.seat_id, key, since))
        count = int(cursor.fetchone()[0])
    if count == 0 or count % CYCLES:
        return
    news = _News(
        derived_id(BLOCKED, str(ended.head.id)),
        BLOCKED,
        "lead_fallback",
        "a seat you lead is blocked on the same item again and again",
        f"{ended.name} was blocked on {key} {count} times within 24 hours",
        f"item:{key}",
    )
    _tell_above(ended, news)


def _tell_above(ended: Ended, news: _News) -> set[str]:
    """Tells the lead and the nearest person above; returns who needs no more telling."""
    handles = ended.snapshot.handles
    told = {handles[seat_id] for seat_id in ended.knowing if seat_id in handles}
    told |= {ended.handle, ended.stopped_by}
    lead = ended.snapshot.chart.primary_manager(ended.handle)
    if lead is not None:
        _tell(ended, news, lead, told)
        person = _person_above(ended, lead)
        if person is not None:
            _tell(ended, news, person, told)
    return told


def _person_above(ended: Ended, handle: str) -> str | None:
    """The nearest person at or above a seat; a chart that loops is walked once."""
    chart, seen = ended.snapshot.chart, set[str]()
    at: str | None = handle
    while at is not None and at not in seen:
        if not chart.seats[at].is_agent:
            return at
        seen.add(at)
        at = chart.primary_manager(at)
    return None


def _tell(ended: Ended, news: _News, handle: str, told: set[str]) -> None:
    if handle in told:
        return
    told.add(handle)
    head, seat_id = ended.head, ended.snapshot.seat_ids[handle]
    title = news.title[:300]
    if not ended.snapshot.chart.seats[handle].is_agent:
        notices.notify(
            seat_id, news.kind, reason=news.reason, title=title, body=ended.message, ref=news.ref,
            event_id=news.event_id,
        )  # fmt: skip
        return
    post(
        seat_id,
        Mail(
            event_id=news.event_id,
            kind=news.kind,
            source="engine",
            batch_key=f"event:{news.event_id}",
            conversation=f"turn_failed:{ended.handle}",
            ts=clock.now(),
            payload={
                "summary": title,
                "sender": {"handle": ended.handle, "name": ended.name, "kind": "agent"},
                "text": f"From: {ended.name} (@{ended.handle}, agent)\n"
                f"Reason: {news.why}\n\n{ended.message}",
            },
            reply_kind="none",
            agent_caused=True,
            parent_turn=head.id,
            trace=head.trace,
        ),
    )
