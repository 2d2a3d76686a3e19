"""Writes addresses into a document that left them to be derived, so that renames move nothing."""

from __future__ import annotations

import copy
from typing import Any

from orgs.chart import Chart
from orgs.document.dialect import data_at
from orgs.document.names import fold_key
from orgs.document.outline import outline_of


def minted(data: dict[str, Any], chart: Chart) -> dict[str, Any]:
    """Gives a copy of a valid document's data with handles, keys and references written out.

    A reference that names nobody stays as it was typed.
    """
    written = copy.deepcopy(data)
    outline = outline_of(data)
    keys = {fold_key(key): key for key in chart.units}
    for unit in outline.units:
        item = data_at(written, unit.path)
        _insert(item, "id", unit.key)
        if unit.lead_ref:
            item["lead"] = chart.seat_named(unit.lead_ref) or unit.lead_ref
    for seat in outline.seats:
        item = data_at(written, seat.path)
        _insert(item, "handle", seat.handle)
        if seat.unit_ref:
            item["unit"] = keys.get(fold_key(seat.unit_ref), seat.unit_ref)
        if seat.manages:
            item["manages"] = [
                _seat(chart, keys, r) or keys.get(fold_key(r), r) for _, r in seat.manages
            ]
    return written


def _seat(chart: Chart, keys: dict[str, str], reference: str) -> str | None:
    """A word that is a handle and a key means the seat; a name means a unit before a seat."""
    if reference not in chart.seats and fold_key(reference) in keys:
        return None
    return chart.seat_named(reference)


def _insert(item: dict[str, Any], key: str, value: str) -> None:
    """Puts an address right behind the name, where a reader looks for it."""
    if key in item:
        return
    rest = dict(item)
    item.clear()
    for name, kept in rest.items():
        item[name] = kept
        if name == "name":
            item[key] = value
