"""What there is to see: items in every lane, a decision that waits, a turn in its second pass."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from agents.models.turns import Phase, Round, ToolCall, Turn
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import EngineEvent
from orgs.epochs import Snapshot
from orgs.models.company import ConfigRevision
from tests.tracker.company import comment, create
from tests.tracker.conftest import Cast
from tracker.models.items import WorkItem

OPTIONS = [
    {"id": "even", "label": "Half-even", "detail": "As the ledger does."},
    {"id": "up", "label": "Half-up", "detail": "As customers expect."},
]
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@dataclass
class Stage:
    """The rows that tests look for."""

    cast: Cast
    asked: WorkItem
    todo: list[WorkItem]
    running: Turn
    ended: Turn

    @property
    def ana(self) -> Actor:
        """The founder."""
        return self.cast.ana

    @property
    def unit(self) -> str:
        """A unit of the company."""
        return next(iter(self.cast.snapshot.chart.units))

    @property
    def event(self) -> UUID:
        """The event that happened last."""
        return EngineEvent.objects.latest("ts").id

    @property
    def revision(self) -> UUID:
        """The revision that runs."""
        return ConfigRevision.objects.latest("created_at").id


def set_stage(snapshot: Snapshot) -> Stage:
    """Files items, asks Ana to decide, and stores a running and an ended turn."""
    cast = Cast(snapshot)
    todo = [
        create(cast.ana, title, project="ENG", assignee="agent-swe")
        for title in ("Dim the lamp slowly", "Count the blinks", "Write the manual")
    ]
    create(cast.ana, "Order glass", project="ENG", assignee="qa", status="in_progress")
    create(cast.ana, "Paint the box", project="ENG", status="done")
    asked = create(
        cast.ana, "Round the invoice", project="ENG", assignee="agent-swe", status="in_progress",
        body="The total *drifts*. Ask @qa, see ENG-1.",
    )  # fmt: skip
    decision = {
        "question": "Which rule should we round by?", "options": OPTIONS, "role": "approver",
        "recommended": "even", "rationale": "The ledger rounds so already.",
    }  # fmt: skip
    comment(cast.swe, asked, "Both rules are possible.", ask="ana", decision=decision)
    running = a_turn(cast.swe, asked, snapshot.epoch)
    ended = a_turn(
        cast.qa, todo[0], snapshot.epoch, stage="done", outcome="completed", submitted="delivered",
        ended_at=clock.now(), result="Counted **four** blinks.",
    )  # fmt: skip
    publish(
        EventType.AGENT_TURN_COMPLETED, summary="Counted the blinks.", seat_id=ended.seat_id,
        turn_id=ended.id, trace_id=TRACE,
    )  # fmt: skip
    return Stage(cast, asked, todo, running, ended)


def a_turn(actor: Actor, item: WorkItem, epoch: int, **more: Any) -> Turn:
    """Stores a turn of two rounds on an item, running unless told otherwise."""
    began = clock.now() - timedelta(minutes=3)
    trigger = {
        "summary": f"Ana assigned {item.key}", "text": f"Item: {item.key}\n\nPlease do it.",
        "type": "work", "sender": {"handle": "ana", "name": "Ana", "kind": "human"},
    }  # fmt: skip
    assert actor.seat_id
    turn = Turn.objects.create(
        seat_id=actor.seat_id, work_key=str(new_id()), reply_kind="tool", reply_surface="work",
        trigger=trigger, batch_key=item.key, conversation=item.key, work_item_key=item.key,
        work_item={"backend": "native", "id": str(item.pk), "key": item.key, "basis": "mail"},
        constituents=[{"payload": {"item": {"key": item.key, "title": item.title}}}],
        epoch=epoch, node="one", lease_epoch=1, started_at=began, tokens_in=4200, tokens_out=300,
        calls=2, **{"stage": "phase", "phase": "execute", **more},
    )  # fmt: skip
    system, user = "# Identity\nYou fix lamps.\n", "# The item\nPlease do it.\n"
    phase = Phase.objects.create(
        turn=turn, phase="execute", iteration=1, provider_key="play", model="rehearsal",
        system=system, user=user, max_rounds=24, started_at=began + timedelta(seconds=2),
        system_outline=[{"key": "identity", "title": "Identity", "bytes": len(system)}],
        user_outline=[{"key": "item", "title": "The item", "bytes": len(user)}],
        tools=[{"name": "comment_on_work_item"}], status="done" if turn.ended_at else "running",
        ended_at=turn.ended_at,
    )  # fmt: skip
    for number in range(2):
        a_round(phase, number)
    return turn


def a_round(phase: Phase, number: int, content: str = "") -> Round:
    """Stores one round with one call."""
    found = Round.objects.create(
        phase=phase, n=number, started_at=clock.now(), ms=900, stop_reason="tool_use",
        content=content or f"Round {number + 1}: I look before I change anything. " * 6,
        reasoning="It blinks in fours.", tokens_in=2000 + number, tokens_out=150, answer="{}",
    )  # fmt: skip
    ToolCall.objects.create(
        round=found, ord=0, call_id=f"c{number}", name="comment_on_work_item", status="done",
        ok=number == 0, args={"item": "ENG-1", "body": "Four blinks"}, ms=40,
        result="Commented." if number == 0 else "ENG-99 does not exist.",
        refs=["item:ENG-1"] if number == 0 else [],
    )  # fmt: skip
    return found
