"""The verbs over one's own inbox. Marks are mine: nobody marks for somebody else."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from django.db.models import Q
from pydantic import Field, StringConstraints

from crewlet.kernel import clock, live
from crewlet.kernel.actions import Args, Door, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Invalid, NotFound
from orgs import inbox
from orgs.models.notices import InboxMark, Notice

# Not the shell: the operator at it is no person, so nothing could ever be marked there.
_DOORS = frozenset({Door.MCP, Door.REST, Door.FORM})
LONGEST_SNOOZE = timedelta(days=90)
Ref = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=160)]


class MarkInbox(Args):
    """Which notices are read or unread, which waiting rows are set aside.

    `seen_through` is the newest notice that was loaded: it and everything older become read, and
    nothing that came after.
    """

    read: Annotated[tuple[UUID, ...], Field(max_length=200)] = ()
    unread: Annotated[tuple[UUID, ...], Field(max_length=200)] = ()
    done: Annotated[tuple[Ref, ...], Field(max_length=200)] = ()
    seen_through: UUID | None = None


@action("mark_inbox", args=MarkInbox, doors=_DOORS, grant=Grant.STATE_READ,
        rules=("has_inbox",), idempotent=True, label="Marked the inbox")  # fmt: skip
def mark_inbox(actor: Actor, args: MarkInbox, target: None) -> Result:
    """Marks notices as read or unread, or all of them up to the newest one that was loaded."""
    _all_mine(actor, (*args.read, *args.unread))
    now, mine = clock.now(), inbox.notices_of(actor).order_by()
    marked = mine.filter(id__in=args.read, read_at=None).update(read_at=now)
    marked += mine.filter(id__in=args.unread).exclude(read_at=None).update(read_at=None)
    if args.seen_through is not None:
        newest = _mine(actor, args.seen_through)
        older = Q(at__lt=newest.at) | Q(at=newest.at, id__lte=newest.id)
        awake = Q(snoozed_until=None) | Q(snoozed_until__lte=now)
        marked += mine.filter(older, awake, read_at=None).update(read_at=now)
    for ref in args.done:
        InboxMark.objects.update_or_create(
            login=actor.login, ref=ref, defaults={"done_at": now, "snoozed_until": None, "at": now}
        )
    live.changed(f"inbox:{actor.login}")
    return Result(f"{marked + len(args.done)} marked.", data={"marked": marked + len(args.done)})


class SnoozeInbox(Args):
    """A notice (by its id) or a waiting row (by its ref), and until when.

    `until` is `1h`, `tomorrow`, `monday` or an ISO time at most 90 days away; empty brings it back.
    """

    ref: Ref
    until: str = ""


@action("snooze_inbox", args=SnoozeInbox, doors=_DOORS, grant=Grant.STATE_READ,
        rules=("has_inbox",), idempotent=True, label="Snoozed {ref}")  # fmt: skip
def snooze_inbox(actor: Actor, args: SnoozeInbox, target: None) -> Result:
    """Puts a notice or a waiting row off until a time, or brings it back."""
    now, zone = clock.now(), inbox.company_zone()
    until = inbox.snooze_until(args.until, now, zone) if args.until else None
    if until is not None and not now < until <= now + LONGEST_SNOOZE:
        raise Invalid("Snooze until a time that is ahead, at most 90 days away.", field="until")
    notice_id = _as_id(args.ref)
    if notice_id is not None:
        _mine(actor, notice_id)
        Notice.objects.filter(id=notice_id).update(snoozed_until=until)
    elif until is None:
        InboxMark.objects.filter(login=actor.login, ref=args.ref).delete()
    else:
        InboxMark.objects.update_or_create(
            login=actor.login,
            ref=args.ref,
            defaults={"snoozed_until": until, "done_at": None, "at": now},
        )
    live.changed(f"inbox:{actor.login}")
    if until is None:
        return Result("Back in the inbox.")
    return Result(f"Snoozed until {until.astimezone(zone):%a %d %b, %H:%M}.",
                  data={"until": until.isoformat()})  # fmt: skip


def _mine(actor: Actor, ident: UUID) -> Notice:
    _all_mine(actor, (ident,))
    return inbox.notices_of(actor).get(id=ident)


def _all_mine(actor: Actor, wanted: tuple[UUID, ...]) -> None:
    known = set(inbox.notices_of(actor).filter(id__in=wanted).values_list("id", flat=True))
    missing = [str(ident) for ident in wanted if ident not in known]
    if missing:
        raise NotFound(f"Not in your inbox: {', '.join(missing)}.", field="read")


def _as_id(ref: str) -> UUID | None:
    try:
        return UUID(ref.removeprefix("notice:"))
    except ValueError:
        return None
