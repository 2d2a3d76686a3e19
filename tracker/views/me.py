"""My work: what is on the reader, in sections that are addresses of their own."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.kernel import clock
from orgs.inbox import company_zone, snooze_choices
from tracker.queries import pages as queries

SECTIONS: dict[str, dict[str, str]] = {
    "": {
        "rows": "assigned", "label": "Queue", "title": "Nothing is on you",
        "text": "Items that are assigned to you and open stand here.",
        "all": "/work?assignee=me&open_only=true",
    },
    "asked": {
        "rows": "asked_of_me", "label": "Asked of me", "title": "Nobody waits for you",
        "text": "Questions to you stand here until they are answered.",
    },
    "asked-by-me": {
        "rows": "asked_by_me", "label": "Asked by me", "title": "You wait for nobody",
        "text": "Questions of yours stand here until somebody answers.",
    },
    "filed": {
        "rows": "filed", "label": "Filed by me", "title": "Nothing of yours is with others",
        "text": "Open items that you filed and somebody else has stand here.",
        "all": "/work?reporter=me&assignee=!me&open_only=true",
    },
    "watching": {
        "rows": "watching", "label": "Watching", "title": "You watch nothing",
        "text": "Items whose every change you hear of stand here.", "all": "/work?watcher=me",
    },
}  # fmt: skip


@page
def me(request: HttpRequest, section: str = "") -> HttpResponse:
    """Draws one section of the reader's own work; its tabs count all of each."""
    return draw(request, "tracker/me.html", _me(request, section))


@fragment
def me_region(request: HttpRequest, section: str = "") -> HttpResponse:
    """Draws the rows of a section alone."""
    return draw(request, "tracker/_me_region.html", _me(request, section))


def _me(request: HttpRequest, section: str) -> dict[str, Any]:
    if section not in SECTIONS:
        raise Http404(f"My work has no section {section}.")
    found = queries.my_work(actor_of(request))
    words = SECTIONS[section]
    here = found[words["rows"]]
    asked = section.startswith("asked")
    return {
        "tabs": [
            {
                "label": tab["label"],
                "url": f"/me/{key}" if key else "/me",
                "here": key == section,
                "count": found[tab["rows"]]["total"],
            }
            for key, tab in SECTIONS.items()
        ],
        "rows": [] if asked else here["rows"],
        "asks": here["rows"] if asked else [],
        "total": here["total"],
        "shown": len(here["rows"]),
        "all_url": words.get("all", ""),
        "empty": {"title": words["title"], "text": words["text"]},
        "region_url": f"/ui/me/{section}" if section else "/ui/me",
        "snooze": snooze_choices(clock.now(), company_zone()),
    }
