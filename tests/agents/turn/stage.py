"""A seat that works for real: a company, a lease, mail, a model behind HTTP, three small tools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction

from agents.mail import claim, conversations
from agents.mail.post import Mail, WorkRef, post
from agents.models.seats import Node, SeatLease
from agents.models.turns import Turn
from agents.tools.registry import _cache as tool_cache
from agents.turn import engine, journal
from agents.turn.delivery import SURFACES, Surface
from crewlet.kernel import clock
from crewlet.kernel.actions import ACTIONS, Args, Door, Result, action
from crewlet.kernel.actors import Actor, engine_actor
from crewlet.kernel.errors import Conflict
from crewlet.kernel.ids import new_id
from crewlet.kernel.registry import thawed
from orgs import epochs, revisions
from tests.support.model_server import ModelServer
from tests.support.script import Step, call, offering

COMPANY = """\
name: Harbour Bakery
timezone: Europe/Lisbon
{budget}
providers:
  llm:
    main: {{type: openai-compatible, model: scripted-1, base_url: "{url}"}}
{providers}
roles:
  - {{name: Rita Founder, handle: rita, kind: human, email: rita@harbour.example, manages: [chief]}}
  - {{name: Chief, handle: chief, goal: Keep the ovens busy, manages: [baker]}}
  - name: Baker
    handle: baker
    goal: Bake what was ordered
{seat_budget}
"""


class StageLook(Args):
    """Arguments of the read."""

    item: str = "ENG-1"


class StageNote(Args):
    """Arguments of the write."""

    item: str = "ENG-1"
    text: str = ""


class StageLedger(Args):
    """Arguments of a write that delivers nowhere."""

    text: str = ""


def effects() -> int:
    """How often the write happened: each one moves the chief's row."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(node_count) FROM stage_effects")
        return int(cursor.fetchone()[0] or 0)


def _look(actor: Actor, args: StageLook, target: None) -> Result:
    """Reads an item."""
    return Result(f"{args.item} is open.", refs=(f"item:{args.item}",))


def _note(actor: Actor, args: StageNote, target: None) -> Result:
    """Writes a note on an item."""
    if args.text == "refuse":
        raise Conflict("The item is closed. Reopen it first.")
    if args.text == "explode":
        raise ZeroDivisionError("the note burst")
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO stage_effects VALUES (1, %s)", (args.text,))
    return Result(f"Noted on {args.item}.", refs=(f"item:{args.item}",))


def _ledger(actor: Actor, args: StageLedger, target: None) -> Result:
    """Writes where nobody waits."""
    return Result("Written down.", refs=("page:ledger",))


@contextmanager
def tools() -> Iterator[None]:
    """Registers the three tools and the surface they deliver on, for one test."""
    with thawed(ACTIONS, SURFACES):
        tool_cache.clear()
        agents = frozenset({Door.TOOL})
        ACTIONS._entries = {}
        action("look_at", args=StageLook, doors=agents, reads=True)(_look)
        action("note_on", args=StageNote, doors=agents, surface="work")(_note)
        action("log_it", args=StageLedger, doors=agents)(_ledger)
        if "work" not in SURFACES:
            SURFACES.register("work", Surface("the work item"))
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS stage_effects (node_count int, said text)")
            cursor.execute("TRUNCATE stage_effects")
        yield
    tool_cache.clear()


@dataclass
class Host:
    """The host of the seat, as far as a turn asks it."""

    stop: Any = None

    def should_stop(self) -> Any:
        return self.stop

    def lease_fresh(self) -> bool:
        return True


@dataclass
class Stop:
    by: str
    reason: str = ""


