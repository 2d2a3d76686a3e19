"""A change reaches people: mail to agents and notices to persons, in the change's transaction.

Agents can wake each other for ever. On one item they do so at most `AGENT_WAKES_IN_A_ROW` times
before a person has said something; the stop is written on the item and told to the lead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from agents.mail.post import Mail, WorkRef, post
from agents.mail.waiting import unread
from agents.seats.holds import why_waiting
from crewlet.kernel import live
from crewlet.kernel.events import EventType
from crewlet.kernel.ids import derived_id
from orgs.models.people import Person
from orgs.notices import notify
from tracker import letters
from tracker.actions.recording import Draft, Writing, excerpt, tell_feed
from tracker.models.comments import Comment, CommentKind
from tracker.models.items import WorkItem
from tracker.roster import is_person, kind_of, party_of
from tracker.wakes import (
    AGENT_WAKES_IN_A_ROW,
    Around,
    ChangeKind,
    Happened,
    Party,
    Reason,
    Wake,
    wakes_of,
)

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

SURFACE = "work"


@dataclass(slots=True)
class Told:
    """Who heard of a change, and who did not because agents had the last words for too long.

    `waiting` says why the one who was given the item will not start on it now.
    """

    heard: list[tuple[str, Reason]] = field(default_factory=list)
    parties: set[Party] = field(default_factory=set)
    held_back: list[str] = field(default_factory=list)
    waiting: str = ""

    def words(self) -> str:
        """Returns what the writer is told of it."""
        parts = []
        if self.heard:
            named = [f"{name} ({reason.value.replace('_', ' ')})" for name, reason in self.heard]
            parts.append(f"Told: {', '.join(named)}.")
        if self.held_back:
            parts.append(
                f"Not woken: {', '.join(self.held_back)}. {AGENT_WAKES_IN_A_ROW} wake-ups by "
                "agents in a row on this item; it waits for a person's word."
            )
        return " ".join(filter(None, (" ".join(parts) or "Nobody was told.", self.waiting)))


def person_spoke(item: WorkItem, writing: Writing) -> None:
    """Lets agents wake each other on the item again once a person has touched it."""
    if is_person(writing.actor):
        item.agent_wakes = 0
        item.wakes_stopped_at = None


def tell(
    writing: Writing,
    snapshot: Snapshot,
    item: WorkItem,
    draft: Draft,
    *,
    happened: Happened,
    around: Around,
    quote: str = "",
    knowing: Iterable[Party] = (),
) -> Told:
    """Tells everybody whom a change concerns, but for those who know of it already. Sets the wake
    counter of the (locked) item, which the caller saves.
    """
    present = frozenset(Party(seat_id=seat_id) for seat_id in snapshot.handles) | _persons(around)
    present -= frozenset(knowing)
    told = Told()
    if happened.assigned or happened.kind is ChangeKind.CREATED:
        told.waiting = _why_waiting(item, snapshot, writing)
    for wake in wakes_of(happened, around, present):
        name = _name_of(wake.party, snapshot, item)
        if _is_agent(wake.party, snapshot) and _held_back(item, writing):
            told.held_back.append(name)
            continue
        _deliver(writing, snapshot, item, draft, happened=happened, wake=wake, quote=quote)
        told.heard.append((name, wake.reason))
        told.parties.add(wake.party)
        draft.notified.append({"handle": name.removeprefix("@"), "reason": wake.reason.value})
    if told.held_back and item.wakes_stopped_at is None:
        item.wakes_stopped_at = writing.now
        _say_stopped(writing, snapshot, item, draft, told.held_back)
    return told


def _why_waiting(item: WorkItem, snapshot: Snapshot, writing: Writing) -> str:
    """Says that who was given the item does not work now, and why; empty when they do."""
    handle = snapshot.handles.get(item.assignee_id) if item.assignee_id else None
    if handle is None or item.assignee_id is None or not snapshot.chart.seats[handle].is_agent:
        return ""
    why = why_waiting(item.assignee_id, writing.now)
    return f"Waits: @{handle} {why}, so nothing starts before that ends." if why else ""


def _held_back(item: WorkItem, writing: Writing) -> bool:
    """Counts one more wake of an agent by an agent; True when there were too many."""
    if not writing.actor.is_agent:
        return False
    if item.agent_wakes >= AGENT_WAKES_IN_A_ROW:
        return True
    item.agent_wakes += 1
    return False


def _persons(around: Around) -> frozenset[Party]:
    named = (
        around.assignee, around.previous_assignee, around.reporter, around.parent_assignee,
        around.asked, around.asker, *around.mentioned, *around.thread, *around.watchers,
        *around.leads,
    )  # fmt: skip
    return frozenset(party for party in named if party is not None and party.person_id is not None)


def _is_agent(party: Party, snapshot: Snapshot) -> bool:
    if party.seat_id is None:
        return False
    return bool(snapshot.chart.seats[snapshot.handles[party.seat_id]].is_agent)


def _name_of(party: Party, snapshot: Snapshot, item: WorkItem) -> str:
    if party.seat_id is not None:
        return f"@{snapshot.handles[party.seat_id]}"
    return item.reporter_name if party.person_id == item.reporter_person_id else "a person"


def _deliver(
    writing: Writing,
    snapshot: Snapshot,
    item: WorkItem,
    draft: Draft,
    *,
    happened: Happened,
    wake: Wake,
    quote: str,
) -> None:
    actor = writing.actor
    whole = _whole_told_on(item, wake)
    subject = whole or item
    letter = letters.write(
        letters.Facts(
            key=subject.key,
            title=subject.title,
            status=subject.status,
            assignee=snapshot.handles.get(subject.assignee_id) if subject.assignee_id else None,
            sender=letters.Sender(actor.author, actor.name, kind_of(actor)),
            reason=wake.reason,
            happened=happened,
            fields=letters.shown_fields(draft.fields, snapshot.handles),
            why=draft.reason,
            quote=quote,
            addressed=wake.addressed,
            comment_id=str(draft.comment.pk) if draft.comment else "",
            open_ask=bool(wake.reason is Reason.ASKED and draft.comment),
            part=f"{item.key} — {item.title}" if whole else "",
        )
    )
    if _is_agent(wake.party, snapshot) and wake.party.seat_id is not None:
        _mail(writing, subject, draft.id, wake.party.seat_id, letter, addressed=wake.addressed)
        return
    _notice(item, draft.id, wake.party, letter, reason=wake.reason.value, author=actor.author)


def _whole_told_on(item: WorkItem, wake: Wake) -> WorkItem | None:
    """Whoever has the whole is told on the whole: all its parts are one talk to them.

    But where they have yet to read of this part, as when they were mentioned on it just before it
    was finished, it is told there: the two are one turn then, and not two.
    """
    if wake.reason is not Reason.PARENT_ASSIGNEE:
        return None
    seat_id = wake.party.seat_id
    return None if seat_id and unread(seat_id, _talk(item)) else item.parent


def _talk(item: WorkItem) -> str:
    return f"work:{item.key}"


def _mail(
    writing: Writing,
    item: WorkItem,
    event_id: UUID,
    seat_id: UUID,
    letter: dict[str, Any],
    *,
    addressed: bool,
) -> None:
    turn = writing.actor.turn
    post(
        seat_id,
        Mail(
            event_id=event_id,
            kind="work_item",
            source="tracker",
            batch_key=_talk(item),
            conversation=_talk(item),
            ts=writing.now,
            payload=letter,
            reply_kind="tool" if addressed else "none",
            reply_surface=SURFACE if addressed else "",
            depth=turn.depth if turn else 0,
            chain=turn.chain if turn else (),
            work_item=WorkRef("native", str(item.pk), item.key, item.project.key),
            parent_turn=turn.turn_id if turn else None,
            agent_caused=writing.actor.is_agent,
            trace=turn.trace if turn else "",
        ),
    )


def _notice(
    item: WorkItem,
    event_id: UUID,
    party: Party,
    letter: dict[str, Any],
    *,
    reason: str,
    author: str,
) -> None:
    recipient: UUID | Person | None = party.seat_id
    if recipient is None and party.person_id is not None:
        recipient = Person.objects.select_related("seat").get(pk=party.person_id)
    if recipient is None:
        return  # a token without a person hears of nothing
    notify(
        recipient,
        "work_item",
        reason=reason,
        title=letter["summary"],
        body=letter["quote"] or letter["summary"],
        ref=f"item:{item.key}",
        event_id=event_id,
        actor=author,
    )
    live.changed("inbox")


def _say_stopped(
    writing: Writing, snapshot: Snapshot, item: WorkItem, draft: Draft, held_back: list[str]
) -> None:
    """Writes the stop on the item and tells the first lead above it who did not cause it."""
    body = letters.wakes_stopped(item.key, held_back, AGENT_WAKES_IN_A_ROW)
    system_comment(item, body, writing)
    tell_feed(
        writing,
        EventType.WORK_ITEM_WAKES_STOPPED,
        item,
        f"{item.key}: agents stopped waking each other; it waits for a person",
    )
    for party in leads_above(item, snapshot):
        if party != party_of(writing.actor):
            tell_note(writing, snapshot, item, party, body, event=f"wakes-stopped:{draft.id}")
            return


def tell_purged(
    writing: Writing, snapshot: Snapshot, item: WorkItem, draft: Draft, why: str
) -> str:
    """Tells the lead of an item's project that it is purged; returns the lead's name, if any."""
    sender = letters.Sender(writing.actor.author, writing.actor.name, kind_of(writing.actor))
    letter = letters.purged(item.key, sender, why)
    for party in leads_above(item, snapshot):
        if party == party_of(writing.actor) or party.seat_id is None:
            continue
        if _is_agent(party, snapshot):
            _mail(writing, item, draft.id, party.seat_id, letter, addressed=False)
        else:
            reason, author = Reason.PURGED.value, writing.actor.author
            _notice(item, draft.id, party, letter, reason=reason, author=author)
        draft.notified.append({"handle": snapshot.handles[party.seat_id], "reason": "purged"})
        return f"@{snapshot.handles[party.seat_id]}"
    return ""


def leads_above(item: WorkItem, snapshot: Snapshot) -> tuple[Party, ...]:
    """Returns the lead of an item's project, then who manages that lead, upwards."""
    chain: list[Party] = []
    handle = lead_of(item, snapshot)
    while handle is not None and (party := Party(seat_id=snapshot.seat_ids[handle])) not in chain:
        chain.append(party)
        handle = snapshot.chart.primary_manager(handle)
    return tuple(chain)


