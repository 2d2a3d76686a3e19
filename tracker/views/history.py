"""What happened in a project, newest first."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.kernel.authority import Grant, require
from tracker.queries.history import before_of, project_history
from tracker.queries.projects import project as project_of
from tracker.views.tabs import project_tabs

SHOWN = (
    ("", "All"),
    ("items", "Items"),
    ("talk", "Talk"),
    ("removals", "Removals"),
    ("project", "Project"),
)


@page
def history(request: HttpRequest, project: str) -> HttpResponse:
    """Draws the history of a project."""
    return draw(request, "tracker/project_history.html", _history(request, project))


@fragment
def history_region(request: HttpRequest, project: str) -> HttpResponse:
    """Draws the rows alone."""
    return draw(request, "tracker/_project_history.html", _history(request, project))


def _history(request: HttpRequest, key: str) -> dict[str, Any]:
    actor = actor_of(request)
    require(actor, Grant.STATE_READ)
    found = project_of(actor, key)
    base = f"/work/{found['key']}/history"
    kind, before = request.GET.get("kind", ""), request.GET.get("before", "")
    rows = project_history(found["key"], kind, before_of(before))
    kept = [("kind", kind)] if kind else []
    here = [*kept, *([("before", before)] if before else [])]
    return {
        "project": found,
        "rows": rows.rows,
        "kind": kind,
        "before": before,
        "shown": [
            {"label": label, "url": f"{base}?kind={name}" if name else base, "here": name == kind}
            for name, label in SHOWN
        ],
        "older_url": f"{base}?{urlencode([*kept, ('before', rows.next)])}" if rows.next else "",
        "newest_url": f"{base}?{urlencode(kept)}" if before else "",
        "region_url": f"/ui{base}?{urlencode(here)}",
        "tabs": project_tabs(found["key"], "history"),
    }
