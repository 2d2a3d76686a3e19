"""The verbs over dead letters."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from agents.mail import waiting
from crewlet.kernel import clock
from crewlet.kernel.actions import Args, Door, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.events import EventType, publish

_PEOPLE = {Door.REST, Door.FORM, Door.CLI, Door.MCP}


class ReplayDeadLetter(Args):
    """Which letter is to be worked after all."""

    letter: UUID = Field(description="The dead letter's id.")


class DiscardDeadLetter(Args):
    """Which letter is to be given up."""

    letter: UUID = Field(description="The dead letter's id.")


@action(
    "replay_dead_letter",
    args=ReplayDeadLetter,
    doors=_PEOPLE,
    grant=Grant.FLEET_OPERATE,
    rules=("not_agent",),
    label="Replayed a dead letter",
)
def replay_dead_letter(actor: Actor, args: ReplayDeadLetter, target: None) -> Result:
    """Puts a dead letter back into its seat's mailbox: the same event, no failed attempts."""
    seat_id = waiting.replay(args.letter, by=actor.author, now=clock.now())
    _tell(EventType.DEAD_LETTER_REPLAYED, f"{actor.name} replayed a dead letter.", actor, seat_id)
    return Result("The letter waits for its seat again.")


@action(
    "discard_dead_letter",
    args=DiscardDeadLetter,
    doors=_PEOPLE,
    grant=Grant.FLEET_OPERATE,
    rules=("not_agent",),
    destructive=True,
    label="Discarded a dead letter",
)
def discard_dead_letter(actor: Actor, args: DiscardDeadLetter, target: None) -> Result:
    """Sets a dead letter aside for good; it stays listed as handled for 30 days."""
    seat_id = waiting.discard(args.letter, by=actor.author, now=clock.now())
    _tell(EventType.DEAD_LETTER_DISCARDED, f"{actor.name} discarded a dead letter.", actor, seat_id)
    return Result("The letter is discarded.")


def _tell(kind: EventType, summary: str, actor: Actor, seat_id: UUID) -> None:
    publish(kind, summary=summary, actor=actor.author, seat_id=seat_id, topics=("agents", "health"))
