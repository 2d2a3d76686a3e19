"""Settings, the audit: who did what, by which door, and what was refused."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from crewlet.console.grid import Column, grid
from crewlet.kernel import audit
from crewlet.kernel.actions import ACTIONS, Door
from crewlet.kernel.actors import Actor
from crewlet.kernel.refs import url_of
from orgs.queries.people import parties

PLACE = "/settings/audit"
UNKNOWN = "Not recorded"


COLUMNS = (
    Column("when", "When", kind="time"),
    Column("who", "Who"),
    Column("action", "Action", kind="mono"),
    Column("outcome", "Outcome"),
    Column("what", "What"),
    Column("door", "Door", keep=2),
    Column("proof", "Proof", keep=3, kind="mono"),
)
NOTHING = {"title": "Nothing yet", "text": "Nobody has done anything here so far."}
NO_MATCH = {
    "title": "Nothing matches",
    "text": "No entry passes these filters.",
    "url": PLACE,
    "act": "Clear",
}


def audited(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns one page of the audit under the filters of the address."""
    given = {name: query.get(name, "").strip() for name in audit.FILTERS}
    kept = {name: value for name, value in given.items() if value}
    found = audit.entries(actor, audit.filter_of(given), cursor=query.get("cursor", ""))
    people = parties(entry["actor"] for entry in found["entries"])
    more, paged = found["next_cursor"], bool(query.get("cursor"))
    drawn = grid(
        query,
        "",
        COLUMNS,
        [_row(entry, people) for entry in found["entries"]],
        label="Audit",
        empty=NO_MATCH if kept else NOTHING,
        next_url=f"{PLACE}?{urlencode({**kept, 'cursor': more})}" if more else None,
        complete=not paged,
        sorted_by_caller=True,
    )
    return {
        "grid": drawn,
        "given": given,
        "filtered": bool(kept),
        "ended": paged and not more,
        "actions": sorted(ACTIONS),
        "doors": sorted(Door),
        "place": PLACE,
    }


def _row(entry: dict[str, Any], people: dict[str, dict[str, str]]) -> dict[str, Any]:
    who = people.get(entry["actor"])
    place = next((url for url in map(url_of, entry["refs"]) if url), "")
    turn = f"/live/turns/{entry['turn_id']}" if entry["turn_id"] else ""
    refused = entry["refused"]
    return {
        "id": f"audit-{entry['id']}",
        "when": entry["at"],
        "who": {"text": who["name"], "url": who["url"]} if who else UNKNOWN,
        "action": entry["action"],
        "outcome": {"text": f"Refused, {refused}", "tone": "stop"} if refused else "Done",
        "what": {"text": entry["summary"], "title": entry["summary"], "url": place},
        "door": entry["door"],
        "proof": {"text": "A turn", "url": turn} if turn else entry["credential"] or UNKNOWN,
    }
