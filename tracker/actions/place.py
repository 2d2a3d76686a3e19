"""`place_work_item`: a drag. The manual order of a project, and the lane an item is dropped in."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from crewlet.kernel.actions import Door, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Conflict, Invalid
from crewlet.kernel.events import EventType
from orgs import epochs
from tracker import rank
from tracker.access import in_sight, item_by_key, locked
from tracker.actions.arguments import PlaceWorkItem
from tracker.actions.around import around
from tracker.actions.recording import Writing, tell_feed, tell_pages
from tracker.actions.telling import person_spoke, tell
from tracker.actions.update import enter
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.statuses import group_of, is_finished
from tracker.wakes import ChangeKind, Happened

BATCH = 32
"""How many neighbours are spread anew at first; doubled until their keys are short again."""


@action(
    "place_work_item",
    args=PlaceWorkItem,
    doors={Door.FORM, Door.REST},
    grant=Grant.WORK_WRITE,
    fetch=lambda actor, args: item_by_key(args.item),
    label="Placed {item}",
)
def place_work_item(actor: Actor, args: PlaceWorkItem, target: WorkItem) -> Result:
    """Put an item right before or after another one of its project, and into a lane. The order
    alone touches neither version nor history; a new lane is a change of status.
    """
    if args.before and args.after:
        raise Invalid("before: name one neighbour, before or after.", field="before")
    # Lock order: project, then item. Under the project's lock the neighbours stand still, so two
    # drags into one gap read each other's key and get distinct ones.
    Project.objects.select_for_update(no_key=True).get(pk=target.project_id)
    item = locked(target)
    if item.version != args.if_match:
        raise Conflict(
            f"{item.key} was changed meanwhile (version {item.version}, not {args.if_match}).",
            field="if_match",
            current_version=item.version,
        )
    if args.before or args.after:
        _reorder(item, args)
    message = f"{item.key} has its new place."
    if args.status is not None and args.status.value != item.status:
        message = _change_lane(actor, item, args)
    else:
        tell_pages(item)
    return Result(
        message,
        (f"item:{item.key}",),
        {"key": item.key, "version": item.version, "status": item.status, "rank": item.rank},
    )


def _reorder(item: WorkItem, args: PlaceWorkItem) -> None:
    field = "before" if args.before else "after"
    neighbour = in_sight(item_by_key(args.before or args.after, field=field), field=field)
    if neighbour.project_id != item.project_id:
        raise Invalid(f"{field}: {neighbour.key} is in another project.", field=field)
    if neighbour.pk == item.pk:
        return
    others = WorkItem.objects.filter(project_id=item.project_id).exclude(pk=item.pk)
    key = rank.between(*_gap(neighbour, others, before=bool(args.before)))
    if len(key) > rank.RESPREAD_AT:
        respread(item.project_id, around=neighbour.pk, without=item.pk)
        neighbour.refresh_from_db(fields=["rank"])
        key = rank.between(*_gap(neighbour, others, before=bool(args.before)))
    WorkItem.objects.filter(pk=item.pk).update(rank=key)
    item.rank = key


def _gap(
    neighbour: WorkItem, others: QuerySet[WorkItem], *, before: bool
) -> tuple[str | None, str | None]:
    """Returns the two keys between which an item goes, in the order of the whole project."""
    ranks = others.values_list("rank", flat=True)
    if before:
        below = ranks.filter(rank__lt=neighbour.rank).order_by("-rank").first()
        return below, neighbour.rank
    above = ranks.filter(rank__gt=neighbour.rank).order_by("rank").first()
    return neighbour.rank, above


def respread(project_id: UUID, *, around: UUID, without: UUID) -> None:
    """Gives the stretch of a project's order around an item short keys again, order intact.

    The caller holds the project's lock. The stretch doubles until its new keys are short, at
    worst to the whole project.
    """
    rows = list(
        WorkItem.objects.filter(project_id=project_id)
        .exclude(pk=without)
        .order_by("rank", "id")
        .only("id", "rank")
    )
    middle = next(place for place, row in enumerate(rows) if row.pk == around)
    width = BATCH
    while True:
        start, end = max(0, middle - width), min(len(rows), middle + width)
        low = rows[start - 1].rank if start else None
        high = rows[end].rank if end < len(rows) else None
        keys = _spread(low, high, end - start)
        if keys or (start == 0 and end == len(rows)):
            break
        width *= 2
    stretch = rows[start:end]
    for row, key in zip(stretch, keys, strict=True):
        row.rank = key
    WorkItem.objects.bulk_update(stretch, ["rank"], batch_size=500)


def _spread(low: str | None, high: str | None, count: int) -> list[str]:
    """Returns new keys of at most half the limit; none when the stretch is too narrow for that."""
    keys = rank.spread(low, high, count)
    short = all(len(key) <= rank.RESPREAD_AT // 2 for key in keys)
    return keys if short or (low is None and high is None) else []


def _change_lane(actor: Actor, item: WorkItem, args: PlaceWorkItem) -> str:
    if args.status is None:
        return ""
    writing, snapshot = Writing(actor), epochs.active()
    old, was_finished = item.status, is_finished(item.status)
    person_spoke(item, writing)
    enter(item, args.status, writing)
    draft = writing.change(
        ChangeKind.STATUS, item, fields={"status": {"from": old, "to": item.status}}
    )
    finished = is_finished(item.status) and not was_finished
    told = tell(
        writing, snapshot, item, draft, happened=Happened(ChangeKind.STATUS, finished=finished),
        around=around(item, actor, snapshot),
    )  # fmt: skip
    kind = EventType.WORK_ITEM_CLOSED if finished else EventType.WORK_ITEM_UPDATED
    words = f"status {old} -> {item.status}"
    tell_feed(writing, kind, item, f"{actor.name} moved {item.key} {item.title}: {words}")
    item.version += 1
    item.updated_at = writing.now
    item.save(
        update_fields=[
            "status", "group", "status_entered_at", "finished_at", "version", "updated_at",
            "agent_wakes", "wakes_stopped_at",
        ]
    )  # fmt: skip
    writing.counted(item.project_id, group_of(old).value, item.group)
    writing.close()
    tell_pages(item)
    return f"Moved {item.key}: {words}. {told.words()}"
