"""Completes `@` in a text field."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from crewlet.console.pages import draw, fragment
from orgs import epochs

SHOWN = 8


@fragment
def parties(request: HttpRequest) -> HttpResponse:
    """Draws the seats whose handle or name contains `q`, those that begin with it first."""
    text = request.GET.get("q", "").lower()
    chart = epochs.active().chart
    found = [
        seat for seat in chart.walk() if text in seat.handle.lower() or text in seat.name.lower()
    ]
    found.sort(key=lambda seat: (not seat.handle.lower().startswith(text), seat.name))
    rows = [
        {
            "seat": {"handle": seat.handle, "name": seat.name, "kind": seat.kind},
            "unit": chart.units[seat.unit].name if seat.unit else "",
        }
        for seat in found[:SHOWN]
    ]
    return draw(request, "orgs/_parties.html", {"rows": rows})
