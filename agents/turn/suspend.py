"""A turn that hangs on a person: it parks on one call and goes on with what they said.

Two calls hang: `wait_for_person`, whose result is the answer, and a call that needs leave
(`agents.turn.approvals`), which runs once it has it. The mechanism is one:

1. Before anything is done, the wait is written in the commit that parks the turn. The rows hold all
   the rest, so any node goes on from them, after a restart or after weeks.
2. Its mail counts as worked from then on: another turn of the seat may run meanwhile.
3. A person speaks. The turn is due, is taken over like any parked one, and comes to the same call.
4. It takes what was said in a commit of its own, and only then acts on it. So a worker that dies
   before has begun nothing, and one that dies after is resumed by the rules of the effect.

Holds: one call of a turn hangs at a time. A second one of the same answer is refused unrun: it was
asked for without knowing what the person would say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from agents.tools.run_call import CallResult
from agents.tools.tool import Tool
from agents.turn import approvals, outcome, waits, words
from agents.turn.coast import step
from agents.turn.ledger import elide
from agents.turn.machine import State, Suspended
from agents.turn.record import CallRecord, Effect, Wait
from agents.turn.storable import cleaned
from crewlet.kernel import clock
from crewlet.kernel.ids import new_id
from orgs.parties import find_party

if TYPE_CHECKING:
    from agents.turn.running import Running
    from orgs.epochs import Snapshot

PERSON: Final = "person"
WAIT_FOR_PERSON: Final = "wait_for_person"
SOURCE: Final = "turn"
TITLE: Final = 300
Option = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class WaitForPerson(BaseModel):
    """Asks one person a question and waits for the answer, in this very turn.

    Its result is what they answered, an hour or a month later. Use it when you cannot go on without
    them and nothing else is left to do; for a decision on an item, ask on the item instead. Call
    nothing else beside it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    who: str = Field(min_length=1, max_length=200, description="The person, by handle or name.")
    question: str = Field(
        min_length=1, max_length=4000, description="What you need to know, with what it rests on."
    )
    options: tuple[Option, ...] = Field(
        default=(), max_length=6, description="Answers to choose from, when there are a few."
    )


def tools(snapshot: Snapshot, handle: str) -> Iterable[Tool]:
    """Offers `wait_for_person` where there is a person to wait for."""
    if any(not seat.is_agent for seat in snapshot.chart.seats.values()):
        yield _TOOL


def _tool() -> Tool:
    schema = WaitForPerson.model_json_schema()
    description = " ".join(schema.pop("description").split())
    return Tool(
        WAIT_FOR_PERSON, description, schema, read_only="no", destructive="no", source=SOURCE
    )


_TOOL: Final = _tool()


@dataclass(frozen=True, slots=True)
class Go:
    """The call may run: with other arguments and a word before its result, if a person said so."""

    args: dict[str, Any] | None = None
    preface: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """The call has its result without being run. `denied`: it is an answer and no error."""

    result: CallResult
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Hangs:
    """The turn is parked on the call."""

    state: State


def look(running: Running, state: State, call: CallRecord) -> Go | Said | Hangs:
    """Says what is to become of the call that is due, and parks the turn if it has to wait."""
    wait = running.record.waits.get(call.id)
    if wait is None:
        return _first(running, state, call)
    if wait.state in ("open", "answered"):
        running.ambiguous = None  # what needs leave begins only after the wait was taken
        if wait.state == "open" and clock.now() < wait.until:
            return Hangs(_park(running, state, wait, opening=None))
        running.journal.commit(lambda cursor: waits.take(cursor, wait))
    return _spoken(running, call, wait)


def _first(running: Running, state: State, call: CallRecord) -> Go | Said | Hangs:
    tool = running.tool(call.name)
    waiting = call.effect is Effect.WAIT
    gated = tool is not None and approvals.needs_leave(tool, running.gates)
    if not waiting and not gated:
        return Go()
    running.ambiguous = None  # had it waited, there would be a row; so it has not begun either
    if _another_hung(running, call):
        return Said(CallResult.failed(words.SECOND_WAIT.format(name=call.name)))
    opening = _question(running, call) if waiting else _leave(running, call)
    if isinstance(opening, CallResult):
        return Said(opening)
    return Hangs(_park(running, state, opening.wait, opening=opening))


def _another_hung(running: Running, call: CallRecord) -> bool:
    """Whether an earlier call of the same answer waited for a person."""
    for phase in running.record.phases:
        for item in phase.rounds:
            if call in item.calls:
                return any(other.id in running.record.waits for other in item.calls)
    return False


def _question(running: Running, call: CallRecord) -> waits.Opening | CallResult:
    try:
        asks = WaitForPerson.model_validate(cleaned(call.args or {}))
    except ValidationError as error:
        found = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False)
        )
        return CallResult.failed(f"{call.name} was not run: {found}.")
    match = find_party(running.snapshot, asks.who)
    if match.seat is None:
        near = ", ".join(f"@{seat.handle}" for seat in match.seats) or "nobody"
        return CallResult.failed(f"'{asks.who}' names no one person here; near it: {near}.")
    if match.seat.is_agent:
        return CallResult.failed(
            f"@{match.seat.handle} is held by an agent. Ask a colleague with a2a_ask; only for a "
            "person a turn waits."
        )
    return _opening(
        running, call, waits.ANSWER, asks.question, match.seat.handle, options=asks.options
    )


def _leave(running: Running, call: CallRecord) -> waits.Opening:
    person = approvals.person_above(running.snapshot.chart, running.handle)
    question = words.LEAVE.format(name=running.seat.name, tool=call.name)
    return _opening(running, call, waits.APPROVAL, question, person, args_text=call.args_text)


def _opening(
    running: Running, call: CallRecord, kind: str, question: str, person: str | None, **more: Any
) -> waits.Opening:
    wait = Wait(new_id(), kind, "open", waits.deadline(clock.now()))
    asked = running.snapshot.seat_ids[person] if person else None
    return waits.Opening(wait, call.id, call.name, question, asked, **more)


def _park(running: Running, state: State, wait: Wait, opening: waits.Opening | None) -> State:
    """Parks the turn; the first time with the row that says for what."""
    after = step(running, state, Suspended(PERSON, wait.until))
    with running.journal.write() as cursor:
        if opening is not None:
            waits.open_wait(cursor, running.record.head.id, opening)
            running.record.waits[opening.call_row] = wait
        about = opening.question if opening else "a person has not answered yet"
        outcome.suspend(running, after, cursor, wait, elide(about, TITLE))
    outcome.fire_marks(running)
    return after


def _spoken(running: Running, call: CallRecord, wait: Wait) -> Go | Said:
    name = running.name_of(wait.by)
    if not wait.decision:
        return Said(CallResult.failed(words.NOBODY_SPOKE.format(days=waits.PATIENCE.days)))
    if wait.decision == "deny":
        told = words.DENIED.format(who=name, why=wait.words or "no reason given")
        return Said(CallResult.failed(told), denied=True)
    if wait.kind == waits.ANSWER:
        return Said(CallResult(ok=True, text=words.ANSWERED.format(who=name, said=wait.words)))
    if wait.decision == "edit":
        args = json.loads(wait.edited_text)
        return Go(args, words.EDITED.format(who=name, args=wait.edited_text))
    return Go()
