"""The rows that every write leaves: history in one order, publications, hints for open pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from crewlet.kernel import clock, live
from crewlet.kernel.actors import Actor
from crewlet.kernel.events import EventType, announce, publish
from crewlet.kernel.ids import new_id
from tracker import counts
from tracker.events import TextsChanged
from tracker.models.comments import Comment
from tracker.models.history import Change
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.roster import kind_of
from tracker.wakes import ChangeKind

EXCERPT = 300
_TEXT_KINDS = frozenset({"created", "comment", "removed", "restored"})
_TEXT_FIELDS = frozenset({"title", "body"})


@dataclass(slots=True)
class Draft:
    """A change before it has its place in history."""

    kind: ChangeKind
    project: Project
    item: WorkItem | None
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    reason: str = ""
    excerpt: str = ""
    comment: Comment | None = None
    notified: list[dict[str, str]] = field(default_factory=list)
    id: UUID = field(default_factory=new_id)


@dataclass(slots=True)
class Writing:
    """One write under way: who, when, and the changes it will leave."""

    actor: Actor
    now: datetime = field(default_factory=clock.now)
    drafts: list[Draft] = field(default_factory=list)
    steps: dict[UUID, Counter[str]] = field(default_factory=dict)

    def change(self, kind: ChangeKind, item: WorkItem, **given: Any) -> Draft:
        """Notes a change of an item; `close` stores it."""
        draft = Draft(kind, item.project, item, **given)
        self.drafts.append(draft)
        return draft

    def counted(
        self, project_id: UUID, before: str | None, after: str | None, *, number: int = 1
    ) -> None:
        """Counts items out of the group `before` and into the group `after` of their project.

        Every write that files an item, moves it to another group, or takes it out of sight or back
        says so; `close` stores it. None is an item that did not count before, or does not any more.
        """
        steps = self.steps.setdefault(project_id, Counter())
        steps.update(counts.step(before, after, number))

    def close(self) -> None:
        """Stores the noted changes. The last thing of a write: the counter row it locks orders
        every commit of the tracker.
        """
        if not self.drafts:
            return
        changed = {draft.item.pk for draft in self.drafts if draft.item and _has_text(draft)}
        if changed:
            announce(TextsChanged(tuple(sorted(changed))))
        self._tell_projects()
        last = _take_numbers(len(self.drafts))
        Change.objects.bulk_create(
            self._row(draft, last - len(self.drafts) + place)
            for place, draft in enumerate(self.drafts, start=1)
        )

    def _tell_projects(self) -> None:
        """Notes each project's counts and newest entry; an edit of its settings is none."""
        touched = {
            draft.project.pk for draft in self.drafts if draft.kind != ChangeKind.PROJECT_UPDATED
        }
        actor = self.actor
        for project_id in sorted(touched):
            counts.note(
                project_id,
                self.steps.get(project_id, Counter()),
                at=self.now,
                actor=actor.author,
                name=actor.name,
                kind=kind_of(actor),
            )

    def _row(self, draft: Draft, seq: int) -> Change:
        actor = self.actor
        return Change(
            id=draft.id,
            seq=seq,
            project=draft.project,
            item=draft.item,
            comment=draft.comment,
            kind=draft.kind.value,
            actor=actor.author,
            actor_name=actor.name,
            actor_kind=kind_of(actor),
            seat_id=actor.seat_id,
            turn_id=actor.turn.turn_id if actor.turn else None,
            fields=draft.fields,
            reason=draft.reason,
            excerpt=excerpt(draft.excerpt),
            notified=draft.notified,
            at=self.now,
        )


def _has_text(draft: Draft) -> bool:
    return draft.kind in _TEXT_KINDS or not _TEXT_FIELDS.isdisjoint(draft.fields)


_TAKE = """
INSERT INTO tracker_changecounter (id, value) VALUES (1, %(count)s)
ON CONFLICT (id) DO UPDATE SET value = tracker_changecounter.value + %(count)s
RETURNING value
"""


def _take_numbers(count: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, {"count": count})
        row = cursor.fetchone()
    return int(row[0])


def excerpt(text: str, length: int = EXCERPT) -> str:
    """Returns the beginning of a text on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[: length - 1]}…"


def tell_pages(item: WorkItem, *also: str) -> None:
    """Hints, after commit, that pages which show the item are to be fetched again."""
    live.changed(*topics_of(item), *also)


def topics_of(item: WorkItem) -> tuple[str, ...]:
    """Returns the live topics under which an item is shown."""
    return (f"item:{item.key}", f"project:{item.project.key}", "work", "home")


def tell_feed(writing: Writing, kind: EventType, item: WorkItem, summary: str) -> None:
    """Publishes a change of an item with who made it and in which turn."""
    actor = writing.actor
    publish(
        kind,
        summary=summary,
        actor=actor.author,
        seat_id=actor.seat_id,
        turn_id=actor.turn.turn_id if actor.turn else None,
        work_key=actor.turn.work_key if actor.turn else "",
        trace_id=actor.turn.trace if actor.turn else "",
        payload={"key": item.key, "title": item.title, "status": item.status},
        topics=topics_of(item),
    )
