"""Who may answer an ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewlet.kernel.actors import Actor
from tracker.roster import is_person

if TYPE_CHECKING:
    from orgs.epochs import Snapshot
    from tracker.models.comments import Comment


def may_answer(ask: Comment, actor: Actor, snapshot: Snapshot) -> bool:
    """Returns whether somebody may answer an ask: who is asked; or a person above them in the
    chart; or a person without a seat, who runs the company from outside it.
    """
    if actor.seat_id is not None and actor.seat_id == ask.asked_id:
        return True
    if not is_person(actor):
        return False
    asked = snapshot.handles.get(ask.asked_id) if ask.asked_id else None
    if asked is None or actor.handle is None:
        return True
    return bool(snapshot.chart.is_above(actor.handle, asked))
