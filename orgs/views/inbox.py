"""The Inbox: what waits on the reader, then what they were told, beside what is opened."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from crewlet.console.pages import actor_of, draw, fragment, page
from orgs.inbox import inbox_page

SCOPES = (("unread", "Unread"), ("all", "All"), ("snoozed", "Snoozed"))


@page
def inbox(request: HttpRequest) -> HttpResponse:
    """Draws both panes; `?open=` names the row in the right one."""
    return draw(request, "orgs/inbox.html", _context(request))


@fragment
def inbox_list(request: HttpRequest) -> HttpResponse:
    """Draws the left pane alone."""
    return draw(request, "orgs/_inbox_list.html", _context(request))


@fragment
def inbox_pane(request: HttpRequest) -> HttpResponse:
    """Draws the right pane alone."""
    return draw(request, "orgs/_inbox_pane.html", _context(request))


def told(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a notice whose title does not begin with who it is from: the row shows them."""
    who = row["who"]
    lead = f"{who['name']}: " if who else ""
    if not lead or not row["title"].startswith(lead):
        return row
    title = row["title"].removeprefix(lead)
    # A body that says the title again says nothing.
    body = "" if row["body"] == row["title"] else row["body"]
    return {**row, "title": f"{title[:1].upper()}{title[1:]}", "body": body}


def _context(request: HttpRequest) -> dict[str, Any]:
    scope, wanted = request.GET.get("scope", "unread"), request.GET.get("open", "")
    found = inbox_page(actor_of(request), scope=scope, cursor=request.GET.get("cursor", ""))
    waiting = found["decisions"]
    days = [{**day, "rows": [told(row) for row in day["rows"]]} for day in found["days"]]
    notices = [row for day in days for row in day["rows"]]
    opened = next((row for row in waiting if row["ref"] == wanted), None)
    notice = next((row for row in notices if row["id"] == wanted), None)
    if opened is None and notice is None and waiting:
        opened = waiting[0]
    return {
        "inbox": {**found, "days": days},
        "scopes": SCOPES,
        "scope": scope,
        "wanted": wanted,
        "opened": opened,
        "notice": notice,
        "open_ref": opened["ref"] if opened else (notice["id"] if notice else ""),
        "query": urlencode({"scope": scope, "open": wanted}),
        "total": len(waiting) + len(notices),
    }
