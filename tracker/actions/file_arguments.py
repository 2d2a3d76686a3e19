"""What the verbs of files take. Descriptions are read by models."""

from __future__ import annotations

import mimetypes
import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from tracker.actions.arguments import ItemWord, Word, WorkArgs

PATH_BYTES = 1024
NAME_BYTES = 255
CONTENT_BYTES = 1024 * 1024
PAGE_BYTES = 32 * 1024
MOST_BYTES = 48 * 1024
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
UNKNOWN_TYPE = "application/octet-stream"


def _path(text: str) -> str:
    parts = text.split("/")
    if _CONTROL.search(text) or "\\" in text:
        raise ValueError("a path has no control characters and no backslash")
    if not all(part.strip() and part not in (".", "..") for part in parts):
        raise ValueError("a path is names joined by single slashes, such as docs/plan.md")
    if len(text.encode()) > PATH_BYTES:
        raise ValueError(f"{len(text.encode())} bytes; at most {PATH_BYTES}")
    return text


def _name(text: str) -> str:
    if _CONTROL.search(text) or "/" in text or "\\" in text or text in (".", ".."):
        raise ValueError("a file's name has no slash, backslash or control character")
    if len(text.encode()) > NAME_BYTES:
        raise ValueError(f"{len(text.encode())} bytes; at most {NAME_BYTES}")
    return text


def _content(text: str) -> str:
    size = len(text.encode("utf-8", "replace"))
    if size > CONTENT_BYTES:
        raise ValueError(f"{size} bytes; at most {CONTENT_BYTES} in one call")
    return text


def _content_type(value: Any) -> Any:
    if not isinstance(value, str) or not value.strip():
        return value
    bare = value.partition(";")[0].strip().lower()
    if _TYPE.fullmatch(bare) is None:
        raise ValueError("a content type reads like text/markdown")
    return bare


def type_of(name: str, stated: str = "") -> str:
    """Returns the stated content type, else what the name suggests."""
    return stated or mimetypes.guess_type(name)[0] or UNKNOWN_TYPE


FilePath = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_path)
]
FileName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_name)
]
ContentType = Annotated[str, BeforeValidator(_content_type), StringConstraints(max_length=127)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="The digest of the bytes.")]
Ticket = Annotated[
    str, Field(min_length=1, max_length=2000, description="The ticket of the upload.")
]
_PROJECT = "Key of the project; your team's without it."


class ListProjectFiles(WorkArgs):
    """Which files to list."""

    project: Word = Field(default="", description=_PROJECT)
    folder: Word = Field(default="", description="Only what is below this folder.")
    after: str = Field(default="", max_length=PATH_BYTES, description="The last path you saw.")
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ReadProjectFile(WorkArgs):
    """Which part of a file to read."""

    path: FilePath
    project: Word = Field(default="", description=_PROJECT)
    offset: Annotated[int, Field(ge=0, description="The byte to begin at.")] = 0
    max_bytes: Annotated[int, Field(ge=4, le=MOST_BYTES)] = PAGE_BYTES
    encoding: Literal["text", "base64"] = "text"


class WriteProjectFile(WorkArgs):
    """A file as it is to be."""

    path: FilePath
    content: Annotated[str, AfterValidator(_content)]
    project: Word = Field(default="", description=_PROJECT)
    encoding: Literal["text", "base64"] = "text"
    content_type: ContentType = Field(default="", description="Without it, what the name says.")
    if_version: int | None = Field(
        default=None, ge=0, description="The version you read; 0 for a file that is to be new."
    )


class PutProjectFile(WorkArgs):
    """An upload and where in a project it goes."""

    NOT_IDENTITY: ClassVar[frozenset[str]] = frozenset({"upload"})
    path: FilePath
    project: Word = Field(default="", description=_PROJECT)
    content_type: ContentType = Field(default="", description="Without it, what the name says.")
    if_version: int | None = Field(
        default=None, ge=0, description="The version you read; 0 for a file that is to be new."
    )
    sha256: Digest
    upload: Ticket


class RemoveProjectFile(WorkArgs):
    """Which file to remove."""

    path: FilePath
    project: Word = Field(default="", description=_PROJECT)
    if_version: int | None = Field(default=None, ge=0, description="The version you read.")


class AttachFile(WorkArgs):
    """An upload and the item it belongs to."""

    NOT_IDENTITY: ClassVar[frozenset[str]] = frozenset({"upload"})
    item: ItemWord
    comment: Word = Field(default="", description="Id of the comment it belongs to.")
    name: FileName
    content_type: ContentType = ""
    sha256: Digest
    upload: Ticket


class RemoveAttachment(WorkArgs):
    """Which attachment to take off its item."""

    item: ItemWord
    attachment: Word = Field(min_length=1, description="Id of the attachment.")
