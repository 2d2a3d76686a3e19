"""The collector deletes what no row names any more; the audit finds what rows name in vain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crewlet.files import store
from crewlet.files.store import REFERENCES, Reference
from crewlet.kernel.errors import Conflict

LEFT_ALONE = timedelta(hours=24)
FILES_LISTED = 100


@dataclass(frozen=True, slots=True)
class Collected:
    """What a run of the collector saw and did."""

    seen: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit found: how many files were checked, and the bad ones by owner."""

    checked: int
    missing: tuple[str, ...]
    damaged: tuple[str, ...]


def references() -> list[Reference]:
    """Returns every claim on the store; raises `Conflict` when no table declares any."""
    if not len(REFERENCES):
        raise Conflict(
            "No table has declared that it names files, so nothing can be told to be a leftover. "
            "Nothing was deleted."
        )
    return [claim for table in REFERENCES.values() for claim in table()]


def collect(now: datetime) -> Collected:
    """Deletes objects that no row names and that were minted and stored over 24 hours ago.

    The list of claims is read whole before the first file goes; a failure there deletes nothing.
    """
    claimed = {claim.key for claim in references()}
    seen = deleted = 0
    for path in store.objects():
        seen += 1
        stored_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        newest = max(stored_at, store.minted_at(path.stem))
        if path.stem not in claimed and now - newest > LEFT_ALONE:
            path.unlink(missing_ok=True)
            deleted += 1
    return Collected(seen, deleted)


def collect_due(now: datetime) -> int:
    """Runs the collector for its schedule and returns how many objects went."""
    return collect(now).deleted


def audit() -> Audited:
    """Reads every file that a row names and says which are missing or damaged."""
    missing, damaged, checked = [], [], 0
    for claim in references():
        checked += 1
        path = store.path_of(claim.key)
        if not path.exists():
            missing.append(claim.owner)
            continue
        with path.open("rb") as stream:
            if store.digest_of(stream) != (claim.sha256, claim.size):
                damaged.append(claim.owner)
    return Audited(checked, tuple(missing), tuple(damaged))
