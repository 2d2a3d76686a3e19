"""Files of a project by path, and files attached to an item: the bytes first, then the row."""

from __future__ import annotations

import base64
import binascii
import io
from dataclasses import dataclass
from typing import Any

from crewlet.files import store
from crewlet.files.store import Stored
from crewlet.kernel import live
from crewlet.kernel.actions import Door, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Conflict, Invalid
from orgs import epochs
from tracker.access import comment_on, item_by_key, locked, project_by_key, taking
from tracker.actions.file_arguments import (
    AttachFile,
    ListProjectFiles,
    PutProjectFile,
    ReadProjectFile,
    RemoveAttachment,
    RemoveProjectFile,
    WriteProjectFile,
    type_of,
)
from tracker.actions.recording import Draft, Writing, tell_pages
from tracker.models.files import Attachment, ProjectFile
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.queries import files as queries
from tracker.roster import kind_of
from tracker.wakes import ChangeKind

_CHARACTER = 4  # the most bytes that one character has


def _project(actor: Actor, args: Any) -> Project:
    """Returns the named project, else the one of the actor's team."""
    if args.project:
        return project_by_key(args.project)
    chart, handle = epochs.active().chart, actor.handle
    home = chart.home_project(handle) if handle and handle in chart.seats else None
    if home is None:
        raise Invalid("project: say which project's files.", field="project")
    return project_by_key(home)


@action(
    "list_project_files",
    args=ListProjectFiles,
    grant=Grant.STATE_READ,
    fetch=_project,
    reads=True,
    label="Listed files of {project}",
)
def list_project_files(actor: Actor, args: ListProjectFiles, target: Project) -> Result:
    """List the files of a project by path, with size, type and version. read_project_file shows
    one of them.
    """
    rows, more = queries.project_files(
        target, folder=args.folder, after=args.after, limit=args.limit
    )
    lines = [
        f"- {row.path} ({row.size} bytes, {row.content_type}, version {row.version}, "
        f"by {row.author_name})"
        for row in rows
    ]
    where = f"{target.key}/{args.folder.strip('/')}" if args.folder else target.key
    head = f"{len(rows)} files in {where}." if rows else f"There are no files in {where}."
    if more:
        lines.append(f"There are more: call again with after={rows[-1].path!r}.")
    data = {
        "project": target.key,
        "files": [_plain(row) for row in queries.file_rows(rows)],
        "next": rows[-1].path if more else None,
    }
    return Result("\n".join([head, *lines]), (f"project:{target.key}",), data)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in row.items()
    }


@action(
    "read_project_file",
    args=ReadProjectFile,
    grant=Grant.STATE_READ,
    fetch=_project,
    reads=True,
    label="Read {path}",
)
def read_project_file(actor: Actor, args: ReadProjectFile, target: Project) -> Result:
    """Read a file of a project, a page at a time: the answer says at which offset to go on. A file
    that is not text is only described, unless encoding is base64.
    """
    row = queries.project_file(target, args.path)
    with queries.open_bytes(row) as stream:
        stream.seek(args.offset)
        raw = stream.read(args.max_bytes)
    head = f"{row.path} version {row.version}, {row.content_type}, {row.size} bytes"
    data: dict[str, Any] = {**_plain(queries.file_rows([row])[0]), "offset": args.offset}
    if args.encoding == "base64":
        shown, taken = base64.b64encode(raw).decode(), len(raw)
    else:
        text = _whole_characters(raw, last=args.offset + len(raw) >= row.size)
        if text is None:
            words = f"{head}. It is not text; encoding=base64 shows its bytes."
            return Result(words, (f"project:{target.key}",), data | {"content": None, "next": None})
        shown, taken = text, len(text.encode())
    end = args.offset + taken
    more = end if end < row.size and taken else None
    where = f"{head}; bytes {args.offset} to {end}" + (f", go on at offset={more}" if more else "")
    data |= {"content": shown, "encoding": args.encoding, "next": more}
    return Result(f"{where}.\n\n{shown}", (f"project:{target.key}",), data)


def _whole_characters(raw: bytes, *, last: bool) -> str | None:
    """Returns the text of a page without a character cut in two; None for what is no text."""
    if b"\x00" in raw:
        return None
    for cut in range(1 if last else _CHARACTER):
        try:
            return raw[: len(raw) - cut].decode()
        except UnicodeDecodeError:
            continue
    return None


@action(
    "write_project_file",
    args=WriteProjectFile,
    grant=Grant.WORK_WRITE,
    fetch=_project,
    label="Wrote {path}",
)
def write_project_file(actor: Actor, args: WriteProjectFile, target: Project) -> Result:
    """Write a file of a project, whole: a new one, or the next version of one that is there. Say in
    if_version which version you read, so that nobody's work is overwritten unseen.
    """
    return _write(actor, args, target, store.put(io.BytesIO(_bytes_of(args))))


@action(
    "put_project_file",
    args=PutProjectFile,
    doors={Door.REST, Door.FORM},
    grant=Grant.WORK_WRITE,
    fetch=_project,
    label="Put {path} there",
)
def put_project_file(actor: Actor, args: PutProjectFile, target: Project) -> Result:
    """Put an uploaded file into a project: a new one, or the next version of one that is there. It
    takes what is too large to be written as text; the page of a project's files sends the bytes.
    """
    return _write(actor, args, target, _uploaded(args))


def _uploaded(args: PutProjectFile | AttachFile) -> Stored:
    stored = store.redeem(args.upload)
    if stored.sha256 != args.sha256:
        raise Invalid(
            "sha256: the upload has other bytes than stated. Send the file again.", field="sha256"
        )
    return stored


