"""One misbehaving seat on one item: filed through the real door, worked by the real dispatcher."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal, Protocol
from uuid import UUID

from agents.dispatch.dispatcher import Dispatcher
from agents.dispatch.turns import JournalledTurns
from agents.models.mail import Delivery
from agents.models.turns import ToolCall, Turn
from agents.seats.host import HostSettings, SeatHost
from agents.seats.presence import register
from bench.place import BenchProblem
from crewlet.kernel import db
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import Actor, engine_actor
from orgs import epochs
from orgs.models.notices import Notice
from orgs.people import founder
from orgs.people.actors import session_actor
from orgs.revisions import apply_document
from tests.support.script import SeenRequest, Step, call
from tracker.models.comments import Comment, CommentKind
from tracker.models.items import WorkItem

BAKER: Final = "baker"
CHIEF: Final = "chief"
RIGHT: Final = "Twelve loaves"
"""The answer that the ledger gives, and the one that the item asks for."""
LEDGER: Final = "The ledger of this morning: twelve loaves were sold."
ASK: Final = (
    "How many loaves were sold this morning? Look it up in the text below and say the number on "
    f"this item.\n\n{LEDGER}"
)
UNKNOWN_ASK: Final = "How many loaves will the new shop need? Its size stands nowhere yet."
ROUNDS: Final = 6
"""Rounds of a pass: enough for the good way, and few enough to see an endless one end."""
LOOKS_MOST: Final = 24
"""Units of mail that one scene may take before it is called endless."""


class Fate(StrEnum):
    """What became of a fault. Later members are worse."""

    CAUGHT = "caught"  # it was put right, and the work ended well
    CONTAINED = "contained"  # it was not, nothing counts as done, and somebody was told
    LEAKED = "leaked"  # it stands and the work counts as done, or nobody heard that it does not


class Misbehaviour(Protocol):
    """What the executor of the faulty seat says: `n` answers of the scene came before."""

    def __call__(self, seen: SeenRequest, n: int, item: str) -> Step: ...


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to fail.

    `stands` tells of an ended scene whether the fault is there. `found_by` the engine: the record
    alone shows it, so it must not be let through whoever reviews.
    """

    code: str
    name: str
    found_by: Literal["engine", "reviewer"]
    misbehave: Misbehaviour
    stands: Callable[[Ended], bool]
    objection: Callable[[str], str] = lambda record: ""
    ask: str = ASK
    meanwhile: str = ""
    """What a colleague says on the item once the seat has begun."""
    reviewer: Callable[[SeenRequest], Step] | None = None
    """A reviewer who fails in a way of its own."""


@dataclass
class Ended:
    """What stands on record when a scene has come to rest."""

    item: WorkItem
    turns: list[Turn]
    seat_id: UUID

    @property
    def said(self) -> list[str]:
        """What the seat said on the item, oldest first."""
        mine = Comment.objects.filter(item=self.item, author_seat_id=self.seat_id)
        return list(
            mine.exclude(kind=CommentKind.SYSTEM)
            .order_by("created_at", "id")
            .values_list("body", flat=True)
        )

    @property
    def completed(self) -> bool:
        """Whether the work of the last turn counts as done."""
        return bool(self.turns) and self.turns[-1].outcome == "completed"

    @property
    def unworked(self) -> bool:
        """Whether mail of the seat was left behind."""
        return Delivery.objects.filter(seat_id=self.seat_id).exists()

    def calls(self, name: str) -> int:
        """How often the seat called a tool."""
        return ToolCall.objects.filter(
            round__phase__turn__in=[turn.pk for turn in self.turns], name=name
        ).count()

    def told(self) -> bool:
        """Whether somebody was told that the work did not end well."""
        return Notice.objects.filter(reason="turn_failed").exists() or any(
            turn.stage == "parked" for turn in self.turns
        )


def fate_of(mode: Mode, ended: Ended) -> Fate:
    """Judges an ended scene by its record alone."""
    wrong = mode.stands(ended)
    if ended.completed:
        return Fate.LEAKED if wrong else Fate.CAUGHT
    return Fate.CONTAINED if ended.told() else Fate.LEAKED


