"""Files of projects and of items as lists, and the claims they hold on the store."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO
from uuid import UUID

from crewlet.files import store
from crewlet.files.store import Reference
from crewlet.kernel.errors import NotFound
from tracker.models.files import Attachment, ProjectFile, StoredFile
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.queries.lookup import as_id

PREVIEWED = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
ATTACHMENTS = 200
SHOWN_BYTES = 8 * 1024
"""How much of a text the rail beside a page shows."""
SHOWN_MOST = 1024 * 1024
"""Larger files are not opened for that: to show a part, all of it is read and verified."""


def claims() -> Iterator[Reference]:
    """Yields what every live row claims of the store."""
    for file in ProjectFile.objects.filter(removed_at=None).select_related("project"):
        yield Reference(file.key, file.sha256, file.size, f"{file.project.key}/{file.path}")
    for attached in Attachment.objects.filter(removed_at=None).select_related("item"):
        owner = f"{attached.item.key} {attached.name}"
        yield Reference(attached.key, attached.sha256, attached.size, owner)


def project_files(
    project: Project, *, folder: str = "", after: str = "", limit: int = 50
) -> tuple[list[ProjectFile], bool]:
    """Returns a project's files by path, and whether there are more."""
    found = ProjectFile.objects.filter(project=project, removed_at=None, path__gt=after)
    if folder.strip("/"):
        found = found.filter(path__startswith=f"{folder.strip('/')}/")
    rows = list(found.order_by("path")[: limit + 1])
    return rows[:limit], len(rows) > limit


def project_file(project: Project, path: str) -> ProjectFile:
    """Returns a live file of a project; raises `NotFound` naming the path."""
    found = ProjectFile.objects.filter(project=project, path=path, removed_at=None).first()
    if found is None:
        raise NotFound(
            f"path: {project.key} has no file {path!r}. list_project_files shows what there is.",
            field="path",
        )
    return found


def attachment_of(item: WorkItem, word: str) -> Attachment:
    """Returns an attachment of an item by its id; raises `NotFound` naming the argument."""
    ident = as_id(word.strip())
    found = item.attachments.filter(pk=ident, removed_at=None).first() if ident else None
    if found is None:
        raise NotFound(f"attachment: {item.key} has no file {word!r}.", field="attachment")
    return found


def attachments(item: WorkItem) -> list[dict[str, Any]]:
    """Returns the files of an item, oldest first."""
    found = item.attachments.filter(removed_at=None).order_by("created_at", "id")
    return [attachment_row(row) for row in found[:ATTACHMENTS]]


def attachment_row(row: Attachment) -> dict[str, Any]:
    """Returns an attachment as plain data."""
    return {
        **file_data(row),
        "name": row.name,
        "comment": str(row.comment_id) if row.comment_id else None,
    }


def file_rows(files: Iterable[ProjectFile]) -> list[dict[str, Any]]:
    """Returns files of a project as plain data."""
    return [
        {**file_data(file), "path": file.path, "version": file.version,
         "updated_at": file.updated_at}
        for file in files
    ]  # fmt: skip


def file_data(row: StoredFile) -> dict[str, Any]:
    """Returns what both kinds of files show."""
    return {
        "id": str(row.pk),
        "sha256": row.sha256,
        "size": row.size,
        "content_type": row.content_type,
        "author": row.author,
        "author_name": row.author_name,
        "created_at": row.created_at,
        "url": f"/files/{row.pk}",
        "preview": f"/files/{row.pk}?preview=1" if row.content_type in PREVIEWED else "",
    }


def download(ident: UUID) -> tuple[str, str, BinaryIO]:
    """Returns name, type and verified bytes of a live file; raises `NotFound` for anything else."""
    attached = Attachment.objects.filter(pk=ident, removed_at=None).first()
    if attached is not None:
        return attached.name, attached.content_type, open_bytes(attached)
    file = ProjectFile.objects.filter(pk=ident, removed_at=None).first()
    if file is None:
        raise NotFound(f"There is no file {ident}. It may have been removed.", field="file")
    return file.path.rpartition("/")[2], file.content_type, open_bytes(file)


def peeked(word: str) -> dict[str, Any]:
    """Returns a live file, where it stands and, of a text, its beginning; raises `NotFound` for
    anything else.
    """
    attached, file = _live(word)
    if attached is not None:
        item = attached.item.key
        shown: dict[str, Any] = {
            "name": attached.name,
            "version": None,
            "owner": item,
            "page": f"/work/{item}",
        }
        return {**file_data(attached), **shown, **_beginning(attached)}
    if file is None:
        raise NotFound(f"There is no file {word}. It may have been removed.", field="file")
    key = file.project.key
    shown = {"name": file.path, "version": file.version, "owner": key, "page": f"/work/{key}/files"}
    return {**file_data(file), **shown, **_beginning(file)}


def page_of_file(word: str) -> str:
    """Returns the page on which a file stands."""
    attached, file = _live(word)
    if attached is not None:
        return f"/work/{attached.item.key}"
    return f"/work/{file.project.key}/files" if file else "/work"


def _live(word: str) -> tuple[Attachment | None, ProjectFile | None]:
    ident = as_id(word)
    if ident is None:
        return None, None
    attached = Attachment.objects.filter(pk=ident, removed_at=None).select_related("item").first()
    if attached is not None:
        return attached, None
    files = ProjectFile.objects.filter(pk=ident, removed_at=None).select_related("project")
    return None, files.first()


def _beginning(row: StoredFile) -> dict[str, Any]:
    """Returns the first part of a text; nothing of what is none or is too large to verify here."""
    if row.size > SHOWN_MOST or row.content_type in PREVIEWED:
        return {"text": "", "whole": False}
    with open_bytes(row) as stream:
        raw = stream.read(SHOWN_BYTES)
    whole = len(raw) == row.size
    try:
        text = getincrementaldecoder("utf-8")().decode(raw, final=whole)
    except UnicodeDecodeError:
        text = ""
    return {"text": "" if "\x00" in text else text, "whole": whole}


def open_bytes(row: StoredFile) -> BinaryIO:
    """Returns the bytes of a file, verified against its row."""
    return store.open_verified(row.key, row.sha256, row.size)