def _write(
    actor: Actor, args: WriteProjectFile | PutProjectFile, target: Project, stored: Stored
) -> Result:
    # Lock order: the project first. It keeps two writers of one path apart.
    project = taking(Project.objects.select_for_update(no_key=True).get(pk=target.pk))
    known = ProjectFile.objects.filter(project=project, path=args.path, removed_at=None).first()
    _check_version(args.path, args.if_version, known)
    writing = Writing(actor)
    row = _land(writing, project, args, stored, known)
    _note(writing, project, ChangeKind.FILE_WRITTEN, row)
    return Result(
        f"Wrote {project.key}/{row.path}: version {row.version}, {row.size} bytes.",
        (f"project:{project.key}",),
        _plain(queries.file_rows([row])[0]),
    )


def _bytes_of(args: WriteProjectFile) -> bytes:
    if args.encoding == "text":
        return args.content.encode("utf-8", "replace")
    try:
        return base64.b64decode(args.content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Invalid(f"content: this is not base64 ({error}).", field="content") from error


def _check_version(path: str, stated: int | None, known: ProjectFile | None) -> None:
    current = known.version if known else 0
    if stated is None or stated == current:
        return
    words = f"is at version {current} by now" if known else "is not there (version 0)"
    raise Conflict(
        f"if_version: {path} {words}, not {stated}. Read it again and repeat what still applies.",
        field="if_version",
        current_version=current,
    )


def _land(
    writing: Writing,
    project: Project,
    args: WriteProjectFile | PutProjectFile,
    stored: Stored,
    known: ProjectFile | None,
) -> ProjectFile:
    row = known or ProjectFile(project=project, path=args.path, version=0, created_at=writing.now)
    _sign(row, writing.actor, stored, type_of(args.path, args.content_type))
    row.version, row.updated_at = row.version + 1, writing.now
    row.save()
    return row


def _sign(row: ProjectFile | Attachment, actor: Actor, stored: Stored, content_type: str) -> None:
    row.key, row.sha256, row.size = stored.key, stored.sha256, stored.size
    row.content_type = content_type
    row.author, row.author_name, row.author_kind = actor.author, actor.name, kind_of(actor)


def _note(writing: Writing, project: Project, kind: ChangeKind, row: ProjectFile) -> None:
    writing.drafts.append(
        Draft(kind, project, None, fields={"version": {"from": None, "to": row.version}},
              excerpt=row.path)
    )  # fmt: skip
    writing.close()
    live.changed(f"project:{project.key}", "work")


@action(
    "remove_project_file",
    args=RemoveProjectFile,
    grant=Grant.WORK_WRITE,
    fetch=_project,
    destructive=True,
    label="Removed {path}",
)
def remove_project_file(actor: Actor, args: RemoveProjectFile, target: Project) -> Result:
    """Remove a file of a project. Its bytes go a day later; nobody can read it from now on."""
    project = Project.objects.select_for_update(no_key=True).get(pk=target.pk)
    row = queries.project_file(project, args.path)
    _check_version(args.path, args.if_version, row)
    writing = Writing(actor)
    row.removed_at = writing.now
    row.save(update_fields=["removed_at"])
    _note(writing, project, ChangeKind.FILE_REMOVED, row)
    return Result(f"Removed {project.key}/{row.path}.", (f"project:{project.key}",))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an attachment goes."""

    item: WorkItem
    comment_id: Any = None


def _place(actor: Actor, args: AttachFile) -> _Place:
    item = item_by_key(args.item)
    comment = comment_on(item, args.comment, field="comment") if args.comment else None
    return _Place(item, comment.pk if comment else None)


@action(
    "attach_file",
    args=AttachFile,
    doors={Door.REST, Door.FORM},
    grant=Grant.WORK_WRITE,
    fetch=_place,
    label="Attached {name}",
)
def attach_file(actor: Actor, args: AttachFile, target: _Place) -> Result:
    """Attach an uploaded file to an item or to one of its comments. The upload is the ticket that
    sending the bytes to work/{key}/attachments gave; that address does both in one request.
    """
    stored = _uploaded(args)
    taking(target.item.project, field="item")
    writing, item = Writing(actor), locked(target.item)
    row = Attachment(
        item=item, comment_id=target.comment_id, name=args.name, created_at=writing.now
    )
    _sign(row, actor, stored, type_of(args.name, args.content_type))
    row.save()
    return _told(writing, item, ChangeKind.FILE_WRITTEN, row, f"Attached {row.name} to {item.key}.")


@action(
    "remove_attachment",
    args=RemoveAttachment,
    doors=Doors.PEOPLE,
    grant=Grant.WORK_WRITE,
    fetch=lambda actor, args: item_by_key(args.item),
    destructive=True,
    label="Removed a file from {item}",
)
def remove_attachment(actor: Actor, args: RemoveAttachment, target: WorkItem) -> Result:
    """Take a file off an item. Its bytes go a day later."""
    writing, item = Writing(actor), locked(target)
    row = queries.attachment_of(item, args.attachment)
    row.removed_at = writing.now
    row.save(update_fields=["removed_at"])
    return _told(
        writing, item, ChangeKind.FILE_REMOVED, row, f"Removed {row.name} from {item.key}."
    )


def _told(
    writing: Writing, item: WorkItem, kind: ChangeKind, row: Attachment, words: str
) -> Result:
    writing.change(kind, item, excerpt=row.name)
    writing.close()
    tell_pages(item)
    return Result(words, (f"item:{item.key}",), {"id": str(row.pk), "url": f"/files/{row.pk}"})
