"""A file that came with a request, made into the arguments of the action that takes it."""

from __future__ import annotations

from typing import Any

from django.template.defaultfilters import filesizeformat

from crewlet.files import store
from crewlet.kernel.errors import CrewletError, ErrorCode, Invalid


def _only(files: Any) -> Any:
    """Returns the file of the field `file`; raises `Invalid` for none, or more than one."""
    given = files.getlist("file")
    if len(given) != 1:
        raise Invalid("file: send one file as the multipart field `file`.", field="file")
    return given[0]


def put_args(files: Any, project: str, path: str) -> dict[str, Any]:
    """Stores the file of the field `file` and returns what puts it into a project, under its own
    name unless `path` says otherwise; a path that ends in a slash is the folder to put it in.

    Raises `Invalid` and `too_large` as `upload_args`.
    """
    upload = _only(files)
    place = path.strip()
    return {
        "project": project,
        "path": f"{place}{upload.name}" if not place or place.endswith("/") else place,
        **_stored(upload),
    }


def upload_args(files: Any, key: str, comment: str) -> dict[str, Any]:
    """Stores the file of the field `file` and returns what attaches it to the item `key`.

    Raises `Invalid` when the request holds no such file, or more than one, and `too_large` for one
    past the limit of every file.
    """
    upload = _only(files)
    return {"item": key, "comment": comment, "name": upload.name or "", **_stored(upload)}


def _stored(upload: Any) -> dict[str, str]:
    """Stores the bytes as they come, in pieces, and returns what names them in an action."""
    if upload.size > store.MAX_BYTES:
        raise CrewletError(
            f"{upload.name} has {filesizeformat(upload.size)}; a file has at most "
            f"{filesizeformat(store.MAX_BYTES)}. Make it smaller, or link to where it is kept.",
            code=ErrorCode.TOO_LARGE,
            field="file",
            limit=store.MAX_BYTES,
        )
    stored = store.put(upload)
    return {
        "content_type": upload.content_type or "",
        "sha256": stored.sha256,
        "upload": store.ticket(stored),
    }
