"""The diary: what a seat wrote down for itself, word for word. Nobody else's is readable.

Expired notes are left out by the query itself, so that they take no place of a living one; a sweep
deletes them later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from agents.models.memory import DiaryEntry
from agents.prompts.prefetch import PREFETCHES, Opening, Prefetch
from crewlet.kernel.errors import Invalid

MAX_CHARS = 2000
SHORT_DAYS = 14
SHOWN = 12


def _alive(now: datetime) -> Q:
    return Q(expires_at=None) | Q(expires_at__gt=now)


def recent(seat_id: UUID, now: datetime, limit: int = SHOWN) -> Sequence[DiaryEntry]:
    """Returns a seat's newest living notes, oldest of them first."""
    rows = DiaryEntry.objects.filter(_alive(now), seat_id=seat_id).order_by("-at")[:limit]
    return list(reversed(rows))


def write(
    seat_id: UUID, kind: str, content: str, now: datetime, *, turn_id: UUID | None, days: int = 0
) -> tuple[DiaryEntry, bool]:
    """Keeps a note and returns it with whether it is new; the same living note comes back as it is.

    `short` notes expire after `days` (14 when not said), `long` ones never. Raises `Invalid` for an
    empty note or one over 2,000 characters: nothing is shortened in silence.
    """
    content = content.strip()
    if not content:
        raise Invalid("The note is empty. Say what to remember.", field="content")
    if len(content) > MAX_CHARS:
        raise Invalid(
            f"The note has {len(content)} characters; {MAX_CHARS} fit. Keep what matters.",
            field="content",
        )
    digest = hashlib.sha256(content.encode()).hexdigest()
    known = DiaryEntry.objects.filter(
        _alive(now), seat_id=seat_id, kind=kind, digest=digest
    ).first()
    if known is not None:
        return known, False
    expires = now + timedelta(days=days or SHORT_DAYS) if kind == "short" else None
    return DiaryEntry.objects.create(
        seat_id=seat_id, kind=kind, content=content, digest=digest, turn_id=turn_id, at=now,
        expires_at=expires,
    ), True  # fmt: skip


def sweep(now: datetime) -> int:
    """Deletes expired notes and returns how many there were."""
    deleted, _ = DiaryEntry.objects.filter(expires_at__lte=now).delete()
    return deleted


def personal_memory(opening: Opening) -> str:
    """Returns the block that a turn opens with, or an empty string for an empty diary."""
    snapshot = opening.snapshot
    notes = recent(snapshot.seat_ids[opening.handle], opening.now)
    if not notes:
        return ""
    lines = [f"- {note.at.astimezone(snapshot.timezone):%d %b}: {note.content}" for note in notes]
    return "## What you wrote down for yourself\n\n" + "\n".join(lines)


def register() -> None:
    """Adds the block to every turn's opening."""
    PREFETCHES.register(
        "personal_memory", Prefetch("personal_memory", "Personal memory", personal_memory)
    )
