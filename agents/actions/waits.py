"""Verbs over what turns wait for: answer a question, decide about a call."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal
from uuid import UUID

from jsonschema import Draft202012Validator
from pydantic import Field, StringConstraints

from agents import wake
from agents.queries import waits as queries
from agents.queries.waits import Standing
from agents.turn import waits
from crewlet.kernel import live
from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import RULES, authority_rule
from crewlet.kernel.errors import Forbidden, Invalid
from crewlet.kernel.events import EventType, publish

Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=8000)]


class AnswerWait(Args):
    """The answer to what a turn asked. Choose one of its options, or write."""

    wait: UUID = Field(description="The id of the question, as the inbox and the turn show it.")
    answer: Words = Field(default="", description="The answer in words.")
    choice: Words = Field(default="", description="One of the options, as it is written.")


class DecideCall(Args):
    """What is to become of a call that needs leave."""

    wait: UUID = Field(description="The id of the request, as the inbox and the turn show it.")
    decision: Literal["approve", "edit", "deny"] = Field(
        description="approve: run exactly this call. edit: run it with `arguments`. deny: do not."
    )
    arguments: str = Field(
        default="", max_length=200_000, description="JSON arguments to run it with, for edit."
    )
    reason: Words = Field(default="", description="Why, for the seat. Required to deny.")


def _of_kind(kind: str, other: str) -> Any:
    def fetch(actor: Actor, args: AnswerWait | DecideCall) -> Standing:
        found = queries.standing(args.wait)
        if found.kind != kind:
            raise Invalid(f"This is not for {args.wait}: use {other}.", field="wait")
        return found

    return fetch


@authority_rule("answers_wait")
def answers_wait(actor: Actor, args: Any, target: Standing) -> None:
    """The person who was asked, or somebody who leads the waiting seat or operates."""
    if actor.is_agent:
        raise Forbidden("A turn waits for a person, not for an agent.", reason="not_agent")
    if actor.seat_id is not None and actor.seat_id == target.asked_id:
        return
    RULES["leads_seat_or_operates"](actor, args, target)


@action(
    "answer_wait",
    args=AnswerWait,
    doors=Doors.PEOPLE,
    rules=("answers_wait",),
    fetch=_of_kind(waits.ANSWER, "decide_call"),
    idempotent=True,
    label="Answered a waiting turn",
)
def answer_wait(actor: Actor, args: AnswerWait, target: Standing) -> Result:
    """Answers the question that a turn hangs on; the very turn goes on with it. Of two answers the
    first counts."""
    if args.choice and args.choice not in target.options:
        raise Invalid(
            f"'{args.choice}' is none of the options: {'; '.join(target.options) or 'none'}.",
            field="choice",
        )
    told = "\n\n".join(part for part in (args.choice, args.answer) if part)
    if not told:
        raise Invalid("The answer is empty. Choose an option or write one.", field="answer")
    return _decide(actor, target, "answer", words=told, did=f"answered {target.handle}")


@action(
    "decide_call",
    args=DecideCall,
    doors=Doors.PEOPLE,
    rules=("not_agent", "leads_seat_or_operates"),
    fetch=_of_kind(waits.APPROVAL, "answer_wait"),
    destructive=True,
    idempotent=True,
    label="Decided about a call",
)
def decide_call(actor: Actor, args: DecideCall, target: Standing) -> Result:
    """Approves, edits or denies a call that a turn of a seat you lead hangs on. It runs once, with
    the arguments on record or with yours; a denial is told to the seat with your reason."""
    edited = ""
    if args.decision == "edit":
        edited = _edited(args.arguments, target)
    elif args.arguments:
        raise Invalid("Arguments belong to the decision edit alone.", field="arguments")
    if args.decision == "deny" and not args.reason:
        raise Invalid("Say why, so that the seat can find another way.", field="reason")
    done = {"approve": "approved", "edit": "changed and approved", "deny": "denied"}[args.decision]
    return _decide(
        actor,
        target,
        args.decision,
        words=args.reason,
        did=f"{done} {target.tool}",
        edited=edited,
    )


def _edited(text: str, target: Standing) -> str:
    """Returns arguments that the tool takes, as they were written; raises Invalid otherwise."""
    try:
        args = json.loads(text)
    except ValueError as error:
        raise Invalid(f"The arguments are not JSON: {error}.", field="arguments") from error
    if not isinstance(args, dict):
        raise Invalid("The arguments are to be a JSON object.", field="arguments")
    problems = [
        f"{'.'.join(map(str, problem.absolute_path)) or 'arguments'}: {problem.message}"
        for problem in Draft202012Validator(target.schema).iter_errors(args)
    ]
    if problems:
        raise Invalid(f"{target.tool} does not take that: {'; '.join(problems)}", field="arguments")
    return text.strip()


def _decide(
    actor: Actor, target: Standing, decision: str, *, words: str, did: str, edited: str = ""
) -> Result:
    waits.answer(target.id, decision=decision, words=words, edited_text=edited, by=actor.author)
    publish(
        EventType.AGENT_WAIT_ANSWERED,
        summary=f"{actor.name} {did}",
        actor=actor.author,
        seat_id=target.seat_id,
        turn_id=target.turn_id,
        payload={"wait": str(target.id), "kind": target.kind, "decision": decision},
        topics=("agents", "inbox", f"seat:{target.handle}", f"turn:{target.turn_id}"),
    )
    live.changed("home")
    wake.ring(target.seat_id)
    return Result(
        f"You {did}; the turn goes on.",
        refs=(f"turn:{target.turn_id}", f"seat:{target.handle}"),
        data={"wait": str(target.id), "decision": decision},
    )
