"""`remove_work_item` and `restore_work_item`: out of sight together, and back together.

What is in sight never lies below what is not. So an item goes with its parts or not at all, and
comes back only where its whole is in sight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import Field

from crewlet.kernel import live
from crewlet.kernel.actions import Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Conflict
from crewlet.kernel.events import EventType
from crewlet.kernel.ids import new_id
from orgs import epochs
from tracker.access import in_sight, item_by_key
from tracker.actions.arguments import ItemWord, Why, WorkArgs
from tracker.actions.around import around
from tracker.actions.recording import Writing, tell_feed, topics_of
from tracker.actions.telling import Told, person_spoke, tell
from tracker.actions.tree import descendants
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.wakes import ChangeKind, Happened

if TYPE_CHECKING:
    from uuid import UUID

    from orgs.epochs import Snapshot

NAMED = 5
"""How many keys a sentence names before it says only how many more there are."""


class RemoveWorkItem(WorkArgs):
    """What to take out of sight."""

    item: ItemWord
    subtree: bool = Field(
        default=False, description="true: with all its parts. Needed when it has some."
    )
    reason: Why = Field(default="", description="Why, in a sentence: goes into history.")


class RestoreWorkItem(WorkArgs):
    """What to bring back."""

    item: ItemWord


@action(
    "remove_work_item",
    args=RemoveWorkItem,
    doors=Doors.PEOPLE,
    grant=Grant.WORK_WRITE,
    fetch=lambda actor, args: item_by_key(args.item),
    destructive=True,
    label="Removed {item}",
)
def remove_work_item(actor: Actor, args: RemoveWorkItem, target: WorkItem) -> Result:
    """Take an item out of sight, with subtree=true together with its parts: no list, count or
    search holds it any more and it takes no writes. restore_work_item brings back what went
    together; list_work_items with removed=true shows what can come back.
    """
    _lock_project(target)
    target.refresh_from_db(fields=["removed_at", "removed_by_name", "parent", "root"])
    in_sight(target)
    below = [child for child in descendants(target) if child.removed_at is None]
    if below and not args.subtree:
        raise Conflict(
            f"subtree: {target.key} has parts: {_named(below)}. Say subtree=true to remove them "
            "with it, or make them parts of something else first.",
            field="subtree",
            parts=len(below),
        )
    writing = Writing(actor)
    going = _locked_rows([target.pk, *(child.pk for child in below)])
    together = new_id()
    for item in going:
        item.removed_at, item.removed_with = writing.now, together
        item.removed_by, item.removed_by_name = actor.author, actor.name
    _save(going, writing)
    top = next(item for item in going if item.pk == target.pk)
    told = _tell(writing, ChangeKind.REMOVED, top, going, reason=args.reason)
    return _close(writing, ChangeKind.REMOVED, top, going, told)


@action(
    "restore_work_item",
    args=RestoreWorkItem,
    doors=Doors.PEOPLE,
    grant=Grant.WORK_WRITE,
    fetch=lambda actor, args: item_by_key(args.item),
    label="Restored {item}",
)
def restore_work_item(actor: Actor, args: RestoreWorkItem, target: WorkItem) -> Result:
    """Bring a removed item back, with everything that was removed together with it and nothing
    that was removed before.
    """
    _lock_project(target)
    target.refresh_from_db(fields=["removed_at", "removed_with"])
    if target.removed_with is None:
        raise Conflict(f"item: {target.key} is not removed.", field="item")
    coming = _locked_rows(
        WorkItem.objects.filter(removed_with=target.removed_with).values_list("pk", flat=True)
    )
    _check_wholes(coming)
    writing = Writing(actor)
    for item in coming:
        item.removed_at, item.removed_with, item.removed_by, item.removed_by_name = (
            None, None, "", "",
        )  # fmt: skip
        person_spoke(item, writing)
    _save(coming, writing)
    top = min(coming, key=lambda item: (item.depth, item.number))
    told = _tell(writing, ChangeKind.RESTORED, top, coming)
    return _close(writing, ChangeKind.RESTORED, top, coming, told)


def _lock_project(item: WorkItem) -> None:
    """Lock order: project, then items. Under the project's lock the tree stands still."""
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)


def _locked_rows(ids: Iterable[UUID]) -> list[WorkItem]:
    """Returns items locked in the order of their ids."""
    rows = WorkItem.objects.select_for_update(no_key=True, of=("self",))
    return list(rows.select_related("project", "parent").filter(pk__in=list(ids)).order_by("id"))


def _check_wholes(coming: list[WorkItem]) -> None:
    """Raises `Conflict` when something would come back below what stays out of sight."""
    inside = {item.pk for item in coming}
    for item in coming:
        whole = item.parent
        if whole is not None and whole.pk not in inside and whole.removed_at is not None:
            raise Conflict(
                f"item: {item.key} is a part of {whole.key}, which is removed. Restore "
                f"{whole.key} first.",
                field="item",
            )


def _save(items: list[WorkItem], writing: Writing) -> None:
    for item in items:
        item.version += 1
        item.updated_at = writing.now
    WorkItem.objects.bulk_update(
        items,
        [
            "removed_at", "removed_with", "removed_by", "removed_by_name", "agent_wakes",
            "wakes_stopped_at", "version", "updated_at",
        ],
    )  # fmt: skip


def _tell(
    writing: Writing, kind: ChangeKind, top: WorkItem, items: list[WorkItem], *, reason: str = ""
) -> Told:
    """Tells whom it concerns, everybody once: of the whole first, of a part who has only that."""
    snapshot: Snapshot = epochs.active()
    told = Told()
    for item in sorted(items, key=lambda item: (item.pk != top.pk, item.depth, item.number)):
        draft = writing.change(kind, item, reason=reason)
        surroundings = around(item, writing.actor, snapshot)
        if item.pk != top.pk:
            surroundings = replace(surroundings, leads=())
        one = tell(
            writing, snapshot, item, draft, happened=Happened(kind), around=surroundings,
            quote=reason, knowing=told.parties,
        )  # fmt: skip
        told.heard += one.heard
        told.parties |= one.parties
    return told


def _close(
    writing: Writing, kind: ChangeKind, top: WorkItem, items: list[WorkItem], told: Told
) -> Result:
    gone = kind is ChangeKind.REMOVED
    others = [item for item in items if item.pk != top.pk]
    also = f" with {_named(others)}" if others else ""
    event = EventType.WORK_ITEM_REMOVED if gone else EventType.WORK_ITEM_RESTORED
    tell_feed(writing, event, top, f"{writing.actor.name} {kind} {top.key} {top.title}{also}")
    for group, number in sorted(Counter(item.group for item in items).items()):
        writing.counted(
            top.project_id, group if gone else None, None if gone else group, number=number
        )
    writing.close()
    for item in items:
        live.changed(*topics_of(item), *((f"item:{item.parent.key}",) if item.parent else ()))
    live.changed("inbox")  # its open asks wait no more, or wait again
    back = " restore_work_item brings it back." if gone else ""
    return Result(
        f"{kind.value.capitalize()} {top.key} {top.title!r}{also}.{back} {told.words()}",
        (f"item:{top.key}",),
        {"key": top.key, "items": [item.key for item in items], "version": top.version},
    )


def _named(items: list[WorkItem]) -> str:
    keys = [item.key for item in sorted(items, key=lambda item: item.number)]
    more = len(keys) - NAMED
    return ", ".join(keys[:NAMED]) + (f" and {more} more" if more > 0 else "")
