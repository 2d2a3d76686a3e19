"""The trash: what was removed, with the way back."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from crewlet.console.pages import actor_of, draw, fragment, page
from tracker.queries.trash import trash_page


@page
def trash(request: HttpRequest) -> HttpResponse:
    """Draws what was removed, the newest removal first."""
    found = trash_page(actor_of(request), request.GET.get("cursor", ""))
    return draw(request, "tracker/trash.html", found)


@fragment
def trash_region(request: HttpRequest) -> HttpResponse:
    """Draws the removals alone, or their next page."""
    found = trash_page(actor_of(request), request.GET.get("cursor", ""))
    template = "_trash_rows" if request.GET.get("cursor") else "_trash_region"
    return draw(request, f"tracker/{template}.html", found)
