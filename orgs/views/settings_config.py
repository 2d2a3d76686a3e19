"""Settings, the configuration: what runs, its history, and what each revision changed."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict

from crewlet.console.grid import Column, grid
from crewlet.console.pages import actor_of, draw, page
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs.managed import why_not
from orgs.queries import company
from orgs.queries.people import parties

PAGE = 30
LACKS_WRITE = "Bringing a revision back takes the grant config:write, which you lack."


COLUMNS = (
    Column("when", "When", kind="time"),
    Column("what", "What"),
    Column("by", "By"),
    Column("through", "Through", keep=2),
    Column("epoch", "Configuration", num=True),
    Column("revision", "Revision", kind="mono", keep=3),
)
NONE_YET = {
    "title": "No company is configured",
    "text": "The first revision is written when one is set up.",
    "url": "/setup",
    "act": "Set up the company",
}


def config(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns one page of the revisions, the running one marked; `before` names the next page."""
    found = company.revisions(limit=PAGE + 1, before=_revision(query.get("before", "")))
    people = parties(row["author"] for row in found)
    rows = [_row(row, people) for row in found[:PAGE]]
    more, paged = len(found) > PAGE, bool(query.get("before"))
    drawn = grid(
        query,
        "",
        COLUMNS,
        [_cells(row) for row in rows],
        label="Revisions",
        empty=NONE_YET,
        next_url=f"/settings/config?before={rows[-1]['id']}" if more else None,
        complete=not paged,
        sorted_by_caller=True,
    )
    running = next((row for row in rows if row["active"]), None)
    return {
        "grid": drawn,
        "running": running,
        "ended": paged and not more,
        "any": bool(rows),
        "managed": why_not(actor),
    }


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    epoch: Any = row["epoch"] or "Never live"
    if row["active"]:
        epoch = {"text": f"{row['epoch']}, running", "tone": "done"}
    return {
        "id": f"revision-{row['short']}",
        "when": row["at"],
        "what": {"text": row["summary"] or "No summary", "url": row["url"]},
        "by": row["who"]["name"] if row["who"] else "Not recorded",
        "through": row["source"],
        "epoch": epoch,
        "revision": row["short"],
    }


@page
def revision(request: HttpRequest, revision_id: UUID) -> HttpResponse:
    """Draws what one revision changed against the one it was made from, by who and what."""
    actor = actor_of(request)
    require(actor, Grant.CONFIG_READ)
    detail = company.revision_detail(revision_id)
    found = company.revision_diff(revision_id)
    reason = why_not(actor) if Grant.CONFIG_WRITE in actor.grants else LACKS_WRITE
    context = {
        "revision": _row(detail, parties([detail["author"]])),
        "against": found["against"],
        "entities": _by_entity(found["differences"]),
        "count": len(found["differences"]),
        "reason": "This revision runs now." if detail["active"] else reason,
    }
    return draw(request, "orgs/revision.html", context)


def _row(row: dict[str, Any], people: dict[str, dict[str, str]]) -> dict[str, Any]:
    epochs = row["epochs"]
    return {
        **row,
        "at": datetime.fromisoformat(row["created_at"]),
        "short": row["id"][-8:],
        "who": people.get(row["author"]),
        "epoch": epochs[-1] if epochs else None,
        "url": f"/settings/config/{row['id']}",
    }


def _by_entity(differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for item in differences:
        grouped.setdefault(item["entity"], []).append(
            {**item, "old": _shown(item["before"]), "new": _shown(item["after"])}
        )
    return [
        {"name": name, "kind": rows[0]["kind"] if not rows[0]["field"] else "changed", "rows": rows}
        for name, rows in grouped.items()
    ]


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def _revision(text: str) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        raise CrewletError(
            "before is to be the id of a revision.", code=ErrorCode.INVALID_QUERY, field="before"
        ) from error
