"""The one entrance to a turn: new mail, a parked turn that is due, a turn whose worker died.

One look at a seat, on a thread of the gate that has a slot already:
1. Screen. Nothing is claimed by a look that is refused.
2. An open turn is taken over under our lease: after a death (or after an engine that fell over)
   it counts as lost, and the fifth loss moves its mail to the dead letters; after a park it just
   goes on.
3. Else claim, in ONE commit: fence the lease; lock the oldest conversation; drop what was worked
   before and what needs no turn; merge; insert the turn; mark its letters.
4. Give the connection back and run the turn.

Who else may be here: another node only after it raised the lease's epoch, and then step 2 or 3
is fenced; a poster, whose letter waits for the next look; an operator who lifts or drops mail.
Holds: a letter is marked by at most one open turn, and that turn exists.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from prometheus_client import Counter, Histogram

from agents.dispatch import park, screening
from agents.dispatch.screening import Clear, Reason, Refused
from agents.dispatch.turns import OpenTurn, TurnContext, Turns
from agents.mail import claim, conversations, triggers
from agents.mail.conversations import Merged
from agents.mail.letters import Letter
from agents.seats import lease as leases
from agents.seats.host import SeatHost
from agents.seats.lease import Lease
from crewlet.kernel import clock, db
from crewlet.kernel.errors import Fenced
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.ids import new_id

log = logging.getLogger(__name__)

POISON_LOSSES: Final = 5
"""Workers in a row that died under one turn, after which its mail is poison."""
PARKED: Final = "parked"

TURNS = Counter("crewlet_turns_started_total", "Turns that this node started.", ["kind"])
"""kind: new, resumed (after a park), adopted (after a lost worker)."""
WAIT = Histogram(
    "crewlet_mail_wait_seconds",
    "Age of the oldest letter when its turn starts.",
    buckets=[2.0**n for n in range(-4, 13)],
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A turn that this thread is to run."""

    turn_id: UUID
    resumed: bool


class Dispatcher:
    """Looks at seats for one host."""

    def __init__(self, host: SeatHost, turns: Turns) -> None:
        self._host = host
        self._turns = turns

    def look(self, seat_id: UUID) -> bool:
        """Works one unit of the seat's mail if it may; returns whether to look again.

        The gate's work: called on a thread with a slot, never twice at once for a seat.
        """
        try:
            verdict = screening.screen(self._host, seat_id, clock.now())
            if isinstance(verdict, Refused):
                screening.count(verdict.reason, seat_id)
                return False
            claimed = self._claim(seat_id, verdict)
            if claimed is None:
                return False
            db.release()
            # A turn that parked is left to the sweep: what stopped it a moment ago still stands,
            # whatever the screening thinks, and asking at once would spin.
            return self._run(claimed, verdict.lease) != PARKED
        except Fenced:
            held = self._host.lease_of(seat_id)
            if held is not None and not _stands(held):
                self._host.fenced(held)
            return False
        finally:
            db.release()

    def _run(self, claimed: Claimed, lease: Lease) -> str:
        context = TurnContext(
            should_stop=partial(park.stop_of, claimed.turn_id, lease.seat_id),
            lease_fresh=lambda: self._host.holds(lease) and self._host.fresh(),
        )
        return self._turns.run(claimed.turn_id, lease, context, resumed=claimed.resumed)

    def _claim(self, seat_id: UUID, clear: Clear) -> Claimed | None:
        if clear.turn is not None:
            return self._take_over(clear.turn, clear.lease)
        turn_id, letters = self._open(seat_id, clear)
        if turn_id is None:
            screening.count(Reason.NO_MAIL, seat_id)
            return None
        TURNS.labels("new").inc()
        WAIT.observe(max(0.0, (clock.now() - letters[0].ts).total_seconds()))
        return Claimed(turn_id, resumed=False)

    def _open(self, seat_id: UUID, clear: Clear) -> tuple[UUID | None, Sequence[Letter]]:
        lease = clear.lease
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = {leases.LOCK_TIMEOUT_MS}")
            leases.fence(cursor, seat_id, lease.epoch)
            batch = self._batch(cursor, seat_id, clear)
            if not batch:
                return None, ()
            merged = conversations.merge(batch, triggers.collapses)
            turn_id = new_id()
            self._turns.open(cursor, turn_id, merged, lease, clear.snapshot.epoch)
            claim.assign(cursor, turn_id, merged.seqs)
            _tell_merge(seat_id, turn_id, merged)
        return turn_id, merged.letters

    def _batch(self, cursor: CursorWrapper, seat_id: UUID, clear: Clear) -> Sequence[Letter]:
        """Takes conversations, oldest first, until one has a letter that needs a turn."""
        document = clear.snapshot.document
        while True:
            letters = claim.take(
                cursor,
                seat_id,
                window=document.notification_coalesce_window_seconds,
                limit=document.notification_coalesce_max_batch,
            )
            if not letters:
                return ()
            fresh = claim.drop_worked(cursor, seat_id, letters)
            quiet = [letter for letter in fresh if not triggers.wakes(letter.kind)]
            claim.complete(cursor, seat_id, quiet, epoch=clear.lease.epoch, reason="informational")
            wanted = [letter for letter in fresh if triggers.wakes(letter.kind)]
            if wanted:
                return conversations.first_batch(wanted)

    def _take_over(self, turn: OpenTurn, lease: Lease) -> Claimed | None:
        lost = turn.stage != "parked"
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = {leases.LOCK_TIMEOUT_MS}")
            leases.fence(cursor, lease.seat_id, lease.epoch)
            losses = self._turns.adopt(cursor, turn.id, lease, lost=lost)
            poison = lost and losses >= POISON_LOSSES
            if poison:
                why = (
                    f"{losses} workers in a row died under this turn, so its mail is set aside as "
                    "poison. Look at the last call of the turn, then replay or discard the letter."
                )
                claim.bury(cursor, turn.id, why)
                self._turns.abandon(cursor, turn.id, "node_lost", why)
        if poison:
            log.error("turn_poisoned", extra={"turn": str(turn.id), "losses": losses})
            return None
        TURNS.labels("adopted" if lost else "resumed").inc()
        return Claimed(turn.id, resumed=True)


def _tell_merge(seat_id: UUID, turn_id: UUID, merged: Merged) -> None:
    if len(merged.letters) == 1:
        return
    publish(
        EventType.NOTIFICATIONS_COALESCED,
        summary=f"{len(merged.letters)} messages are answered together.",
        seat_id=seat_id,
        turn_id=turn_id,
        work_key=merged.work_key,
        trace_id=merged.trace,
        payload={"batch_key": merged.batch_key, "count": len(merged.letters)},
    )


def _stands(lease: Lease) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            leases.fence(cursor, lease.seat_id, lease.epoch)
    except Fenced:
        return False
    return True
