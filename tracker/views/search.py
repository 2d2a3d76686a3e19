"""The page of search."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from crewlet.console.pages import actor_of, draw, page
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import Invalid
from tracker.queries.search import found_items

SHOWN = 30


@page
def search_page(request: HttpRequest) -> HttpResponse:
    """Draws the field, and what its words find."""
    actor, words = actor_of(request), request.GET.get("q", "").strip()
    require(actor, Grant.STATE_READ)
    found, problem = None, ""
    if words:
        try:
            found = found_items(actor, words, SHOWN)
        except Invalid as error:
            problem = error.message
    hits = found["items"] if found else []
    context = {"q": words, "found": found, "hits": hits, "problem": problem}
    return draw(request, "tracker/search.html", context)
