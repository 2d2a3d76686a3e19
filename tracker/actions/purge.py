"""`purge_work_item`: an item is destroyed for good. Only its key and the fact are left."""

from __future__ import annotations

from pydantic import Field

from crewlet.kernel import live
from crewlet.kernel.actions import Door, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Invalid
from crewlet.kernel.events import EventType, announce, publish
from orgs import epochs
from orgs.models.notices import Notice
from tracker.access import item_by_key, locked
from tracker.actions.arguments import ItemWord, Why, Word, WorkArgs
from tracker.actions.recording import Draft, Writing, topics_of
from tracker.actions.telling import tell_purged
from tracker.actions.tree import move_under
from tracker.events import TextsChanged
from tracker.models.comments import Comment
from tracker.models.items import WorkItem
from tracker.models.projects import ItemKey, Project
from tracker.models.removal import Tombstone
from tracker.wakes import ChangeKind


class PurgeWorkItem(WorkArgs):
    """What to destroy, and why."""

    item: ItemWord
    key: Word = Field(description="The item's key once more: there is no way back.")
    reason: Why = Field(min_length=1, description="Why; the project's lead and history hear of it.")


@action(
    "purge_work_item",
    args=PurgeWorkItem,
    doors={Door.CLI},
    grant=Grant.FLEET_OPERATE,
    fetch=lambda actor, args: item_by_key(args.item),
    destructive=True,
    label="Purged {item}",
)
def purge_work_item(actor: Actor, args: PurgeWorkItem, target: WorkItem) -> Result:
    """Destroy an item for good: its rows, text, talk, history, files and entries of the search.
    Its parts move up to what it was a part of. Its key is not given again.
    """
    # Lock order: project, then items. Under the project's lock the tree stands still.
    Project.objects.select_for_update(no_key=True).get(pk=target.project_id)
    item, snapshot, writing = locked(target, removed=True), epochs.active(), Writing(actor)
    if args.key.upper() != item.key:
        raise Invalid(
            f"key: to purge {item.key} for good, type {item.key}, not {args.key!r}.", field="key"
        )
    topics = {*topics_of(item), *(f"item:{child.key}" for child in item.children.all())}
    draft = Draft(
        ChangeKind.PURGED,
        item.project,
        None,
        fields={"key": {"from": item.key, "to": None}},
        reason=args.reason,
    )
    writing.drafts.append(draft)
    parts = _move_up(writing, item)
    _destroy(writing, item, args.reason)
    lead = tell_purged(writing, snapshot, item, draft, args.reason)
    publish(
        EventType.WORK_ITEM_PURGED,
        summary=f"{actor.name} purged {item.key}: {args.reason}",
        actor=actor.author,
        seat_id=actor.seat_id,
        payload={"key": item.key},
        topics=tuple(sorted(topics)),
    )
    if item.removed_at is None:
        writing.counted(item.project_id, item.group, None)
    writing.close()
    live.changed(*sorted(topics), "inbox")
    moved = f" Moved up: {', '.join(parts)}." if parts else ""
    return Result(
        f"Purged {item.key}.{moved} {f'Told: {lead}.' if lead else 'Nobody was told.'}",
        (f"project:{item.project.key}",),
        {"key": item.key, "parts": parts, "told": lead or None},
    )


def _move_up(writing: Writing, item: WorkItem) -> list[str]:
    """Makes the parts of an item parts of what it was a part of; returns their keys."""
    children = WorkItem.objects.select_for_update(no_key=True, of=("self",)).filter(parent=item)
    rows = list(children.select_related("project").order_by("id"))
    whole = item.parent
    for child in rows:
        move_under(child, whole)
        child.version += 1
        child.updated_at = writing.now
        child.save(update_fields=["parent", "root", "depth", "version", "updated_at"])
        pair = {"from": item.key, "to": whole.key if whole else None}
        writing.change(ChangeKind.REPARENTED, child, fields={"parent": pair})
    return [child.key for child in rows]


def _destroy(writing: Writing, item: WorkItem, reason: str) -> None:
    """Deletes an item with everything that hangs on it. The bytes of its files are claimed by
    nobody from now on, so the collector of files takes them.
    """
    ident = item.pk
    keys = list(ItemKey.objects.filter(item=item).values_list("key", flat=True))
    Tombstone.objects.bulk_create(
        Tombstone(
            key=key,
            project=item.project,
            purged_at=writing.now,
            purged_by=writing.actor.name,
            reason=reason,
        )
        for key in keys
    )
    Notice.objects.filter(ref__in=[f"item:{key}" for key in keys]).delete()
    # Talk refers to itself, and a comment does not go while another one names it.
    Comment.objects.filter(item=item).update(reply_to=None, answers=None)
    WorkItem.objects.filter(pk=ident).delete()
    announce(TextsChanged((ident,)))
