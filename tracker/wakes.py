"""Who hears of a change, and why. Pure: a change and the people around it in, wakes out.

One wake per person per change, for the strongest reason; nobody hears of their own change; the
lead hears of what would otherwise reach nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

AGENT_WAKES_IN_A_ROW = 5
"""Agents wake agents on one item at most this often before a person has to say something."""


class Reason(StrEnum):
    """Why somebody hears of a change, strongest first: what was done to you outranks your role."""

    MENTION = "mention"
    ASKED = "asked"
    ANSWERED = "answered"
    ASSIGNEE = "assignee"
    UNASSIGNED = "unassigned"
    PARENT_ASSIGNEE = "parent_assignee"
    REPORTER = "reporter"
    THREAD = "thread"
    WATCHER = "watcher"
    PURGED = "purged"
    LEAD_FALLBACK = "lead_fallback"


STRENGTH: dict[Reason, int] = {reason: place for place, reason in enumerate(Reason)}


class ChangeKind(StrEnum):
    """What kind of change a history row is."""

    CREATED = "created"
    FIELDS = "fields"
    STATUS = "status"
    ASSIGNEE = "assignee"
    WATCHERS = "watchers"
    REPARENTED = "reparented"
    COMMENT = "comment"
    NOTE = "note"
    PROJECT_UPDATED = "project_updated"
    FILE_WRITTEN = "file_written"
    FILE_REMOVED = "file_removed"
    REMOVED = "removed"
    RESTORED = "restored"
    PURGED = "purged"


FALLBACK_KINDS = frozenset(
    {
        ChangeKind.CREATED, ChangeKind.STATUS, ChangeKind.COMMENT, ChangeKind.REMOVED,
        ChangeKind.RESTORED,
    }
)  # fmt: skip
REMOVAL_KINDS = frozenset({ChangeKind.REMOVED, ChangeKind.RESTORED})
QUIET_KINDS = frozenset({ChangeKind.WATCHERS, ChangeKind.NOTE, ChangeKind.PROJECT_UPDATED})


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody who can hear: a seat, or a person without one."""

    seat_id: UUID | None = None
    person_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """Who stands around an item when a change happens to it. None: nobody."""

    actor: Party
    by_agent: bool
    assignee: Party | None = None
    previous_assignee: Party | None = None
    reporter: Party | None = None
    parent_assignee: Party | None = None
    mentioned: tuple[Party, ...] = ()
    asked: Party | None = None
    asker: Party | None = None
    thread: tuple[Party, ...] = ()
    watchers: tuple[Party, ...] = ()
    leads: tuple[Party, ...] = ()


@dataclass(frozen=True, slots=True)
class Happened:
    """A change as far as waking goes."""

    kind: ChangeKind
    assigned: bool = False
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Wake:
    """One person to tell. `addressed`: an answer on the item is owed."""

    party: Party
    reason: Reason
    addressed: bool


def wakes_of(happened: Happened, around: Around, present: frozenset[Party]) -> tuple[Wake, ...]:
    """Returns who is told of a change, strongest reasons first.

    `present` holds everybody who can still be told: whoever left the company is dropped.
    """
    if happened.kind in QUIET_KINDS:
        return ()
    chosen: dict[Party, Reason] = {}
    for party, reason in _candidates(happened, around):
        if party != around.actor and party in present:
            chosen.setdefault(party, reason)
    if not chosen and _falls_back(happened, around):
        heirs = (lead for lead in around.leads if lead != around.actor and lead in present)
        lead = next(heirs, None)
        if lead is not None:
            chosen[lead] = Reason.LEAD_FALLBACK
    return tuple(
        Wake(party, reason, is_addressed(reason, happened, by_agent=around.by_agent))
        for party, reason in chosen.items()
    )


def _falls_back(happened: Happened, around: Around) -> bool:
    """Whether the lead hears of a change that reaches nobody else. An assignee who moves their own
    item from one open status to the next needs nobody's eyes.
    """
    if happened.kind is ChangeKind.STATUS:
        return happened.finished or around.assignee is None
    return happened.kind in FALLBACK_KINDS


def is_addressed(reason: Reason, happened: Happened, *, by_agent: bool) -> bool:
    """Returns whether somebody told for this reason owes an answer on the item."""
    if reason in {Reason.MENTION, Reason.ASKED}:
        return True
    if reason is not Reason.ASSIGNEE:
        return False
    if happened.kind is ChangeKind.COMMENT:
        return not by_agent
    return happened.kind is ChangeKind.CREATED or happened.assigned or happened.finished


def _candidates(happened: Happened, around: Around) -> Iterator[tuple[Party, Reason]]:
    """Yields everybody with a reason, strongest reason first; the first one of a party counts."""
    talk = happened.kind is ChangeKind.COMMENT
    yield from _each(around.mentioned, Reason.MENTION)
    yield from _each([around.asked], Reason.ASKED)
    yield from _each([around.asker], Reason.ANSWERED)
    yield from _each([around.assignee], Reason.ASSIGNEE)
    if happened.assigned:
        yield from _each([around.previous_assignee], Reason.UNASSIGNED)
    if happened.finished:
        # Before the reporter: who broke the whole into parts mostly filed them too, and hears that
        # the whole moved on, not that something they once filed is done.
        yield from _each([around.parent_assignee], Reason.PARENT_ASSIGNEE)
    if talk or happened.finished or happened.assigned or happened.kind in REMOVAL_KINDS:
        yield from _each([around.reporter], Reason.REPORTER)
    if talk:
        yield from _each(around.thread, Reason.THREAD)
    yield from _each(around.watchers, Reason.WATCHER)


def _each(parties: Iterable[Party | None], reason: Reason) -> Iterator[tuple[Party, Reason]]:
    for party in parties:
        if party is not None:
            yield party, reason
