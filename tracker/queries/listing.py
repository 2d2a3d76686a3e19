"""One query answered whole: a page or columns, with the totals and the place that it asks for."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.filters import Filters
from tracker.queries.conditions import Asker
from tracker.queries.groups import Grouped, grouped, in_column
from tracker.queries.items import Neighbours, Page, filtered, neighbours, page_of, totals


@dataclass(frozen=True, slots=True)
class Listing:
    """What a query gives. A grouped one has columns and no page, but for one column's `group`."""

    page: Page
    groups: Grouped | None
    totals: dict[str, float]
    around: Neighbours | None


def listing(filters: Filters, asker: Asker) -> Listing:
    """Returns what a query asks for, in a number of statements that its rows do not change."""
    figures = totals(filters, asker) if filters.totals else {}
    place = neighbours(filters, asker) if filters.around else None
    if filters.group_by and filters.group is None:
        columns = grouped(filters, asker)
        return Listing(Page([], "", columns.total), columns, figures, place)
    found = in_column(filtered(filters, asker), filters, asker)
    return Listing(page_of(filters, found), None, figures, place)
