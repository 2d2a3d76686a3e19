"""`update_work_item`: the fields of an item change, merged unless a version is stated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crewlet.kernel.actions import Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Conflict, Invalid
from crewlet.kernel.events import EventType
from orgs import epochs
from tracker.access import in_sight, item_by_key, locked
from tracker.actions.arguments import UpdateWorkItem
from tracker.actions.around import around
from tracker.actions.comment import watch
from tracker.actions.recording import Writing, tell_feed, tell_pages
from tracker.actions.tags import Labels, labels_for
from tracker.actions.telling import SURFACE, Told, person_spoke, tell
from tracker.actions.tree import move_under
from tracker.dates import read_due, shown
from tracker.letters import status_name
from tracker.mentions import Mentions, find
from tracker.models.items import ItemBody, Participant, ParticipantRole, WorkItem
from tracker.models.projects import Project
from tracker.roster import NOBODY, roster_of, seat_id_for, seat_party, unheard
from tracker.statuses import Status, group_of, is_finished
from tracker.wakes import ChangeKind, Happened, Party

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

SHOWN_PARTS = 10
Fields = dict[str, dict[str, Any]]


@dataclass(slots=True)
class Edit:
    """One edit under way: the locked item and what has changed on it so far."""

    writing: Writing
    snapshot: Snapshot
    args: UpdateWorkItem
    item: WorkItem
    fields: Fields
    old_text: str = ""
    labels: Labels | None = None

    @property
    def sent(self) -> set[str]:
        """The names of the arguments that were sent."""
        return self.args.model_fields_set

    def set(self, name: str, old: Any, new: Any) -> bool:
        """Notes a change; False when there is none."""
        if old == new:
            return False
        self.fields[name] = {"from": old, "to": new}
        return True


@action(
    "update_work_item",
    args=UpdateWorkItem,
    grant=Grant.WORK_WRITE,
    fetch=lambda actor, args: item_by_key(args.item),
    surface=SURFACE,
    label="Updated {item}",
)
def update_work_item(actor: Actor, args: UpdateWorkItem, target: WorkItem) -> Result:
    """Change a work item: its status as the work moves on (in_progress, in_review, done), its
    assignee to hand it over (say why in reason), priority, title, text, due date or parent. Only
    what you send changes. Setting done tells who filed it; leave a comment with the result too.
    """
    snapshot = epochs.active()
    writing = Writing(actor)
    if "parent" in args.model_fields_set or args.labels_create_missing:
        # Lock order: project, then items. The project's lock keeps two moves from closing a circle,
        # and two declarations of one tag apart.
        Project.objects.select_for_update(no_key=True).get(pk=target.project_id)
    edit = Edit(writing, snapshot, args, locked(target), {})
    _check_version(edit)
    previous = edit.item.assignee_id
    for step in (_status, _assignee, _plain_fields, _due, _labels, _parent, _body):
        step(edit)
    watching = _watch(edit)
    if not edit.fields:
        writing.close()
        message = watching or f"{edit.item.key} is that way already; nothing changed."
        return Result(message, (f"item:{edit.item.key}",), _data(edit.item))
    person_spoke(edit.item, writing)
    told, mentions = _tell(edit, previous)
    _save(edit)
    if "status" in edit.fields:
        before = group_of(edit.fields["status"]["from"]).value
        writing.counted(edit.item.project_id, before, edit.item.group)
    writing.close()
    tell_pages(edit.item, *((f"item:{edit.item.parent.key}",) if edit.item.parent else ()))
    return Result(
        message=" ".join(
            part
            for part in (
                f"Updated {edit.item.key}: {_words(edit)}.",
                watching,
                told.words(),
                unheard(mentions.unknown),
                edit.labels.words() if edit.labels else "",
            )
            if part
        ),
        refs=(f"item:{edit.item.key}",),
        data=_data(edit.item) | ({"labels_created": edit.labels.created} if edit.labels else {}),
    )


def _data(item: WorkItem) -> dict[str, Any]:
    return {"key": item.key, "version": item.version, "status": item.status}


def _check_version(edit: Edit) -> None:
    args, item = edit.args, edit.item
    if args.body is not None and args.if_match is None:
        raise Invalid(
            f"if_match: to save a text, state the version you edited ({item.key} is at "
            f"{item.version} now).",
            field="if_match",
            current_version=item.version,
        )
    if args.if_match is not None and args.if_match != item.version:
        raise Conflict(
            f"{item.key} is at version {item.version} by now, not {args.if_match}. Read it again "
            "and repeat what still applies.",
            field="if_match",
            current_version=item.version,
        )


def _status(edit: Edit) -> None:
    status = edit.args.status
    if status is None or not edit.set("status", edit.item.status, status.value):
        return
    if status is Status.DONE and edit.writing.actor.is_agent:
        _refuse_open_parts(edit.item)
    enter(edit.item, status, edit.writing)


def _refuse_open_parts(item: WorkItem) -> None:
    """An agent's whole is not done while parts of it are not; a person may call it done anyway."""
    parts = item.children.filter(removed_at=None, finished_at=None).order_by("number")
    keys = list(parts.values_list("key", flat=True)[:SHOWN_PARTS])
    if keys:
        raise Conflict(
            f"status: {item.key} is not done while parts of it are open: {', '.join(keys)}"
            f"{', …' if len(keys) == SHOWN_PARTS else ''}. Wait for them (you are told when each "
            "is finished), or cancel what is no longer wanted.",
            field="status",
            open_parts=keys,
        )


