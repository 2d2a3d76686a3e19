"""What the tracker does when something happens below it, inside the transaction of the fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.events import SpendAdded, TurnFailed
from crewlet.kernel import clock, live
from crewlet.kernel.actors import Actor, ActorKind, engine_actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.events import EventType, publish, receiver
from orgs import epochs
from orgs.events import CompanyApplied, DemoCreated
from tracker.access import locked
from tracker.actions.arguments import CreateWorkItem
from tracker.actions.around import reporter_of
from tracker.actions.create import file_item
from tracker.actions.recording import Writing, tell_pages
from tracker.actions.telling import system_comment, tell_note
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.models.spend import TurnCharge
from tracker.wakes import Party

if TYPE_CHECKING:
    from orgs.chart import ProjectOwner
    from orgs.epochs import Snapshot

NATIVE = "native"


@receiver(CompanyApplied, order=30)
def projects_follow_the_chart(fact: CompanyApplied) -> None:
    """Creates the projects that the chart declares and brings the others in line with it.

    The caller holds the company row, so one apply at a time is here.
    """
    now, snapshot = clock.now(), fact.after
    declared = snapshot.chart.projects()
    known = {project.key: project for project in Project.objects.order_by("key")}
    for key, owner in declared.items():
        wanted = _facts_of(owner, snapshot)
        project = known.get(key)
        if project is None:
            Project.objects.create(key=key, created_at=now, updated_at=now, **wanted)
            publish(
                EventType.PROJECT_CREATED,
                summary=f"Project {key} {wanted['name']} was created",
                topics=("work", f"project:{key}"),
                payload={"key": key},
            )
        else:
            _bring_in_line(project, wanted | {"left_chart_at": None}, fact)
    for key, project in known.items():
        if key not in declared and project.left_chart_at is None:
            _bring_in_line(project, {"left_chart_at": now, "lead_id": None}, fact)
    live.changed("work")


def _facts_of(owner: ProjectOwner, snapshot: Snapshot) -> dict[str, Any]:
    lead = snapshot.seat_ids.get(owner.lead) if owner.lead else None
    if owner.unit is not None:
        unit = snapshot.chart.units[owner.unit]
        return {
            "name": unit.name,
            "purpose": unit.purpose or "",
            "unit_key": unit.key,
            "unit_name": unit.name,
            "owner_seat_id": None,
            "lead_id": lead,
        }
    seat = snapshot.chart.seats[owner.seat or ""]
    return {
        "name": seat.name,
        "purpose": seat.goal or "",
        "unit_key": "",
        "unit_name": "",
        "owner_seat_id": snapshot.seat_ids[seat.handle],
        "lead_id": lead,
    }


def _bring_in_line(project: Project, wanted: dict[str, Any], fact: CompanyApplied) -> None:
    changed = [name for name, value in wanted.items() if getattr(project, name) != value]
    if not changed:
        return
    for name in changed:
        setattr(project, name, wanted[name])
    project.version += 1
    project.updated_at = clock.now()
    project.save(update_fields=[*changed, "version", "updated_at"])
    publish(
        EventType.PROJECT_UPDATED,
        summary=f"Project {project.key} follows epoch {fact.epoch}",
        topics=("work", f"project:{project.key}"),
        payload={"key": project.key, "changed": changed},
    )


@receiver(DemoCreated, order=30)
def first_goal_is_filed(fact: DemoCreated) -> None:
    """Files the demo's first goal as its founder, so that work shows by itself."""
    snapshot = epochs.active()
    handle = snapshot.handles[fact.founder_seat_id]
    founder = Actor(
        kind=ActorKind.PERSON,
        login=handle,
        name=snapshot.chart.seats[handle].name,
        grants=frozenset({Grant.WORK_WRITE}),
        credential="demo",
        seat_id=fact.founder_seat_id,
        handle=handle,
    )
    goal = CreateWorkItem(
        title=fact.goal_title, body=fact.goal_body, project=fact.project, assignee=fact.assignee
    )
    file_item(founder, goal, snapshot)


@receiver(SpendAdded, order=30)
def spend_lands_on_the_item(fact: SpendAdded) -> None:
    """Adds what a stretch of a turn cost to the item it is charged to, once."""
    item = _item_of(fact.work_item)
    if item is None:
        return
    item = locked(item, removed=True)  # what a turn cost was spent all the same
    # Under the item's lock: whoever else charges this turn to it waits here.
    charged = set(
        TurnCharge.objects.filter(item=item, turn_id=fact.turn_id).values_list("op_id", flat=True)
    )
    if fact.op_id in charged:
        return
    TurnCharge.objects.create(
        op_id=fact.op_id,
        item=item,
        turn_id=fact.turn_id,
        seat_id=fact.seat_id,
        tokens_in=fact.tokens_in,
        tokens_out=fact.tokens_out,
        calls=fact.calls,
        at=clock.now(),
    )
    first_of_turn = not charged
    item.turns += int(first_of_turn)
    item.tokens_in += fact.tokens_in
    item.tokens_out += fact.tokens_out
    item.save(update_fields=["turns", "tokens_in", "tokens_out"])
    tell_pages(item)


@receiver(TurnFailed, order=30)
def failure_is_said_on_the_item(fact: TurnFailed) -> None:
    """Says on the item how a turn ended and what to do, and tells whoever waits for it there.

    The people above the seat hear of it from the runtime itself.
    """
    item = _item_of(fact.work_item)
    if item is None:
        return
    item = locked(item, removed=True)
    if item.removed_at is not None:
        return  # nobody waits there; the runtime itself tells the people above the seat
    snapshot, writing = epochs.active(), Writing(engine_actor("turn"))
    ended = "was stopped" if fact.stopped_by else "failed"
    body = f"A turn of @{fact.handle} ({fact.name}) on this item {ended}. {fact.message}"
    system_comment(item, body, writing, turn_id=fact.turn_id)
    for party in _waiting(fact, item, snapshot):
        tell_note(writing, snapshot, item, party, body, event=fact.event_id, reason="turn_failed")
    tell_pages(item)


def _waiting(fact: TurnFailed, item: WorkItem, snapshot: Snapshot) -> list[Party]:
    """Returns who waits for a turn's answer on the item: who asked, and who filed the item."""
    if fact.reply_kind != "tool":
        return []
    asker = snapshot.seat_ids.get(str(fact.trigger.get("actor", "")))
    waiting = [Party(seat_id=asker) if asker else None, reporter_of(item)]
    knowing = {fact.seat_id, snapshot.seat_ids.get(fact.stopped_by)}
    present = dict.fromkeys(
        party
        for party in waiting
        if party is not None and (party.seat_id is None or party.seat_id not in knowing)
        and (party.person_id is not None or party.seat_id in snapshot.handles)
    )  # fmt: skip
    return list(present)


def _item_of(work_item: Any) -> WorkItem | None:
    """Returns the item that a turn is charged to; one that it only wrote to is known by key."""
    if not work_item or work_item.get("backend") != NATIVE:
        return None
    items = WorkItem.objects.select_related("project")
    if work_item.get("id"):
        return items.filter(pk=work_item["id"]).first()
    return items.filter(key=work_item["key"]).first()
