"""`list_projects` and `write_project`: the directory, and what people set on a project."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from crewlet.kernel import live
from crewlet.kernel.actions import Args, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Forbidden
from crewlet.kernel.events import EventType, publish
from orgs import epochs
from tracker.access import project_by_key
from tracker.actions.arguments import Label, LabelList, Word, WorkArgs
from tracker.actions.recording import Draft, Writing
from tracker.actions.tags import archive, declare, rename
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.models.tags import Tag
from tracker.queries.projects import directory
from tracker.queries.tags import TagBook, tag_rows, tags_by_project
from tracker.roster import NOBODY, is_person, seat_id_for
from tracker.wakes import ChangeKind

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

TAGS_SHOWN = 20
RETOLD = 200
"""Of how many items the open pages are told that a label is another one."""


class ListProjects(WorkArgs):
    """Which projects to list."""

    q: Word = Field(default="", description="A piece of the key, the name or the purpose.")
    unit: Word = Field(default="", description="Id or name of a unit.")
    archived: Literal["false", "only", "true"] = Field(
        default="false", description="only: just the archived ones; true: all."
    )
    sort: Word = Field(
        default="",
        description="key, name, unit, open, done, closed or last_change; - turns it round.",
    )


class TagDeclaration(Args):
    """A tag to declare."""

    label: Label = Field(description="How it reads; no comma.")
    slug: Word = Field(default="", description="Its fixed name. Left out: made from the label.")


class WriteProject(WorkArgs):
    """What to set on a project. Only what is sent changes."""

    project: Word = Field(description="Key of the project, such as ENG.", min_length=1)
    archived: bool | None = Field(
        default=None, description="true: takes no new item or file; false: takes them again."
    )
    default_assignee: Word | None = Field(
        default=None, description="Handle of who gets new items without an assignee, or 'none'."
    )
    tags_add: tuple[TagDeclaration, ...] = Field(
        default=(), max_length=64, description="Tags to declare: [{label, slug}]."
    )
    tags_rename: dict[str, Label] = Field(
        default_factory=dict, description="New labels by slug; the slugs stay."
    )
    tags_archive: LabelList = Field(
        default=(), description="Tags that go on no further item, for good."
    )


@dataclass(slots=True)
class _Edit:
    """One edit under way: the locked project, what changed on it and what is said of it."""

    writing: Writing
    snapshot: Snapshot
    args: WriteProject
    project: Project
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    retold: list[str] = field(default_factory=list)


@action(
    "list_projects", args=ListProjects, grant=Grant.STATE_READ, reads=True, label="Listed projects"
)
def list_projects(actor: Actor, args: ListProjects, target: None) -> Result:
    """List the projects with what is open, who leads them, the newest change and their tags. Tags
    are what labels= of an item takes.
    """
    given = {"q": args.q, "unit": args.unit, "archived": args.archived, "sort": args.sort}
    found = directory(actor, given)
    tags = tags_by_project([row["key"] for row in found.rows])
    rows = [_plain(row) | {"tags": tags.get(row["key"], [])} for row in found.rows]
    lines = [_line(row) for row in rows] or ["No project matches."]
    return Result("\n".join(lines), (), {
        "projects": rows, "total": len(rows), "census": found.census,
    })  # fmt: skip


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row of the directory as JSON."""
    change = row["last_change"]
    return {
        name: row[name] for name in ("key", "name", "purpose", "unit", "counts", "archived", "left")
    } | {
        "lead": row["lead"]["handle"] if row["lead"] else None,
        "default_assignee": row["default_assignee"]["handle"] if row["default_assignee"] else None,
        "last_change": change | {"at": change["at"].isoformat()} if change else None,
    }


def _line(row: dict[str, Any]) -> str:
    counts, tags = row["counts"], [tag["slug"] for tag in row["tags"] if not tag["archived"]]
    shown = ", ".join(tags[:TAGS_SHOWN]) + (
        f" and {len(tags) - TAGS_SHOWN} more" if len(tags) > TAGS_SHOWN else ""
    )
    parts = [
        f"- {row['key']} {row['name']} ({row['unit']})",
        f"{counts['todo'] + counts['active']} open, {counts['done']} done",
        f"lead @{row['lead']}" if row["lead"] else "",
        "archived" if row["archived"] else "",
        f"tags: {shown}" if tags else "",
    ]
    return "; ".join(part for part in parts if part)


