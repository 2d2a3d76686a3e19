"""Finding a colleague and asking one."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agents.turn import colleague
from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Forbidden, Invalid, NotFound
from crewlet.kernel.nearest import nearest
from orgs import epochs
from orgs.chart import ChartSeat
from orgs.epochs import Snapshot
from orgs.parties import find_party

QUERY_CHARS = 200
BRIEF_CHARS = 8000


class LookupColleague(Args):
    """Arguments of `lookup_colleague`."""

    query: str = Field(
        min_length=1,
        max_length=QUERY_CHARS,
        description="A handle, name, e-mail address or outside id; a part of it is enough.",
    )


@action(
    "lookup_colleague",
    args=LookupColleague,
    doors=Doors.ALL,
    grant=Grant.STATE_READ,
    reads=True,
)
def lookup_colleague(actor: Actor, args: LookupColleague, target: None) -> Result:
    """Finds who somebody is and how to reach them. Several matches come back as a list to choose
    from; nothing is guessed."""
    snapshot = epochs.active()
    match = find_party(snapshot, args.query)
    if match.status == "none":
        handles = ", ".join(f"@{handle}" for handle in sorted(snapshot.chart.seats))
        raise NotFound(f"Nobody here is called '{args.query}'. The company has {handles}.")
    cards = [_card(snapshot, seat) for seat in match.seats]
    if match.status == "many":
        names = ", ".join(f"@{card['handle']}" for card in cards)
        return Result(
            f"'{args.query}' may be {names}. Look one of them up by handle.",
            data={"candidates": cards},
        )
    return Result(
        f"{cards[0]['name']} is @{cards[0]['handle']}. {cards[0]['reach']}", data=cards[0]
    )


def _card(snapshot: Snapshot, seat: ChartSeat) -> dict[str, Any]:
    manager = snapshot.chart.primary_manager(seat.handle)
    human = seat.kind == "human"
    card: dict[str, Any] = {
        "handle": seat.handle,
        "name": seat.name,
        "kind": seat.kind,
        "unit": seat.unit,
        "goal": seat.goal,
        "reports_to": manager,
        "reach": "A person: mention or ask them on an item; they cannot be asked with a2a_ask."
        if human
        else "An agent: mention them on an item, assign them one, or ask with a2a_ask.",
    }
    if human and seat.role is not None:
        contact = seat.role.contact
        card["contact"] = contact.model_dump(exclude_none=True) if contact else {}
        card["availability"] = seat.role.availability
    return card


class A2AAsk(Args):
    """Arguments of `a2a_ask`."""

    target: str = Field(min_length=1, description="The colleague's handle.")
    brief: str = Field(
        min_length=1,
        max_length=BRIEF_CHARS,
        description="The question with everything they need to answer it in one turn.",
    )


@action("a2a_ask", args=A2AAsk, doors=Doors.AGENTS)
def a2a_ask(actor: Actor, args: A2AAsk, target: None) -> Result:
    """Asks another agent a question. It returns at once; the colleague answers once, and the answer
    wakes you in a later turn. For work, file an item instead; people are asked on an item."""
    snapshot = epochs.active()
    seat = _one_agent(snapshot, actor, args.target)
    channel_id = colleague.open_channel(
        actor, snapshot.seat_ids[seat.handle], seat.handle, args.brief, snapshot
    )
    return Result(
        f"Asked @{seat.handle}. Their answer will wake you; end this branch of your work here.",
        refs=(f"a2a:{channel_id}",),
        data={"channel": str(channel_id), "target": seat.handle},
    )


def _one_agent(snapshot: Snapshot, actor: Actor, text: str) -> ChartSeat:
    match = find_party(snapshot, text)
    if match.status == "many":
        names = ", ".join(f"@{seat.handle}" for seat in match.seats)
        raise Invalid(f"'{text}' may be {names}. Name one handle.", field="target")
    seat = match.seat
    if seat is None:
        near = nearest(text, snapshot.chart.seats)
        raise Invalid(
            f"Nobody here is called '{text}'." + (f" Did you mean {near}?" if near else ""),
            field="target",
        )
    if seat.kind == "human":
        raise Forbidden(
            f"{seat.name} is a person. Ask them on an item with comment_on_work_item and `ask`."
        )
    if seat.handle == actor.handle:
        raise Invalid("You cannot ask yourself.", field="target")
    return seat