@dataclass
class Stage:
    """Posts mail to `baker`, claims it as the dispatcher does, and runs the turn."""

    server: ModelServer
    host: Host = field(default_factory=Host)
    lease_epoch: int = 1
    node: str = "node-a:1"

    def company(self, budget: str = "", seat_budget: str = "", providers: str = "") -> None:
        """Applies the company and gives this node the lease of every agent seat."""
        url = self.server.openai_url
        text = COMPANY.format(
            url=url, budget=budget, seat_budget=seat_budget, providers=providers.format(url=url)
        )
        revisions.apply_document(engine_actor("test"), text, summary="For a test")
        now = clock.now()
        Node.objects.get_or_create(
            id=self.node,
            defaults={"node_id": "node-a", "started_at": now, "expires_at": now},
        )
        for seat_id in self.snapshot.seat_ids.values():
            SeatLease.objects.update_or_create(
                seat_id=seat_id, defaults={"epoch": self.lease_epoch, "owner_id": self.node}
            )

    @property
    def snapshot(self) -> epochs.Snapshot:
        return epochs.active()

    def seat(self, handle: str = "baker") -> UUID:
        return self.snapshot.seat_ids[handle]

    def mail(self, handle: str = "baker", **values: Any) -> Mail:
        """Posts a message that is owed an answer on the item, unless told otherwise."""
        event = values.pop("event_id", None) or uuid4()
        known: dict[str, Any] = {
            "event_id": event,
            "kind": "work_change",
            "source": "tracker",
            "batch_key": f"event:{event}",
            "conversation": "tracker:ENG-1",
            "ts": clock.now(),
            "payload": {
                "summary": "Bake twelve loaves",
                "sender": {"handle": "chief", "name": "Chief", "kind": "agent"},
                "text": "Item: ENG-1 — Bake twelve loaves\nReason: assigned",
            },
            "reply_kind": "tool",
            "reply_surface": "work",
            "work_item": WorkRef("native", str(uuid4()), "ENG-1", "ENG"),
        }
        letter = Mail(**{**known, **values})
        with transaction.atomic():
            post(self.seat(handle), letter)
        return letter

    def claim(self, handle: str = "baker") -> UUID:
        """Claims the oldest conversation in one commit, as the dispatcher does."""
        seat_id, turn_id = self.seat(handle), new_id()
        with transaction.atomic(), connection.cursor() as cursor:
            letters = claim.take(cursor, seat_id)
            merged = conversations.merge(conversations.first_batch(letters))
            journal.open_turn(
                cursor, turn_id=turn_id, seat_id=seat_id, merged=merged,
                epoch=self.snapshot.epoch, lease_epoch=self.lease_epoch, node=self.node,
            )  # fmt: skip
            claim.assign(cursor, turn_id, merged.seqs)
        return turn_id

    def run(self, turn_id: UUID, *, handle: str = "baker", resumed: bool = False) -> engine.TurnEnd:
        """Runs a claimed turn."""
        claimed = engine.ClaimedTurn(
            turn_id, self.seat(handle), self.lease_epoch, self.node, resumed
        )
        return engine.run(claimed, self.host)

    def adopt(self, turn_id: UUID, *, lost: bool) -> None:
        """Takes a parked or orphaned turn over, as the dispatcher does."""
        with transaction.atomic(), connection.cursor() as cursor:
            journal.adopt(cursor, turn_id, lease_epoch=self.lease_epoch, node=self.node, lost=lost)

    def work(self, **values: Any) -> tuple[engine.TurnEnd, Turn]:
        """Posts, claims and runs one message."""
        self.mail(**values)
        turn_id = self.claim()
        end = self.run(turn_id)
        return end, Turn.objects.get(id=turn_id)

    def executes(self, *steps: Step) -> None:
        """Scripts the executor."""
        self.server.script("executor", offering("submit_work"), list(steps))

    def reviews(self, *steps: Step) -> None:
        """Scripts the reviewer."""
        self.server.script("reviewer", offering("submit_review"), list(steps))


NOTE = Step(calls=[call("note_on", item="ENG-1", text="Twelve loaves are baked.")])
SUBMIT = Step(calls=[call("submit_work", summary="Baked.", deliveries=["item:ENG-1"])])
DONE = Step(calls=[call("submit_review", decision="done", completed_work="The loaves")])


def again(notes: str = "Bake one more.") -> Step:
    """A reviewer who sends the work back."""
    return Step(calls=[call("submit_review", decision="self_iterate", notes=notes)])