def enter(item: WorkItem, status: Status, writing: Writing) -> None:
    """Puts an item into a status; the finish stamp follows the group."""
    was_finished = is_finished(item.status)
    item.status, item.group = status.value, group_of(status).value
    item.status_entered_at = writing.now
    if is_finished(status):
        item.finished_at = item.finished_at if was_finished else writing.now
    else:
        item.finished_at = None


def _assignee(edit: Edit) -> None:
    word = edit.args.assignee
    if word is None:
        return
    new = None
    if word.casefold() not in NOBODY:
        new = seat_id_for(word, edit.snapshot, edit.writing.actor, field="assignee")
    old = edit.item.assignee_id
    if edit.set("assignee", str(old) if old else None, str(new) if new else None):
        edit.item.assignee_id = new


def _plain_fields(edit: Edit) -> None:
    args, item = edit.args, edit.item
    if args.title is not None and edit.set("title", item.title, args.title):
        item.title = args.title
    if args.priority is not None and edit.set("priority", item.priority, args.priority.value):
        item.priority = args.priority.value


def _due(edit: Edit) -> None:
    if "due" not in edit.sent:
        return
    item, zone = edit.item, edit.snapshot.timezone
    due = None
    if edit.args.due:
        due = read_due(edit.args.due, field="due", now=edit.writing.now, zone=zone)
    old = shown(item.due_at, all_day=item.due_all_day, zone=zone)
    new = shown(due.at, all_day=due.all_day, zone=zone) if due else None
    if edit.set("due", old, new):
        item.due_at, item.due_all_day = (due.at, due.all_day) if due else (None, False)


def _labels(edit: Edit) -> None:
    args, item = edit.args, edit.item
    if args.labels is None:
        return
    edit.labels = labels_for(
        edit.writing,
        item.project,
        args.labels,
        create_missing=args.labels_create_missing,
        kept=item.tags,
    )
    if edit.set("labels", item.tags, edit.labels.slugs):
        item.tags = edit.labels.slugs


def _parent(edit: Edit) -> None:
    word = edit.args.parent
    if word is None:
        return
    parent = None if word.casefold() in NOBODY else item_by_key(word, field="parent")
    if parent is not None:
        in_sight(parent, field="parent")
    old = edit.item.parent.key if edit.item.parent else None
    if edit.set("parent", old, parent.key if parent else None):
        move_under(edit.item, parent)


def _body(edit: Edit) -> None:
    text, item = edit.args.body, edit.item
    if text is None:
        return
    edit.old_text = current_text(item)
    if text == edit.old_text:
        return
    # History keeps sizes; the revisions keep the texts.
    edit.fields["body"] = {"from": len(edit.old_text), "to": len(text)}
    item.body_version += 1
    ItemBody.objects.create(
        item=item,
        version=item.body_version,
        text=text,
        author=edit.writing.actor.author,
        created_at=edit.writing.now,
    )


def current_text(item: WorkItem) -> str:
    """Returns an item's text as it is now."""
    found = item.bodies.filter(version=item.body_version).values_list("text", flat=True).first()
    return found or ""


