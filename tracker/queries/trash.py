"""What was removed and can come back, the newest removal first."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from crewlet.kernel.actors import Actor
from orgs import epochs
from tracker.filters import parse_filters
from tracker.queries.conditions import Asker
from tracker.queries.listing import listing
from tracker.queries.pages import rows_of

REMOVED = {"removed": "true", "sort": "-removed"}


def trash_page(actor: Actor, cursor: str = "") -> dict[str, Any]:
    """Returns a page of removed items under the removals that took them out of sight together."""
    asker = Asker.now(actor, epochs.active())
    found = listing(parse_filters({**REMOVED, "cursor": cursor}), asker).page
    rows = zip(found.rows, rows_of(found.rows, live=False), strict=True)
    removals = []
    for ident, members in groupby(rows, key=lambda pair: pair[0].removed_with):
        together = sorted(members, key=lambda pair: (pair[0].depth, pair[0].number))
        top = together[0][0]
        removals.append(
            {
                "id": str(ident),
                "key": top.key,
                "title": top.title,
                "by": top.removed_by_name,
                "at": top.removed_at,
                "rows": [row for _, row in together],
            }
        )
    return {"removals": removals, "next": found.next_cursor, "total": found.total}
