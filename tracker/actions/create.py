"""`create_work_item`: an item is filed, gets its key, and reaches whom it concerns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection

from crewlet.kernel.actions import Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Invalid
from crewlet.kernel.events import EventType
from orgs import epochs
from tracker import rank
from tracker.access import in_sight, item_by_key, project_by_key, taking
from tracker.actions.arguments import CreateWorkItem
from tracker.actions.around import around
from tracker.actions.comment import Saying, say
from tracker.actions.recording import Writing, tell_feed, tell_pages
from tracker.actions.tags import Labels, labels_for
from tracker.actions.telling import SURFACE, Told, tell
from tracker.dates import Due, read_due
from tracker.mentions import find
from tracker.models.items import DEEPEST, ItemBody, WorkItem
from tracker.models.projects import ItemKey, Project
from tracker.roster import NOBODY, roster_of, seat_id_for, unheard
from tracker.statuses import group_of, is_finished
from tracker.wakes import ChangeKind, Happened, Party

if TYPE_CHECKING:
    from orgs.epochs import Snapshot


@dataclass(frozen=True, slots=True)
class Filed:
    """What filing an item did."""

    item: WorkItem
    told: Told
    unheard: str
    labels: Labels


@action(
    "create_work_item",
    args=CreateWorkItem,
    grant=Grant.WORK_WRITE,
    surface=SURFACE,
    label="Filed {item}",
)
def create_work_item(actor: Actor, args: CreateWorkItem, target: None) -> Result:
    """File a new work item: a goal, a task, a part of a bigger item (parent). Assigning it wakes
    the assignee, so write what they need to start: context and what done means. Look with
    list_work_items first whether it is filed already. The answer gives its key.
    """
    snapshot = epochs.active()
    filed = file_item(actor, args, snapshot)
    item = filed.item
    owner = f"@{snapshot.handles[item.assignee_id]}" if item.assignee_id else "nobody (triage)"
    return Result(
        message=" ".join(
            part
            for part in (
                f"Created {item.key} {item.title!r} in {item.project.key}: {item.status}, "
                f"assigned to {owner}.",
                filed.told.words(),
                filed.unheard,
                filed.labels.words(),
            )
            if part
        ),
        refs=(f"item:{item.key}",),
        data={"key": item.key, "id": str(item.pk), "version": item.version, "status": item.status,
              "assignee": snapshot.handles.get(item.assignee_id) if item.assignee_id else None,
              "labels": filed.labels.slugs, "labels_created": filed.labels.created},
    )  # fmt: skip


def file_item(actor: Actor, args: CreateWorkItem, snapshot: Snapshot) -> Filed:
    """Files an item in the caller's transaction and tells whom it concerns."""
    writing = Writing(actor)
    parent = item_by_key(args.parent, field="parent") if args.parent else None
    project = taking(_project(actor, args, snapshot, parent))
    if parent is not None:
        _check_parent(parent, project)
    if args.decision is not None and not args.ask:
        raise Invalid("decision: name in ask who is to decide.", field="ask")
    assignee = _assignee(actor, args, snapshot, project)
    due = (
        read_due(args.due, field="due", now=writing.now, zone=snapshot.timezone)
        if args.due
        else None
    )
    labels = labels_for(writing, project, args.labels, create_missing=args.labels_create_missing)
    item = _insert(
        writing, args, project, parent=parent, assignee=assignee, due=due, tags=labels.slugs
    )
    draft = writing.change(
        ChangeKind.CREATED,
        item,
        fields={"status": {"from": None, "to": item.status}}
        | ({"assignee": {"from": None, "to": str(assignee)}} if assignee else {}),
        excerpt=args.body,
    )
    mentions = find(args.body, roster_of(snapshot))
    surroundings = replace(
        around(item, actor, snapshot, new=True),
        mentioned=tuple(Party(seat_id=snapshot.seat_ids[name]) for name in mentions.handles),
    )
    told = tell(
        writing, snapshot, item, draft, happened=Happened(ChangeKind.CREATED), around=surroundings,
        quote=args.body or item.title,
    )  # fmt: skip
    tell_feed(
        writing, EventType.WORK_ITEM_CREATED, item, f"{actor.name} filed {item.key} {item.title}"
    )
    if args.ask:
        said = say(
            writing,
            snapshot,
            item,
            Saying(
                body=args.decision.question if args.decision else item.title,
                ask=args.ask,
                decision=args.decision,
            ),
        )
        told.heard += [entry for entry in said.told.heard if entry not in told.heard]
        told.held_back += [name for name in said.told.held_back if name not in told.held_back]
    if item.agent_wakes:  # a person's own item was inserted with the count that it keeps
        item.save(update_fields=["agent_wakes", "wakes_stopped_at"])
    writing.counted(item.project_id, None, item.group)
    writing.close()
    tell_pages(item, *((f"item:{parent.key}",) if parent else ()))
    return Filed(item, told, unheard(mentions.unknown), labels)