@action(
    "write_project",
    args=WriteProject,
    grant=Grant.WORK_WRITE,
    fetch=lambda actor, args: project_by_key(args.project),
    label="Changed project {project}",
)
def write_project(actor: Actor, args: WriteProject, target: Project) -> Result:
    """Declare tags of a project (tags_add), which any seat may. Its lead or a person also renames
    and archives tags, sets who gets new items, and archives the project or takes it back. Name,
    purpose and lead follow the org chart.
    """
    snapshot = epochs.active()
    # Lock order: the project first, before any item.
    project = Project.objects.select_for_update(no_key=True).get(pk=target.pk)
    edit = _Edit(Writing(actor), snapshot, args, project)
    _check_may(edit)
    for step in (_archived, _default_assignee, _tags_add, _tags_change):
        step(edit)
    if not edit.fields:
        return Result(
            " ".join(["Nothing changed.", *edit.said]), (f"project:{project.key}",), _data(edit)
        )
    project.version += 1
    project.updated_at = edit.writing.now
    project.save(update_fields=["archived_at", "default_assignee", "version", "updated_at"])
    _tell(edit)
    return Result(
        f"Changed {project.key}: {' '.join(edit.said)}", (f"project:{project.key}",), _data(edit)
    )


def _check_may(edit: _Edit) -> None:
    actor, args = edit.writing.actor, edit.args
    # By value, not by what was sent: some models fill in every optional argument.
    for_leads = [
        name
        for name in ("archived", "default_assignee", "tags_rename", "tags_archive")
        if getattr(args, name) not in (None, (), {})
    ]
    if is_person(actor) or not for_leads:
        return
    lead = edit.snapshot.handles.get(edit.project.lead_id) if edit.project.lead_id else None
    if lead and actor.handle in {lead, *_above(edit.snapshot, actor, lead)}:
        return
    who = f"@{lead}, who leads it" if lead else "a person"
    raise Forbidden(
        f"{for_leads[0]}: only the lead of {edit.project.key} or a person may do this. Ask {who}."
    )


def _above(snapshot: Snapshot, actor: Actor, lead: str) -> set[str]:
    handle = actor.handle
    return {handle} if handle and snapshot.chart.is_above(handle, lead) else set()


def _archived(edit: _Edit) -> None:
    wanted, project = edit.args.archived, edit.project
    was = project.archived_at is not None
    if wanted is None or wanted == was:
        return
    edit.fields["archived"] = {"from": was, "to": wanted}
    project.archived_at = edit.writing.now if wanted else None
    edit.said.append(
        "archived; it takes no new item or file." if wanted else "it takes new work again."
    )


def _default_assignee(edit: _Edit) -> None:
    word, project = edit.args.default_assignee, edit.project
    if word is None:
        return
    new = None
    if word.casefold() not in NOBODY:
        new = seat_id_for(word, edit.snapshot, edit.writing.actor, field="default_assignee")
    old = project.default_assignee_id
    if new == old:
        return
    edit.fields["default_assignee"] = {
        "from": str(old) if old else None, "to": str(new) if new else None,
    }  # fmt: skip
    project.default_assignee_id = new
    name = f"@{edit.snapshot.handles[new]}" if new else "nobody (its lead is told)"
    edit.said.append(f"new items without an assignee go to {name}.")


def _tags_add(edit: _Edit) -> None:
    wanted = [(tag.label, tag.slug) for tag in edit.args.tags_add]
    if not wanted:
        return
    new, warnings = declare(edit.writing, edit.project, wanted, "tags_add")
    if new:
        slugs = [tag.slug for tag in new]
        edit.fields["tags_added"] = {"from": None, "to": slugs}
        edit.said.append(f"new tags {', '.join(slugs)}.")
    edit.said += warnings


def _tags_change(edit: _Edit) -> None:
    if not edit.args.tags_rename and not edit.args.tags_archive:
        return
    book = TagBook.of(edit.project)
    for tag, old in rename(book, edit.args.tags_rename):
        edit.fields[f"tag {tag.slug}"] = {"from": old, "to": tag.label}
        edit.said.append(f"the tag {tag.slug} reads {tag.label!r} now.")
        edit.retold.append(tag.slug)
    gone = [tag.slug for tag in archive(edit.writing, book, edit.args.tags_archive)]
    if gone:
        edit.fields["tags_archived"] = {"from": None, "to": gone}
        edit.said.append(f"archived the tags {', '.join(gone)}; items that have them keep them.")


def _tell(edit: _Edit) -> None:
    project, actor = edit.project, edit.writing.actor
    edit.writing.drafts.append(Draft(ChangeKind.PROJECT_UPDATED, project, None, fields=edit.fields))
    topics = (f"project:{project.key}", "work", "home")
    publish(
        EventType.PROJECT_UPDATED,
        summary=f"{actor.name} changed project {project.key}: {' '.join(edit.said)}",
        actor=actor.author,
        seat_id=actor.seat_id,
        topics=topics,
        payload={"key": project.key, "changed": sorted(edit.fields)},
    )
    if edit.retold:
        showing = WorkItem.objects.filter(project=project, tags__overlap=edit.retold)
        keys = showing.order_by("-updated_at", "-id").values_list("key", flat=True)[:RETOLD]
        live.changed(*(f"item:{key}" for key in keys))
    edit.writing.close()


def _data(edit: _Edit) -> dict[str, Any]:
    project = edit.project
    return {
        "key": project.key,
        "version": project.version,
        "archived": project.archived_at is not None,
        "tags": tag_rows(Tag.objects.filter(project=project).order_by("folded", "id")),
    }
