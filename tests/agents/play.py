"""Parts of the runtime under test: a company of agents, letters, and turns without a model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from agents.dispatch.turns import TurnContext
from agents.mail import claim
from agents.mail.conversations import Merged
from agents.mail.letters import Mail
from agents.mail.post import post
from agents.models.turns import Turn
from agents.seats import presence
from agents.seats.lease import Lease, fence
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import Fenced
from crewlet.kernel.ids import new_id
from orgs.models.seats import Seat
from orgs.revisions import apply_document

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def a_company(*handles: str, **more: Any) -> dict[str, UUID]:
    """Applies a company of agent seats under a founder `ana`; returns seat ids by handle."""
    roles: list[dict[str, Any]] = [
        {"name": handle.title(), "handle": handle, "goal": f"Be {handle}"} for handle in handles
    ]
    founder = {"name": "Ana", "handle": "ana", "kind": "human", "goal": "Lead"}
    founder["manages"] = list(handles)  # type: ignore[assignment]
    document = {
        "name": "Racers",
        "providers": {"llm": {"default": {"type": "rehearsal"}}},
        "roles": [founder, *roles],
        **more,
    }
    apply_document(engine_actor("tests"), document, summary="A company to test with")
    return dict(Seat.objects.filter(removed_at=None).values_list("handle", "id"))


def a_letter(text: str = "Please look", *, n: int = 0, **more: Any) -> Mail:
    """Returns a letter; `n` orders letters by their age, a later one being newer."""
    values: dict[str, Any] = {
        "event_id": new_id(),
        "kind": "work_change",
        "source": "tracker",
        "batch_key": "tracker:ENG-1",
        "conversation": "tracker:ENG-1",
        "ts": NOON + timedelta(seconds=n),
        "reply_kind": "none",
        "payload": {
            "summary": text,
            "text": text,
            "sender": {"handle": "ana", "name": "Ana", "kind": "human"},
        },
    }
    return Mail(**(values | more))


def post_now(seat_id: UUID, *letters: Mail) -> list[bool]:
    """Posts letters in one transaction."""
    with transaction.atomic():
        return [post(seat_id, letter) for letter in letters]


def a_node(node_id: str = "one", ttl: float = 60.0) -> str:
    """Registers a live node without a process; returns its incarnation."""
    incarnation = presence.mint(node_id)
    presence.register(incarnation, node_id, roles=frozenset({"seats"}), capacity=32, ttl=ttl)
    return incarnation


def lapse(incarnation: str) -> None:
    """Lets a node's presence lie in the past, as if it had frozen long ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE agents_node SET expires_at = clock_timestamp() - interval '1 second' "
            "WHERE id = %s",
            (incarnation,),
        )


Script = Callable[["PlayedTurns", UUID, Lease, TurnContext], None]


def ends(turns: PlayedTurns, turn_id: UUID, lease: Lease, context: TurnContext) -> None:
    """A turn that completes at once."""
    turns.settle(turn_id, lease)


@dataclass
class PlayedTurns:
    """Turns that run a function instead of a model, on real rows and real fences."""

    script: Script = ends
    ran: list[tuple[UUID, bool]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(
        self, cursor: CursorWrapper, turn_id: UUID, merged: Merged, lease: Lease, epoch: int
    ) -> None:
        Turn.objects.create(
            id=turn_id,
            seat_id=lease.seat_id,
            work_key=merged.work_key,
            reply_kind=merged.reply_kind,
            reply_surface=merged.reply_surface,
            trigger=merged.trigger,
            constituents=merged.constituents,
            batch_key=merged.batch_key,
            conversation=merged.conversation,
            epoch=epoch,
            depth=merged.depth,
            lease_epoch=lease.epoch,
            node=lease.owner,
            attempt=merged.attempt,
            started_at=NOON,
        )

    def adopt(self, cursor: CursorWrapper, turn_id: UUID, lease: Lease, *, lost: bool) -> int:
        cursor.execute(
            "UPDATE agents_turn SET lease_epoch = %s, node = %s, node_lost = node_lost + %s, "
            "stage = 'phase', wake_at = NULL WHERE id = %s AND stage <> 'done' "
            "RETURNING node_lost",
            (lease.epoch, lease.owner, int(lost), turn_id),
        )
        row = cursor.fetchone()
        if row is None:
            raise Fenced("ended")
        return int(row[0])

    def abandon(self, cursor: CursorWrapper, turn_id: UUID, error_kind: str, error: str) -> None:
        cursor.execute(
            "UPDATE agents_turn SET stage = 'done', outcome = 'failed', error_kind = %s, "
            "error = %s WHERE id = %s",
            (error_kind, error, turn_id),
        )

    def run(self, turn_id: UUID, lease: Lease, context: TurnContext, *, resumed: bool) -> str:
        with self._lock:
            self.ran.append((turn_id, resumed))
        self.script(self, turn_id, lease, context)
        return str(Turn.objects.values_list("stage", flat=True).get(id=turn_id))

    def settle(self, turn_id: UUID, lease: Lease, outcome: str = "completed") -> None:
        """Ends a turn as the journal does: fenced, mail settled, one commit."""
        with transaction.atomic(), connection.cursor() as cursor:
            fence(cursor, lease.seat_id, lease.epoch)
            claim.settle(cursor, turn_id, outcome)
            cursor.execute(
                "UPDATE agents_turn SET stage = 'done', outcome = %s WHERE id = %s",
                (outcome, turn_id),
            )

    def park(self, turn_id: UUID, lease: Lease, *, reason: str, wake_at: datetime | None) -> None:
        """Parks a turn."""
        with transaction.atomic(), connection.cursor() as cursor:
            fence(cursor, lease.seat_id, lease.epoch)
            cursor.execute(
                "UPDATE agents_turn SET stage = 'parked', park_reason = %s, wake_at = %s "
                "WHERE id = %s",
                (reason, wake_at, turn_id),
            )


def texts_of(turn: Turn) -> Sequence[str]:
    """Returns what the letters of a turn say, oldest first."""
    return [str(part["payload"]["text"]) for part in turn.constituents]


def an_open_turn(cursor: CursorWrapper, seat_id: UUID, events: Sequence[UUID], **more: Any) -> UUID:
    """Opens a turn that has claimed these events' letters; returns its id."""
    values: dict[str, Any] = {
        "work_key": "work",
        "reply_kind": "none",
        "trigger": {},
        "batch_key": "tracker:ENG-1",
        "conversation": "tracker:ENG-1",
        "epoch": 1,
        "lease_epoch": 1,
        "started_at": NOON,
    }
    turn = Turn.objects.create(seat_id=seat_id, **(values | more))
    cursor.execute(
        "UPDATE agents_delivery SET turn_id = %s WHERE seat_id = %s AND event_id = ANY(%s)",
        (turn.id, seat_id, list(events)),
    )
    return turn.id
