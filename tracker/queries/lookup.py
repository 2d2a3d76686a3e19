"""Items by the words people and models use for them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from crewlet.kernel.errors import Gone, NotFound
from tracker.models.items import WorkItem
from tracker.models.removal import Tombstone


def pick(items: QuerySet[WorkItem], word: str, *, field: str) -> WorkItem:
    """Returns the one of `items` that a key it has or had (`eng-4`, `item:ENG-4`) or its id names.

    Raises `NotFound` naming the argument and the word, `Gone` for what was purged.
    """
    bare = word.strip().removeprefix("item:").removeprefix("#")
    ident = as_id(bare)
    if ident is not None:
        found = items.filter(pk=ident).first()
    else:
        # A subquery, so that the join to the keys never multiplies what the caller counts.
        named = WorkItem.objects.filter(keys__key=bare.upper()[:32]).values("pk")
        found = items.filter(pk__in=named).first()
    if found is None:
        _was_purged(bare, field)
        raise NotFound(
            f"{field}: there is no item {bare!r}. Keys look like ENG-4; "
            "list_work_items finds them.",
            field=field,
        )
    return found


def _was_purged(word: str, field: str) -> None:
    """Raises `Gone` for a key whose item was purged."""
    stone = Tombstone.objects.filter(key=word.upper()[:32]).first()
    if stone is not None:
        raise Gone(
            f"{field}: {stone.key} was purged on {stone.purged_at:%Y-%m-%d} by {stone.purged_by}: "
            f"{stone.reason} Nothing of it is left, and its key is not given again.",
            field=field,
            purged_by=stone.purged_by,
            purged_at=stone.purged_at.isoformat(),
        )


def as_id(text: str) -> UUID | None:
    """Returns a text as an id; None when it is not one."""
    try:
        return UUID(text)
    except ValueError:
        return None
