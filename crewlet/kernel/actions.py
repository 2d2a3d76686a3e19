"""One verb, many doors: every write that anybody can make is a registered action.

`perform` wraps it once, in one durable transaction:

1. parse the arguments (a bad one is refused before anything is touched);
2. `before()`: the fence of a turn;
3. claim the operation id; who loses the race waits for the winner and gets its answer;
4. in a savepoint: fetch the target, authorise, run the function and its receivers;
5. outside the savepoint: the stored answer and the audit row, then `within(outcome)`, with which
   the journal adds its own rows; commit.

A refusal rolls the savepoint back and stays stored; a bug rolls everything back and leaves nothing.
Holds: for one operation id there is at most one effect, and every caller of it gets one answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar, Literal, TypeVar

from django.db import connection, transaction
from pydantic import BaseModel, ConfigDict, ValidationError

from crewlet.kernel import clock, drain
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import RULES, Grant, require
from crewlet.kernel.errors import (
    Conflict,
    CrewletError,
    ErrorCode,
    Fenced,
    Forbidden,
    Invalid,
    NotFound,
    Unavailable,
)
from crewlet.kernel.ids import new_id
from crewlet.kernel.nearest import nearest
from crewlet.kernel.registry import Registry

OPERATION_KEPT = timedelta(hours=24)
MAX_KEY = 200


class Door(StrEnum):
    """The generic ways in."""

    TOOL = "tool"
    MCP = "mcp"
    REST = "rest"
    FORM = "form"
    CLI = "cli"


class Doors:
    """Common sets of doors."""

    ALL = frozenset(Door)
    PEOPLE = frozenset({Door.MCP, Door.REST, Door.FORM, Door.CLI})
    AGENTS = frozenset({Door.TOOL})


class Args(BaseModel):
    """Base of every argument model: closed, frozen, with a class name of its own.

    `NOT_IDENTITY` names fields that differ when one call is sent again, as the ticket of an upload.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    NOT_IDENTITY: ClassVar[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Result:
    """What an action did: a sentence, what it touched (`item:ENG-4`), and data as JSON."""

    message: str
    refs: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one call: applied with a result, or refused with an error."""

    status: Literal["applied", "refused"]
    result: Result | None = None
    error: CrewletError | None = None
    replayed: bool = False

    def unwrap(self) -> Result:
        """Returns the result, or raises the refusal."""
        if self.result is None:
            raise self.error or CrewletError("The action left no answer.")
        return self.result

    def to_json(self) -> dict[str, Any]:
        """Returns the outcome as it is stored and sent."""
        if self.result is not None:
            result = self.result
            return {
                "status": self.status,
                "message": result.message,
                "refs": list(result.refs),
                "data": result.data,
            }
        error = self.error or CrewletError("unknown")
        return {
            "status": self.status,
            "error": error.code.value,
            "message": error.message,
            "detail": error.detail,
        }


def _stored_outcome(stored: Mapping[str, Any]) -> Outcome:
    if stored["status"] == "applied":
        result = Result(stored["message"], tuple(stored["refs"]), stored["data"])
        return Outcome("applied", result=result, replayed=True)
    error = CrewletError(
        stored["message"], code=ErrorCode(stored["error"]), **stored.get("detail", {})
    )
    return Outcome("refused", error=error, replayed=True)


A = TypeVar("A", bound=Args)
Function = Callable[[Actor, Any, Any], Result]


@dataclass(frozen=True, slots=True)
class Action:
    """One verb with what every door needs to know of it."""

    name: str
    function: Function
    args: type[Args]
    doors: frozenset[Door]
    grant: Grant | None
    rules: tuple[str, ...]
    fetch: Callable[[Actor, Any], Any] | None
    surface: str | None
    reads: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    label: str
    available: Callable[[int, str], bool] | None

    @property
    def description(self) -> str:
        """The function's docstring: what a model and a reference page read."""
        return " ".join((self.function.__doc__ or "").split())

    def authorise(self, actor: Actor, args: Args, target: Any) -> None:
        """Raises `Forbidden` unless the actor may do this to the target."""
        if actor.is_agent:
            if Door.TOOL not in self.doors:
                raise Forbidden(f"{self.name} is for people, not for agent seats.")
        elif self.grant is not None:
            require(actor, self.grant)
        for rule in self.rules:
            RULES[rule](actor, args, target)


class ActionRegistry(Registry[Action]):
    """The company-wide list of verbs."""

    def all(self, door: Door | None = None) -> list[Action]:
        """Returns the actions behind a door (all without one), sorted by name."""
        chosen = [entry for entry in self.values() if door is None or door in entry.doors]
        return sorted(chosen, key=lambda entry: entry.name)

    def named(self, name: str, door: Door | None = None) -> Action:
        """Returns an action; raises `NotFound` with the nearest names otherwise."""
        entry = self.get(name)
        if entry is not None and (door is None or door in entry.doors):
            return entry
        known = [other.name for other in self.all(door)]
        hint = nearest(name, known)
        raise NotFound(
            f"There is no action '{name}' here." + (f" Did you mean {hint}?" if hint else ""),
            field="action",
        )


ACTIONS = ActionRegistry("actions")
_argument_models: dict[str, str] = {}


def action(
    name: str,
    *,
    args: type[A],
    doors: Iterable[Door] = Doors.ALL,
    grant: Grant | None = None,
    rules: tuple[str, ...] = (),
    fetch: Callable[[Actor, A], Any] | None = None,
    surface: str | None = None,
    reads: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    open_world: bool = False,
    label: str = "",
    available: Callable[[int, str], bool] | None = None,
) -> Callable[[Callable[[Actor, A, Any], Result]], Callable[[Actor, A, Any], Result]]:
    """Registers a function as an action. Person and machine actors need `grant`; an agent seat
    needs the tool door; `rules` name authority rules that everybody must pass. `surface` says
    where a success counts as a delivery. Raises RuntimeError when an argument model's name is
    already taken: the API schema would give the second one the first one's shape.
    """

    def register(function: Callable[[Actor, A, Any], Result]) -> Callable[[Actor, A, Any], Result]:
        taken = _argument_models.setdefault(args.__name__, name)
        if taken != name:
            raise RuntimeError(f"Argument model {args.__name__} of {name} is {taken}'s already.")
        ACTIONS.register(
            name,
            Action(
                name, function, args, frozenset(doors), grant, rules, fetch, surface, reads,
                destructive, idempotent, open_world, label or name.replace("_", " "), available,
            ),
        )  # fmt: skip
        return function

    return register


def parse_args(entry: Action, raw: Mapping[str, Any] | Args) -> Args:
    """Returns the typed arguments; raises `Invalid` naming every bad field."""
    if isinstance(raw, entry.args):
        return raw
    try:
        return entry.args.model_validate(raw)
    except ValidationError as error:
        problems = [
            {
                "field": ".".join(str(part) for part in problem["loc"]),
                "reason": problem["msg"].removeprefix("Value error, "),
            }
            for problem in error.errors(include_url=False, include_input=False)
        ]
        words = "; ".join(f"{p['field'] or 'arguments'}: {p['reason']}" for p in problems)
        raise Invalid(
            f"{entry.name} was not called: {words}",
            field=problems[0]["field"],
            reason=problems[0]["reason"],
            problems=problems,
        ) from error


def perform(
    actor: Actor,
    name: str,
    raw: Mapping[str, Any] | Args,
    *,
    op_id: str | None,
    door: Door,
    scope: str = "",
    before: Callable[[], None] | None = None,
    within: Callable[[Outcome], None] | None = None,
) -> Outcome:
    """Does one verb once and returns what became of it.

    `op_id` is the caller's operation id (None mints one); `scope` keeps the operation while the
    thing it names is open. Raises `Invalid` for bad arguments, `Conflict` when the operation id
    was used for other arguments, `Draining` for new work of people while the engine stops, and
    whatever `before` raises. Other refusals come back in the outcome.
    """
    entry = ACTIONS.named(name, door)
    args = parse_args(entry, raw)
    if entry.reads:
        return _read(entry, actor, args)
    if door is not Door.TOOL and actor.kind is not ActorKind.ENGINE:
        drain.refuse_new_work()
    key = _operation_key(actor, op_id)
    digest = _digest(entry, args)
    with transaction.atomic(durable=True):
        if before is not None:
            before()
        if _claim(key, scope, entry.name, digest):
            outcome = _attempt(entry, actor, args)
            _record(entry, actor, door, key, outcome)
        else:
            outcome = _replay(key, entry.name, digest)
        if within is not None:
            within(outcome)
    return outcome


def _read(entry: Action, actor: Actor, args: Args) -> Outcome:
    try:
        target = entry.fetch(actor, args) if entry.fetch else None
        entry.authorise(actor, args, target)
        return Outcome("applied", result=entry.function(actor, args, target))
    except CrewletError as error:
        return Outcome("refused", error=error)


def _attempt(entry: Action, actor: Actor, args: Args) -> Outcome:
    try:
        with transaction.atomic():
            target = entry.fetch(actor, args) if entry.fetch else None
            entry.authorise(actor, args, target)
            return Outcome("applied", result=entry.function(actor, args, target))
    except (Fenced, Unavailable):
        raise  # nothing was decided: leave no stored answer behind
    except CrewletError as error:
        return Outcome("refused", error=error)


def _operation_key(actor: Actor, op_id: str | None) -> str:
    key = f"{actor.login}/{op_id or new_id()}"
    if len(key) <= MAX_KEY:
        return key
    return f"{actor.login[:60]}/sha256:{hashlib.sha256(key.encode()).hexdigest()}"


def _digest(entry: Action, args: Args) -> str:
    given = args.model_dump(mode="json", exclude_unset=True, exclude=set(args.NOT_IDENTITY))
    body = json.dumps(given, sort_keys=True)
    return hashlib.sha256(f"{entry.name}\n{body}".encode()).hexdigest()


_CLAIM = """
INSERT INTO kernel_operation (key, scope, action, digest, created_at, expires_at)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (key) DO NOTHING
RETURNING key
"""


def _claim(key: str, scope: str, name: str, digest: str) -> bool:
    now = clock.now()
    expires = None if scope else now + OPERATION_KEPT
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, (key, scope, name, digest, now, expires))
        return cursor.fetchone() is not None


