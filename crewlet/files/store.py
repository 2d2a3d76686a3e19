"""The bytes of files, outside the database: written before their row, verified at every read.

A key is minted for one upload and never used again. Its name carries when it was minted, so the
collector can judge an object without asking a table.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from django.conf import settings
from django.core import signing

from crewlet.kernel.errors import CrewletError, ErrorCode, Invalid, Unavailable
from crewlet.kernel.ids import new_id
from crewlet.kernel.registry import Registry

MAX_BYTES = 1024**3
CHUNK = 256 * 1024
NAMEABLE = timedelta(hours=12)
"""A row may name an upload this long after it; later the collector may already be at it."""

_SALT = "crewlet.files.upload"

REFERENCES: Registry[Callable[[], Iterable[Reference]]] = Registry("tables that name files")


@dataclass(frozen=True, slots=True)
class Reference:
    """A row's claim on an object: its key, what its bytes must be, and whose file it is."""

    key: str
    sha256: str
    size: int
    owner: str


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored: the digest and size of the bytes, and the key that names them."""

    sha256: str
    size: int
    key: str


class DamagedFile(Unavailable):
    """The bytes of a file are missing or are not those that were stored."""


def put(stream: BinaryIO, *, limit: int = MAX_BYTES) -> Stored:
    """Stores a stream under a new key and returns it once the bytes are on the disk.

    Raises `too_large` past `limit`; nothing stays behind then.
    """
    key = new_id().hex
    path = path_of(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    try:
        with partial.open("xb") as out:
            digest, size = _copy(stream, out, limit)
            out.flush()
            os.fsync(out.fileno())
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    _sync_folder(path.parent)
    return Stored(digest, size, key)


def _copy(stream: BinaryIO, out: BinaryIO, limit: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        if size > limit:
            raise CrewletError(
                f"The file is larger than {limit} bytes, the most that is kept.",
                code=ErrorCode.TOO_LARGE,
                field="content",
                limit=limit,
            )
        digest.update(chunk)
        out.write(chunk)
    return digest.hexdigest(), size


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_verified(key: str, sha256: str, size: int) -> BinaryIO:
    """Returns a file at its beginning, once all of it was read and found to be what was stored.

    Raises `DamagedFile` otherwise: a reader gets the right bytes or an error, never others.
    """
    try:
        stream = path_of(key).open("rb")
    except FileNotFoundError as error:
        raise DamagedFile(
            "The bytes of this file are not in the store. `manage.py files audit` lists every such "
            "file; upload it again or bring the store back from a backup.",
            reason="file_missing",
        ) from error
    try:
        if digest_of(stream) != (sha256, size):
            raise DamagedFile(
                "The bytes of this file are not those that were stored, so they are not shown. "
                "`manage.py files audit` lists every such file; upload it again.",
                reason="file_damaged",
            )
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    return stream


def digest_of(stream: BinaryIO) -> tuple[str, int]:
    """Returns the sha256 and the size of what is left in a stream."""
    digest, size = hashlib.sha256(), 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        digest.update(chunk)
    return digest.hexdigest(), size


def ticket(stored: Stored) -> str:
    """Returns a signed paper with which a write may name this upload."""
    return signing.dumps(asdict(stored), salt=_SALT)


def redeem(paper: str, *, field: str = "upload") -> Stored:
    """Returns the upload of a ticket; raises `Invalid` for one that is forged or too old."""
    try:
        return Stored(**signing.loads(paper, salt=_SALT, max_age=NAMEABLE))
    except signing.BadSignature as error:
        raise Invalid(
            f"{field}: this upload is not known, or it is older than 12 hours. Upload the file "
            "again.",
            field=field,
        ) from error


def folder() -> Path:
    """Returns where the objects are."""
    return Path(settings.MEDIA_ROOT) / "objects"


def path_of(key: str) -> Path:
    """Returns where the object of a key is; raises `ValueError` for what is no key."""
    name = UUID(hex=key).hex
    return folder() / name[-2:] / name


def minted_at(key: str) -> datetime:
    """Returns when a key was minted, as its name says."""
    return datetime.fromtimestamp((UUID(hex=key).int >> 80) / 1000, UTC)


def objects() -> Iterator[Path]:
    """Yields the objects of the store; files with other names are not ours and are left out."""
    for path in sorted(folder().glob("??/*")):
        if _is_key(path.stem) and path.suffix in ("", ".part"):
            yield path


def _is_key(name: str) -> bool:
    try:
        return UUID(hex=name).hex == name
    except ValueError:
        return False
