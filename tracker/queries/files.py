"""Files of projects and of items as lists, and the claims they hold on the store."""

from __future__ import annotations

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


def open_bytes(row: StoredFile) -> BinaryIO:
    """Returns the bytes of a file, verified against its row."""
    return store.open_verified(row.key, row.sha256, row.size)
