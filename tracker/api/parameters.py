"""What each key of the query grammar means, for the API's schema."""

from __future__ import annotations

from tracker.query_values import AXES, SORTS

_DATE = "a day (today, -7d, 2026-03-31), lt: lte: gt: gte: range:a..b, next7, thisweek, null …"
FILTER_WORDS = {
    "any": "JSON list of objects of filters, one of which is to hold; one level deep",
    "around": "key of an item: its place in the list and its neighbours",
    "assignee": "handles, me or none; a leading ! excludes",
    "closed": f"when it was done or cancelled: {_DATE}",
    "closed_since": "leaves out what was closed before a day, such as sow",
    "container": "workspace, project:KEY or unit:KEY",
    "created": _DATE,
    "cursor": "next_cursor of the page before",
    "due": f"{_DATE}; overdue, earlier (was late when it ended)",
    "finished": f"the same as closed: {_DATE}",
    "group": "one column of group_by, page by page; empty: the items without a value",
    "group_by": f"columns: {', '.join(AXES)}",
    "group_by2": "swimlanes across the columns; as group_by",
    "group_limit": "items of each column, 1 to 100, 20 without it",
    "has_children": "true or false",
    "has_open_asks": "true or false",
    "has_parent": "true or false",
    "key": "keys of items",
    "limit": "1 to 200, 50 without it",
    "open_only": "true leaves out what is done or cancelled",
    "parent": "key of an item, or none",
    "preset": "my_queue, triage or overdue; what is typed beside it wins",
    "priority": "priorities; a leading ! excludes",
    "project": "project keys, or mine; a leading ! excludes",
    "q": "a piece of the title, or the beginning of a key",
    "removed": "true: what was removed, and nothing else",
    "reporter": "handles or me; a leading ! excludes",
    "root": "key of an item: it and everything below it",
    "show_closed": "true, false or recent:7d",
    "sort": f"{', '.join(SORTS)}; - turns it round; empty values come last",
    "status": "statuses, separated by commas; a leading ! excludes",
    "status_entered": f"when it came into its status: {_DATE}",
    "status_group": "not_started, active, done, closed; a leading ! excludes",
    "tag": "any:a,b all:a,b none:a,b",
    "totals": "figures over the whole set: tokens:sum,turns:p90",
    "unit": "units by id or name; a leading ! excludes",
    "updated": _DATE,
    "watcher": "handles or me",
}