def _replay(key: str, name: str, digest: str) -> Outcome:
    with connection.cursor() as cursor:
        cursor.execute("SELECT digest, outcome FROM kernel_operation WHERE key = %s", (key,))
        row = cursor.fetchone()
    if row is None:
        raise Conflict("Another call with this operation id was just undone; send it again.")
    if row[0] != digest:
        raise Conflict(
            f"This operation id was already used for another call of {name} or with other "
            "arguments. Use a new id for a new call.",
            code=ErrorCode.OPERATION_CONFLICT,
        )
    return _stored_outcome(json.loads(row[1]))


_RECORD = """
WITH answered AS (UPDATE kernel_operation SET outcome = %s WHERE key = %s)
INSERT INTO kernel_auditentry
    (id, at, actor, actor_kind, credential, action, door, refs, summary, operation, turn_id,
     refused)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


def _record(entry: Action, actor: Actor, door: Door, key: str, outcome: Outcome) -> None:
    stored = outcome.to_json()
    with connection.cursor() as cursor:
        cursor.execute(
            _RECORD,
            (
                json.dumps(stored, default=str), key,
                new_id(), clock.now(), actor.author, actor.kind.value, actor.credential, entry.name,
                door.value, json.dumps(stored.get("refs", [])), stored["message"][:500], key,
                actor.turn.turn_id if actor.turn else None, stored.get("error", ""),
            ),
        )  # fmt: skip


def forget_expired(now: datetime) -> int:
    """Deletes operations that nobody can repeat any more and returns how many there were."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM kernel_operation WHERE expires_at <= %s", (now,))
        return int(cursor.rowcount)


def release_scope(scope: str) -> None:
    """Starts the 24 hours after which the operations of an ended scope may go.

    Runs in the caller's transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE kernel_operation SET expires_at = %s WHERE scope = %s AND scope <> ''",
            (clock.now() + OPERATION_KEPT, scope),
        )