@dataclass
class Script:
    """The model of a scene: every seat thinks with it, one of them misbehaves."""

    mode: Mode | None = None
    nods: bool = False
    item: str = ""
    answers: int = 0
    meanwhile: Callable[[], None] | None = None
    reviewed: int = field(default=0)

    def __call__(self, seen: SeenRequest) -> Step:
        """Answers a request as the scene has it."""
        if self.mode is None or "Baker" not in seen.system.split("\n\n", 1)[0]:
            return _bystander(seen)
        if "submit_review" in seen.tools:
            return self._review(seen, self.mode)
        if "submit_work" not in seen.tools:
            return Step(say="no")  # the judge of a round cap: this seat needs no more of them
        step = self.mode.misbehave(seen, self.answers, self.item)
        self.answers += 1
        if self.answers == 1 and self.meanwhile is not None:
            self.meanwhile()
        return step

    def _review(self, seen: SeenRequest, mode: Mode) -> Step:
        if mode.reviewer is not None:
            return mode.reviewer(seen)
        objection = "" if self.nods else mode.objection(seen.text)
        self.reviewed += 1
        if objection:
            return Step(calls=[call("submit_review", decision="self_iterate", notes=objection)])
        return Step(calls=[call("submit_review", decision="done", completed_work="It is done.")])


def _bystander(seen: SeenRequest) -> Step:
    """A colleague who was told of something and leaves it to the founder."""
    if "submit_review" in seen.tools:
        return Step(calls=[call("submit_review", decision="done", completed_work="Read.")])
    if "submit_work" not in seen.tools:
        return Step(say="no")
    return Step(calls=[call("submit_work", outcome="no_action", summary="Read it.")])


def document(model_url: str) -> dict[str, Any]:
    """Returns the company: a founder, a lead and the seat that misbehaves."""
    return {
        "name": "Orgsuite Bakery",
        "turn_engine": {"max_tool_rounds": ROUNDS, "execute_max_tool_rounds_ceiling": ROUNDS},
        "providers": {
            "llm": {
                "main": {
                    "type": "openai-compatible",
                    "model": "scripted",
                    "base_url": model_url,
                }
            }
        },
        "roles": [
            {"name": "Rita Founder", "handle": "rita", "kind": "human", "manages": [CHIEF]},
        ],
        "units": [
            {
                "name": "Bakery",
                "id": "bakery",
                "lead": CHIEF,
                "project": "BAKE",
                "roles": [
                    {"name": "Chief", "handle": CHIEF, "goal": "Keep the ovens busy"},
                    {"name": "Baker", "handle": BAKER, "goal": "Answer for what was baked"},
                ],
            }
        ],
    }


@dataclass
class Stage:
    """A company on an empty store, and a node of this very process that works its mail."""

    script: Script
    person: Actor
    dispatcher: Dispatcher

    @classmethod
    def opened(cls, script: Script, model_url: str) -> Stage:
        """Applies the company and takes its seats."""
        apply_document(engine_actor("orgsuite"), document(model_url), summary="What may go wrong")
        person = founder.ensure_founder()
        if person is None:
            raise BenchProblem("The company came up without a founder, so nobody can ask it.")
        host = SeatHost(HostSettings("orgsuite", 900.0, 5.0, 4))
        register(host.incarnation, "orgsuite", roles=host.settings.roles, capacity=4, ttl=900.0)
        host.renew_once()
        host.sweep_once()
        return cls(script, session_actor(person), Dispatcher(host, JournalledTurns()))

    def play(self, mode: Mode, *, nods: bool) -> Fate:
        """Plays one mode to its rest and returns what became of the fault."""
        return fate_of(mode, self.played(mode, nods=nods))

    def played(self, mode: Mode, *, nods: bool) -> Ended:
        """Plays one mode to its rest; `nods`: its reviewer agrees with everything."""
        Notice.objects.all().delete()
        filed = self._do(
            "create_work_item",
            title=f"{mode.code} {mode.name}",
            body=mode.ask,
            project="BAKE",
            assignee=BAKER,
        )
        key = filed.refs[0].removeprefix("item:")
        self.script.mode, self.script.nods, self.script.item = mode, nods, key
        self.script.answers = self.script.reviewed = 0
        self.script.meanwhile = (
            (lambda: self._do("comment_on_work_item", item=key, body=mode.meanwhile))
            if mode.meanwhile
            else None
        )
        self._rest()
        item = WorkItem.objects.get(key=key)
        turns = Turn.objects.filter(work_item_key=key, seat__handle=BAKER).order_by("started_at")
        return Ended(item, list(turns), epochs.active().seat_ids[BAKER])

    def _rest(self) -> None:
        seats = epochs.active().seat_ids
        for _ in range(LOOKS_MOST):
            before = Delivery.objects.count()
            for handle in (BAKER, CHIEF):
                self.dispatcher.look(seats[handle])
            if not Delivery.objects.filter(turn=None).exists() or (
                Delivery.objects.count() == before and not Delivery.objects.filter(turn=None)
            ):
                return
        db.release()

    def _do(self, action: str, **arguments: Any) -> Any:
        return perform(self.person, action, arguments, op_id=None, door=Door.FORM).unwrap()
