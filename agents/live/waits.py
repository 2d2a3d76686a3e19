"""What turns wait for, in a person's inbox."""

from __future__ import annotations

from typing import Any

from agents.queries import waits as queries
from agents.queries.rows import Row
from crewlet.kernel.actors import Actor
from orgs.inbox import InboxRow, InboxSource

CARD = "agents/_wait.html"


def waiting(actor: Actor) -> list[InboxRow]:
    """Returns the questions and requests for leave that wait on a person, oldest first."""
    return [_row(wait) for wait in queries.inbox(actor)]


def _row(wait: Row) -> InboxRow:
    return InboxRow(
        kind=wait["kind"],
        ref=f"wait:{wait['id']}",
        title=wait["question"],
        summary=wait["about"] or "Open the turn",
        who=wait["seat"],
        at=wait["opened_at"],
        reason="A call needs your leave" if wait["kind"] == "approval" else "A turn waits for you",
        url=f"/live/turns/{wait['turn']}",
        card=CARD,
        context={"wait": card(wait, wait["seat"])},
    )


def count(actor: Actor) -> int:
    """Returns how many wait."""
    return queries.waiting_on(actor).count()


DID = {
    "answer": "answered",
    "approve": "approved it",
    "edit": "approved it with other arguments",
    "deny": "denied it",
}
UNSAID = {"taken": "Nobody answered in time", "closed": "The turn ended before anybody answered"}


def card(shown: dict[str, Any], seat: dict[str, Any]) -> dict[str, Any]:
    """Returns a wait as its card draws it: who waits, and what became of it in words."""
    did = DID.get(shown["decision"] or "", UNSAID.get(shown["state"], ""))
    return {**shown, "who": seat, "did": did}


SOURCE = InboxSource("waits", waiting, count)
