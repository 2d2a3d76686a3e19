"""A file that came with a request, stored and made into the arguments of `attach_file`."""

from __future__ import annotations

from typing import Any

from crewlet.files import store
from crewlet.kernel.errors import Invalid


def upload_args(files: Any, key: str, comment: str) -> dict[str, Any]:
    """Stores the file of the field `file` and returns what attaches it to the item `key`.

    Raises `Invalid` when the request holds no such file, or more than one.
    """
    given = files.getlist("file")
    if len(given) != 1:
        raise Invalid("file: send one file as the multipart field `file`.", field="file")
    (upload,) = given
    stored = store.put(upload)
    return {
        "item": key,
        "comment": comment,
        "name": upload.name or "",
        "content_type": upload.content_type or "",
        "sha256": stored.sha256,
        "upload": store.ticket(stored),
    }
