"""Seats and units as references: `seat:kofi`, `unit:engineering`."""

from __future__ import annotations

from crewlet.kernel.errors import Unavailable
from orgs import epochs
from orgs.chart import Chart


def seat_label(handle: str) -> str:
    """Returns the name of a seat; the handle for one that is not on the chart."""
    chart = _chart()
    return chart.seats[handle].name if chart and handle in chart.seats else handle


def seat_url(handle: str) -> str:
    """Returns where a seat opens; nowhere for one that is not on the chart."""
    return f"/agents/seats/{handle}" if seat_exists(handle) else ""


def seat_exists(handle: str) -> bool:
    """Returns whether the chart has a seat of this handle."""
    chart = _chart()
    return chart is not None and handle in chart.seats


def unit_label(key: str) -> str:
    """Returns the name of a unit; the key for one that is not on the chart."""
    chart = _chart()
    return chart.units[key].name if chart and key in chart.units else key


def unit_url(key: str) -> str:
    """Returns where a unit opens; nowhere for one that is not on the chart."""
    return f"/agents/teams/{key}" if unit_exists(key) else ""


def unit_exists(key: str) -> bool:
    """Returns whether the chart has a unit of this key."""
    chart = _chart()
    return chart is not None and key in chart.units


def _chart() -> Chart | None:
    try:
        return epochs.active().chart
    except Unavailable:
        return None