def _project(
    actor: Actor, args: CreateWorkItem, snapshot: Snapshot, parent: WorkItem | None
) -> Project:
    if args.project:
        return project_by_key(args.project)
    if parent is not None:
        return parent.project
    handle = actor.handle
    known = handle is not None and handle in snapshot.chart.seats
    home = snapshot.chart.home_project(handle) if known and handle else None
    if home is not None:
        return project_by_key(home)
    open_ones = Project.objects.filter(archived_at=None).order_by("key")
    keys = list(open_ones.values_list("key", flat=True)[:50])
    if len(keys) == 1:
        return project_by_key(keys[0])
    raise Invalid(
        "project: say in which project to file it"
        + (f": {', '.join(keys)}." if keys else "; the org chart declares none yet."),
        field="project",
        allowed=keys,
    )


def _check_parent(parent: WorkItem, project: Project) -> None:
    if parent.project_id != project.pk:
        raise Invalid(
            f"parent: {parent.key} is in {parent.project.key}; a part lives in the project of its "
            "whole.",
            field="parent",
        )
    if parent.depth >= DEEPEST:
        raise Invalid(
            f"parent: {parent.key} is {DEEPEST} levels deep already; file it higher up.",
            field="parent",
        )


def _assignee(
    actor: Actor, args: CreateWorkItem, snapshot: Snapshot, project: Project
) -> UUID | None:
    if args.assignee is None:
        default = project.default_assignee_id
        return default if default in snapshot.handles else None
    if args.assignee.casefold() in NOBODY:
        return None
    return seat_id_for(args.assignee, snapshot, actor, field="assignee")


# One row lock gives the number and orders what appends to the project's manual order.
_NUMBER = """
UPDATE tracker_project SET next_number = next_number + 1
WHERE id = %s AND archived_at IS NULL RETURNING next_number - 1
"""


def _insert(
    writing: Writing,
    args: CreateWorkItem,
    project: Project,
    *,
    parent: WorkItem | None,
    assignee: UUID | None,
    due: Due | None,
    tags: list[str],
) -> WorkItem:
    actor, now = writing.actor, writing.now
    with connection.cursor() as cursor:
        cursor.execute(_NUMBER, (project.pk,))
        row = cursor.fetchone()
    if parent is not None:  # removed since it was read; the project's lock keeps it now
        parent.refresh_from_db(fields=["removed_at", "removed_by_name"])
        in_sight(parent, field="parent")
    if row is None:  # archived since it was read
        project.refresh_from_db(fields=["archived_at"])
        taking(project)
    number = int(row[0])
    last = project.items.order_by("-rank").values_list("rank", flat=True).first()
    seatless = actor.seat_id is None
    item = WorkItem.objects.create(
        project=project,
        number=number,
        key=f"{project.key}-{number}",
        title=args.title,
        body_version=1 if args.body else 0,
        status=args.status.value,
        group=group_of(args.status).value,
        priority=args.priority.value,
        assignee_id=assignee,
        reporter_id=actor.seat_id,
        reporter_person_id=actor.person_id if seatless else None,
        reporter_author=actor.author,
        reporter_name=actor.name,
        parent=parent,
        root_id=(parent.root_id or parent.pk) if parent else None,
        depth=parent.depth + 1 if parent else 1,
        due_at=due.at if due else None,
        due_all_day=due.all_day if due else False,
        tags=tags,
        rank=rank.between(last, None),
        status_entered_at=now,
        finished_at=now if is_finished(args.status) else None,
        created_at=now,
        updated_at=now,
    )
    ItemKey.objects.create(key=item.key, item=item, created_at=now)
    if args.body:
        ItemBody.objects.create(
            item=item, version=1, text=args.body, author=actor.author, created_at=now
        )
    return item
