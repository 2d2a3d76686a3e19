"""A file that came with a request, made into the arguments of the action that takes it."""

from __future__ import annotations

import base64
from typing import Any

from crewlet.files import store
from crewlet.kernel.errors import CrewletError, ErrorCode, Invalid
from tracker.actions.file_arguments import CONTENT_BYTES

PROJECT_BYTES = CONTENT_BYTES // 4 * 3
"""The most that fits into one call once its bytes are spelled as base64."""


def _only(files: Any) -> Any:
    """Returns the file of the field `file`; raises `Invalid` for none, or more than one."""
    given = files.getlist("file")
    if len(given) != 1:
        raise Invalid("file: send one file as the multipart field `file`.", field="file")
    return given[0]


def written_args(files: Any, project: str, path: str) -> dict[str, Any]:
    """Returns what writes the file of the field `file` into a project, under its own name unless
    `path` says otherwise; a path that ends in a slash is the folder to put it in.

    Raises `Invalid` as `upload_args`, and `too_large` for more than one call takes.
    """
    upload = _only(files)
    if upload.size > PROJECT_BYTES:
        raise CrewletError(
            f"{upload.name} has {upload.size} bytes; a file of a project has at most "
            f"{PROJECT_BYTES}. Attach it to an item instead.",
            code=ErrorCode.TOO_LARGE,
            field="file",
            limit=PROJECT_BYTES,
        )
    place = path.strip()
    return {
        "project": project,
        "path": f"{place}{upload.name}" if not place or place.endswith("/") else place,
        "content": base64.b64encode(upload.read()).decode(),
        "encoding": "base64",
        "content_type": upload.content_type or "",
    }


def upload_args(files: Any, key: str, comment: str) -> dict[str, Any]:
    """Stores the file of the field `file` and returns what attaches it to the item `key`.

    Raises `Invalid` when the request holds no such file, or more than one.
    """
    upload = _only(files)
    stored = store.put(upload)
    return {
        "item": key,
        "comment": comment,
        "name": upload.name or "",
        "content_type": upload.content_type or "",
        "sha256": stored.sha256,
        "upload": store.ticket(stored),
    }