def lead_of(item: WorkItem, snapshot: Snapshot) -> str | None:
    """Returns the handle that leads an item's project on the running chart."""
    owner = snapshot.chart.projects().get(item.project.key)
    if owner is not None:
        return owner.lead
    return snapshot.handles.get(item.project.lead_id) if item.project.lead_id else None


def system_comment(
    item: WorkItem, body: str, writing: Writing, *, turn_id: UUID | None = None
) -> Comment:
    """Writes a note of the engine on an item; it wakes nobody by itself."""
    turn = writing.actor.turn
    return Comment.objects.create(
        item=item,
        kind=CommentKind.SYSTEM,
        author="engine",
        author_name="Crewlet",
        author_kind="system",
        turn_id=turn_id or (turn.turn_id if turn else None),
        body=body,
        created_at=writing.now,
    )


def tell_note(
    writing: Writing,
    snapshot: Snapshot,
    item: WorkItem,
    party: Party,
    body: str,
    *,
    event: UUID | str,
    reason: str = Reason.LEAD_FALLBACK.value,
) -> None:
    """Tells one party of a note of the engine: mail that owes nothing, or a notice.

    `event` is what it tells of: by name, or by the id under which others tell of it too.
    """
    named = str(party.seat_id or party.person_id)
    event_id = event if isinstance(event, UUID) else derived_id("tracker-note", event, named)
    handle = snapshot.handles.get(item.assignee_id) if item.assignee_id else None
    letter = letters.note(item.key, item.title, item.status, handle, body)
    if _is_agent(party, snapshot) and party.seat_id is not None:
        _mail(writing, item, event_id, party.seat_id, letter, addressed=False)
    else:
        quoted = letter | {"quote": excerpt(body)}
        _notice(item, event_id, party, quoted, reason=reason, author="engine")
