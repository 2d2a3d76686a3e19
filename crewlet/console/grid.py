"""The one grid of every list: what is sorted, which columns stand, and how a list ends.

All of its state is in the address: `sort=` and `cols=`, or `sort.<name>=` and `cols.<name>=` for a
second grid of a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from django.http import QueryDict

Kind = Literal["text", "key", "time", "mono"]
Row = Mapping[str, Any]
_CELL = ("text", "glyph", "url", "peek", "tone", "bar", "tag", "title", "sort", "who")
ABSENT = (None, "")
ALL = "all"
"""The choice of every column; said, for a list may remember a smaller one."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `keep` says when it gives way: 0 never, 1 last, 3 first. `wide`: it takes the room
    that the others leave, and its text is cut where that is little.
    """

    key: str
    label: str
    sort: bool = False
    num: bool = False
    keep: int = 0
    kind: Kind = "text"
    wide: bool = False


def sort_of(
    query: QueryDict, name: str, columns: Sequence[Column], default_sort: str
) -> tuple[str, bool]:
    """Returns the column to sort by and whether it descends; an unknown one is the default."""
    asked = query.get(_param("sort", name), "") or default_sort
    known = {column.key for column in columns if column.sort}
    if asked.removeprefix("-") not in known:
        asked = default_sort
    return asked.removeprefix("-"), asked.startswith("-")


def grid(
    query: QueryDict,
    name: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    *,
    label: str,
    empty: Mapping[str, str],
    total: int | None = None,
    next_url: str | None = None,
    default_sort: str = "",
    complete: bool = True,
    sorted_by_caller: bool = False,
    band_facts: Mapping[str, Mapping[str, Any]] | None = None,
    compact: bool = False,
) -> dict[str, Any]:
    """Returns what `ui/grid.html` draws.

    A list that is all here is sorted here, what is absent last in both directions; a page of a
    longer one must come sorted, by `sort_of`. `band_facts` says by the title of a band how many
    rows it has in all (`total`) and where the following ones come from (`more_url`). `compact`: on
    a phone a row is its first column above the rest on one line, instead of a card of named lines.
    """
    key, down = sort_of(query, name, columns, default_sort)
    whole = complete and not next_url
    if key and whole and not sorted_by_caller:
        rows = _sorted(rows, key, down=down)
    chosen = _chosen(query, name, columns)
    shown = [column for column in columns if column.key in chosen]
    return {
        "id": f"grid-{name}" if name else "grid",
        "label": label,
        "compact": compact,
        "heads": [_head(query, name, column, (key, down)) for column in shown],
        "bands": _bands(rows, shown, band_facts or {}),
        "span": len(shown),
        "choices": [_choice(query, name, column, columns, chosen) for column in columns],
        "all_url": _url(query, _param("cols", name), ALL) if len(shown) < len(columns) else "",
        "gives": _giving_way(shown),
        "empty": empty if not rows else None,
        "next_url": next_url,
        "end": f"That is all of it, {len(rows) if total is None else total}" if whole else "",
        "part": f"{len(rows)} of {total}" if not whole and total is not None else "",
    }


def _sorted(rows: Sequence[Row], key: str, *, down: bool) -> list[Row]:
    def there(row: Row) -> bool:
        return _value(row.get(key)) not in ABSENT

    present = sorted(filter(there, rows), key=lambda row: _rank(_value(row[key])), reverse=down)
    return present + [row for row in rows if not there(row)]


def _value(cell: Any) -> Any:
    """Returns what a cell is compared by: its `sort`, else its text."""
    if isinstance(cell, Mapping):
        return cell["sort"] if "sort" in cell else cell.get("text")
    return cell


def _rank(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


def _chosen(query: QueryDict, name: str, columns: Sequence[Column]) -> set[str]:
    """Returns the columns to draw; a choice that names none that exists is no choice."""
    known = {column.key for column in columns}
    asked = set(query.get(_param("cols", name), "").split(",")) & known
    return asked | {columns[0].key} if asked else known


def _head(query: QueryDict, name: str, column: Column, order: tuple[str, bool]) -> dict[str, Any]:
    key, down = order
    here = column.sort and column.key == key
    following = f"-{column.key}" if here and not down else column.key
    return {
        "column": column,
        "url": _url(query, _param("sort", name), following) if column.sort else "",
        "aria": ("descending" if down else "ascending") if here else "",
        "icon": "chevron-down" if down else "chevron-up",
    }


def _choice(
    query: QueryDict, name: str, column: Column, columns: Sequence[Column], chosen: set[str]
) -> dict[str, Any]:
    """Returns one row of the chooser: the address with this column turned on or off."""
    on = column.key in chosen
    left = [
        each.key
        for each in columns
        if (each.key in chosen) != (each.key == column.key) or each is columns[0]
    ]
    value = ALL if len(left) == len(columns) else ",".join(left)
    fixed = column is columns[0]
    url = "" if fixed else _url(query, _param("cols", name), value)
    return {"label": column.label, "on": on, "url": url}


def _bands(
    rows: Sequence[Row], shown: Sequence[Column], facts: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Returns the rows under their bands, in the order in which bands first appear."""
    bands: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        drawn = {
            "id": row.get("id", ""),
            "peek": row.get("peek", ""),
            "cells": [_cell(column, row.get(column.key)) for column in shown],
        }
        bands.setdefault(str(row.get("band", "")), []).append(drawn)
    drawn_bands = []
    for title, group in bands.items():
        known = facts.get(title, {})
        drawn_bands.append(
            {
                "title": title,
                "rows": group,
                "count": known.get("total", len(group)),
                "more_url": known.get("more_url", ""),
                # The same rows as a page of their own, for whoever reads without scripts.
                "page_url": known.get("more_url", "").removeprefix("/ui"),
            }
        )
    return drawn_bands


def _cell(column: Column, value: Any) -> dict[str, Any]:
    parts = value if isinstance(value, Mapping) else {"text": value}
    cell: dict[str, Any] = {name: parts.get(name) for name in _CELL}
    text = cell["text"]
    return cell | {
        "column": column,
        "absent": text in ABSENT and not cell["bar"],
        "time": isinstance(text, datetime | date),
    }


def _giving_way(shown: Sequence[Column]) -> list[dict[str, Any]]:
    """Returns, by rank, the sentence that names what a window of that width hides."""
    lines = []
    for rank in (3, 2, 1):
        gone = [column.label for column in shown if column.keep >= rank]
        if gone:
            lines.append({"rank": rank, "words": ", ".join(gone)})
    return lines


def _param(kind: str, name: str) -> str:
    return f"{kind}.{name}" if name else kind


def _url(query: QueryDict, param: str, value: str) -> str:
    """Returns the same address with one parameter changed, at the list's first page."""
    changed = query.copy()
    for gone in (param, "cursor", "page"):
        changed.pop(gone, None)
    if value:
        changed[param] = value
    return f"?{changed.urlencode(safe=',')}"