def _watch(edit: Edit) -> str:
    """Starts or stops watching; returns what is said of it."""
    if edit.args.watch is None:
        return ""
    seat_id, item = edit.writing.actor.seat_id, edit.item
    if seat_id is None:
        raise Invalid("watch: only the holder of a seat can watch.", field="watch")
    here = Participant.objects.filter(item=item, seat_id=seat_id, role=ParticipantRole.WATCHER)
    if edit.args.watch == here.exists():
        return ""
    if edit.args.watch:
        watch(item, seat_id, edit.writing.now)
    else:
        here.delete()
    edit.writing.change(
        ChangeKind.WATCHERS,
        item,
        fields={"watching": {"from": not edit.args.watch, "to": edit.args.watch}},
    )
    return f"You {'watch' if edit.args.watch else 'no longer watch'} {item.key}."


def _kind(fields: Fields) -> ChangeKind:
    """Returns what kind of change this is: the one that matters most to people."""
    if "assignee" in fields:
        return ChangeKind.ASSIGNEE
    if "status" in fields:
        return ChangeKind.STATUS
    if "parent" in fields:
        return ChangeKind.REPARENTED
    return ChangeKind.FIELDS


def _tell(edit: Edit, previous: Any) -> tuple[Told, Mentions]:
    item, fields = edit.item, edit.fields
    kind = _kind(fields)
    finished = (
        "status" in fields
        and is_finished(item.status)
        and not is_finished(fields["status"]["from"])
    )
    mentions = _new_mentions(edit)
    surroundings = replace(
        around(item, edit.writing.actor, edit.snapshot),
        previous_assignee=seat_party(previous) if "assignee" in fields else None,
        mentioned=tuple(
            Party(seat_id=edit.snapshot.seat_ids[handle]) for handle in mentions.handles
        ),
    )
    draft = edit.writing.change(kind, item, fields=fields, reason=edit.args.reason)
    happened = Happened(kind, assigned="assignee" in fields, finished=finished)
    told = tell(
        edit.writing,
        edit.snapshot,
        item,
        draft,
        happened=happened,
        around=surroundings,
        quote=edit.args.reason,
    )
    name = edit.writing.actor.name
    closed = EventType.WORK_ITEM_CLOSED if finished else EventType.WORK_ITEM_UPDATED
    tell_feed(edit.writing, closed, item, f"{name} {_news(edit, item)}")
    return told, mentions


def _new_mentions(edit: Edit) -> Mentions:
    """Returns whom an edited text mentions that the text before did not."""
    if "body" not in edit.fields or edit.args.body is None:
        return Mentions((), ())
    roster = roster_of(edit.snapshot)
    before, after = find(edit.old_text, roster), find(edit.args.body, roster)
    return Mentions(
        tuple(handle for handle in after.handles if handle not in before.handles), after.unknown
    )


def _save(edit: Edit) -> None:
    item = edit.item
    item.version += 1
    item.updated_at = edit.writing.now
    item.save(
        update_fields=[
            "title", "body_version", "status", "group", "priority", "assignee", "parent", "root",
            "depth", "tags", "due_at", "due_all_day", "agent_wakes", "wakes_stopped_at",
            "status_entered_at", "finished_at", "updated_at", "version",
        ]
    )  # fmt: skip


def _words(edit: Edit) -> str:
    parts = []
    for name, pair in edit.fields.items():
        old, new = pair["from"], pair["to"]
        if name == "assignee":
            old, new = (_handle(edit, value) for value in (old, new))
        if name == "labels":
            old, new = ", ".join(old), ", ".join(new)
        if name in {"title", "body"}:
            parts.append(f"new {'text' if name == 'body' else name}")
        else:
            parts.append(f"{name} {old or 'none'} -> {new or 'none'}")
    return ", ".join(parts)


def _news(edit: Edit, item: WorkItem) -> str:
    """Returns what a person reads of the change in the feed."""
    whole = f"{item.key} {item.title}"
    if set(edit.fields) == {"status"}:
        return f"moved {whole} to {status_name(item.status)}"
    parts = []
    for name, pair in edit.fields.items():
        new = pair["to"]
        if name == "status":
            parts.append(f"moved to {status_name(item.status)}")
        elif name == "assignee":
            parts.append(f"assigned to {_handle(edit, new)}")
        elif name in {"title", "body"}:
            parts.append(f"new {'text' if name == 'body' else name}")
        elif name == "labels":
            parts.append(f"labels {', '.join(new) or 'none'}")
        else:
            parts.append(f"{name} {new or 'none'}")
    return f"changed {whole}: {', '.join(parts)}"


def _handle(edit: Edit, seat_id: str | None) -> str:
    for known, handle in edit.snapshot.handles.items():
        if str(known) == seat_id:
            return f"@{handle}"
    return "somebody who left" if seat_id else "nobody"
