"""The journal: the only writer of turn rows.

A turn's writes are few and each is one short transaction that first proves the lease (`fence`).
What may ride in a later commit is queued and rides: the rows of a phase with its first answer, the
result of a read with the next write, a verdict with the settlement. What may not wait is committed
at once: an answer before its calls run, the result of a call that changed something.

Holds: a round row exists if and only if its answer was paid for and may be acted on; a call row
exists before its effect; a call of our own has its result in the commit of its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection, transaction

from agents.mail.conversations import work_key_of
from agents.seats import lease
from agents.turn import colleague, delivery, reading, rows, steering, telling, waits, words
from agents.turn.machine import End
from agents.turn.record import CallRecord, IterationRow, PhaseRecord, RoundRecord, TurnRecord
from agents.turn.storable import clean
from crewlet.kernel import clock
from crewlet.kernel.errors import Fenced
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.failpoints import failpoint
from orgs import epochs

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

    from agents.mail.conversations import Merged

__all__ = ["Journal", "abandon", "adopt", "ask_stop", "open_turn", "work_key_of"]

FENCE_FRESH_SECONDS = 1.0


def open_turn(
    cursor: CursorWrapper, *, turn_id: UUID, seat_id: UUID, merged: Merged, epoch: int,
    lease_epoch: int, node: str,
) -> None:  # fmt: skip
    """Writes the row of a turn in its claim's commit, with the text of what it answers.

    The caller has fenced. Publishes `agent_turn_started`, which precedes everything else.
    """
    now = clock.now()
    rows.insert_turn(
        cursor,
        turn_id,
        seat_id,
        (
            merged.work_key, merged.reply_kind, merged.reply_surface,
            rows.as_json(merged.trigger), rows.as_json(merged.constituents), merged.batch_key,
            merged.conversation, rows.as_json(merged.work_item), merged.work_item_key, epoch,
            merged.depth, rows.as_json(list(merged.chain)), merged.parent_turn,
            merged.agent_caused, node, lease_epoch, merged.attempt,
        ),
        now,
    )  # fmt: skip
    rows.insert_segment(cursor, turn_id, kind="dispatch", launch_id="", node=node, now=now)
    publish(
        EventType.AGENT_TURN_STARTED,
        summary=str(merged.trigger.get("summary", "")) or "A turn began",
        seat_id=seat_id,
        turn_id=turn_id,
        work_key=merged.work_key,
        trace_id=merged.trace,
        payload={
            "trigger": {k: v for k, v in merged.trigger.items() if k != "text"},
            "conversation": merged.conversation,
            "work_item": merged.work_item,
            "attempt": merged.attempt,
            "node": node,
            "started_at": now.isoformat(),
            "delegation_depth": merged.depth,
            "delegation_chain": list(merged.chain),
            "parent_turn_id": str(merged.parent_turn) if merged.parent_turn else None,
        },
        topics=("agents", f"turn:{turn_id}"),
    )
    transaction.on_commit(lambda: failpoint("turn.opened"), robust=True)


_ADOPT = """
WITH old AS (SELECT id, stage, park_detail FROM agents_turn WHERE id = %(turn)s FOR UPDATE)
UPDATE agents_turn t SET
    lease_epoch = %(epoch)s, node = %(node)s, node_lost = t.node_lost + %(lost)s,
    stage = CASE WHEN old.stage <> 'parked' THEN t.stage
                 WHEN t.calls = 0 THEN 'context' ELSE 'phase' END,
    epoch = CASE WHEN old.stage = 'parked' THEN (SELECT max(id) FROM orgs_activation)
                 ELSE t.epoch END,
    park_reason = '', wake_at = NULL,
    park_detail = old.park_detail || jsonb_build_object('clean', old.stage = 'parked')
FROM old WHERE t.id = old.id AND t.stage <> 'done'
RETURNING t.node_lost, old.stage, t.seat_id, t.work_key, coalesce(t.trigger ->> 'trace', ''),
    (SELECT count(*) FROM agents_segment s WHERE s.turn_id = t.id)
"""


def adopt(cursor: CursorWrapper, turn_id: UUID, *, lease_epoch: int, node: str, lost: bool) -> int:
    """Takes a parked or orphaned turn over under the caller's lease; returns its `node_lost`.

    A parked turn left nothing half done and goes on under the company of now, so that a changed
    model helps it; a lost one keeps its epoch and is told that a call may be half done.
    Raises Fenced when the turn has ended meanwhile.
    """
    cursor.execute(_ADOPT, {"turn": turn_id, "epoch": lease_epoch, "node": node, "lost": int(lost)})
    row = cursor.fetchone()
    if row is None:
        raise Fenced("The turn has ended; there is nothing to take over.")
    node_lost, stage, seat_id, work_key, trace, segments = row
    if stage == "parked":
        rows.insert_segment(
            cursor, turn_id, kind="resume", launch_id=str(segments), node=node, now=clock.now()
        )
    publish(
        EventType.AGENT_TURN_RESUMED,
        summary="The turn goes on where it was parked" if stage == "parked" else
        "The turn goes on after its worker was lost",
        seat_id=seat_id,
        turn_id=turn_id,
        work_key=work_key,
        trace_id=trace,
        payload={"node": node, "node_lost": node_lost, "parked": stage == "parked"},
        topics=("agents", f"turn:{turn_id}"),
    )  # fmt: skip
    transaction.on_commit(lambda: failpoint("resumed"), robust=True)
    return int(node_lost)


_ABANDON = """
UPDATE agents_turn SET stage = 'done', phase = '', outcome = 'failed', error_kind = %s, error = %s,
    ended_at = %s, wake_at = NULL, park_reason = ''
WHERE id = %s AND stage <> 'done'
RETURNING seat_id, work_key, coalesce(trigger ->> 'trace', '')
"""


def abandon(cursor: CursorWrapper, turn_id: UUID, *, error_kind: str, error: str) -> None:
    """Ends a turn that cannot be gone on with; the caller has already dealt with its mail.

    Whoever waits for it is told, as of any failed turn, with what it had delivered all the same.
    """
    refs = delivery.unreported(reading.read(turn_id)[0])
    error = words.unreported(error, refs) if refs else error
    cursor.execute(_ABANDON, (error_kind, clean(error), clock.now(), turn_id))
    row = cursor.fetchone()
    if row is None:
        return
    _end_words(cursor, turn_id)
    _tell_abandoned(turn_id, error_kind, error)
    publish(
        EventType.AGENT_TURN_COMPLETED,
        summary=error[:300],
        seat_id=row[0],
        turn_id=turn_id,
        work_key=row[1],
        trace_id=row[2],
        failed=True,
        payload={"failed": True, "error_kind": error_kind},
        topics=("agents", f"turn:{turn_id}"),
    )


def _end_words(cursor: CursorWrapper, turn_id: UUID) -> None:
    """Ends what people and an ending turn still had to say to each other; its row is locked."""
    waits.close(cursor, turn_id)
    for note in steering.expire(cursor, turn_id):
        publish(
            EventType.AGENT_TURN_STEERED,
            summary=f"A note of {note.by} came too late to be read",
            turn_id=turn_id,
            payload={"note": str(note.id), "by": note.by, "fate": "expired"},
            topics=("agents", f"turn:{turn_id}"),
        )


_ASK_STOP = """
INSERT INTO agents_stoprequest (turn_id, by, reason, at) VALUES (%s, %s, %s, %s)
ON CONFLICT (turn_id) DO NOTHING RETURNING turn_id
"""


def ask_stop(turn_id: UUID, *, by: str, reason: str) -> bool:
    """Stores a person's wish that a turn ends; False when somebody had it before.

    Needs no lease: the turn itself reads the wish at its next fence.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ASK_STOP, (turn_id, by, reason, clock.now()))
        return cursor.fetchone() is not None


def _tell_abandoned(turn_id: UUID, error_kind: str, error: str) -> None:
    head = reading.head(turn_id)
    snapshot = epochs.snapshot(head.epoch)
    handle = snapshot.handles[head.seat_id]
    name = snapshot.chart.seats[handle].name
    message = words.failed_turn(name, error_kind, error)
    knowing = frozenset[UUID]()
    if head.reply_kind == "engine":
        knowing = colleague.answer(head, handle, name, message)
    telling.tell_ended(
        telling.Ended(head, snapshot, handle, name, message, knowing=knowing), error_kind
    )


_HELD = """
SELECT 1 FROM agents_seatlease WHERE seat_id = %s AND epoch = %s AND owner_id IS NOT NULL
"""


class Journal:
    """The writing end of one turn's record, held by the worker that runs it.

    `answered`, `resulted`, `phase_moved` and `iterated` queue; `commit` writes the queue in one
    fenced transaction; `land` writes it inside the transaction of one of our own actions.
    """

    def __init__(self, record: TurnRecord, lease_epoch: int) -> None:
        self.record = record
        self.lease_epoch = lease_epoch
        self._phases: dict[UUID, PhaseRecord] = {}
        self._rounds: list[tuple[PhaseRecord, RoundRecord, rows.Place]] = []
        self._results: list[CallRecord] = []
        self._iterations: list[IterationRow] = []
        self._heard: list[tuple[tuple[steering.Note, ...], PhaseRecord, int]] = []
        self._events: list[dict[str, Any]] = []
        self._fenced_at = clock.monotonic()

    @property
    def turn_id(self) -> UUID:
        return self.record.head.id

    @property
    def scope(self) -> str:
        """What keeps the turn's operation rows while it is open."""
        return f"turn:{self.turn_id}"

    # --- queueing --------------------------------------------------------------------------------

    def answered(self, phase: PhaseRecord, item: RoundRecord, place: rows.Place) -> None:
        """Queues an answer and where it leads; its phase rides along when it is new."""
        self._phases[phase.id] = phase
        self._rounds.append((phase, item, place))

    def resulted(self, call: CallRecord) -> None:
        """Queues the result of a call whose row is already there."""
        self._results.append(call)

    def phase_moved(self, phase: PhaseRecord) -> None:
        """Queues a phase's state: its submission, its end, its error."""
        self._phases[phase.id] = phase

    def heard(self, notes: tuple[steering.Note, ...], phase: PhaseRecord, n: int) -> None:
        """Queues that notes were read right before answer `n` of a phase, and tells it."""
        if not notes:
            return
        self._heard.append((notes, phase, n))
        for note in notes:
            self.tell(
                EventType.AGENT_TURN_STEERED,
                f"A note of {note.by} was read before round {n + 1}",
                payload={
                    "note": str(note.id),
                    "by": note.by,
                    "fate": "delivered",
                    "phase": phase.phase.value,
                    "iteration": phase.iteration,
                    "round": n,
                },
            )

    def iterated(self, row: IterationRow) -> None:
        """Queues what a pass claimed and got."""
        self._iterations.append(row)

    def tell(self, kind: EventType, summary: str, **values: Any) -> None:
        """Queues an event about this turn; it is told with the commit that makes it true."""
        self._events.append({"kind": kind, "summary": summary, **values})

    def forget(self) -> None:
        """Drops the queue, after a write of it was refused by the database."""
        self._phases, self._rounds, self._results, self._iterations = {}, [], [], []
        self._heard, self._events = [], []

    @property
    def waiting(self) -> bool:
        """Whether anything is queued."""
        return bool(self._phases or self._rounds or self._results or self._iterations)

    # --- writing ---------------------------------------------------------------------------------

    def fence(self) -> None:
        """Proves the lease inside the current transaction; raises Fenced otherwise."""
        with connection.cursor() as cursor:
            lease.fence(cursor, self.record.head.seat_id, self.lease_epoch)
        self._fenced_at = clock.monotonic()

    def prove(self, *, always: bool = False) -> None:
        """Proves the lease outside a transaction, before money is spent or the world is touched.

        Without `always` a proof of the last second is enough: whatever is written later proves it
        again, so all that is saved here is a model call in vain. Takes no lock and no commit.
        """
        if not always and clock.monotonic() - self._fenced_at < FENCE_FRESH_SECONDS:
            return
        with connection.cursor() as cursor:
            cursor.execute(_HELD, (self.record.head.seat_id, self.lease_epoch))
            if cursor.fetchone() is None:
                raise Fenced("This worker no longer holds the seat; its turn goes on elsewhere.")
        self._fenced_at = clock.monotonic()

    @contextmanager
    def write(self) -> Iterator[CursorWrapper]:
        """Opens one fenced transaction with the queue already written. Lock order: seat lease
        first, then the turn; what the caller adds follows the house order, counters last."""
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            lease.fence(cursor, self.record.head.seat_id, self.lease_epoch)
            self.flush(cursor)
            yield cursor
        self._fenced_at = clock.monotonic()

    def commit(self, then: Callable[[CursorWrapper], None] | None = None) -> None:
        """Writes the queue, and what `then` adds, in one commit."""
        with self.write() as cursor:
            if then is not None:
                then(cursor)

    def land(self, call: CallRecord) -> None:
        """Writes the result of one of our actions inside that action's own transaction."""
        self.resulted(call)
        with connection.cursor() as cursor:
            self.flush(cursor)

    def flush(self, cursor: CursorWrapper) -> None:
        """Writes the queue in the order in which the rows point at each other."""
        turn_id = self.turn_id
        for phase in self._phases.values():
            rows.write_phase(cursor, turn_id, phase)
        for phase, item, place in self._rounds:
            rows.write_round(cursor, turn_id, phase, item, place)
        rows.write_results(cursor, self._results)
        for notes, phase, n in self._heard:
            steering.deliver(cursor, notes, phase.phase.value, phase.iteration, n)
        for row in self._iterations:
            rows.write_iteration(cursor, turn_id, row, self._calls_of(row.n), clock.now())
        head = self.record.head
        for event in self._events:
            publish(
                event.pop("kind"),
                seat_id=head.seat_id,
                turn_id=turn_id,
                work_key=head.work_key,
                trace_id=head.trace,
                topics=("agents", f"turn:{turn_id}", *event.pop("topics", ())),
                **event,
            )
        self.forget()

    def _calls_of(self, iteration: int) -> list[dict[str, Any]]:
        return [
            {"name": call.name, "ok": call.ok, "refs": list(call.refs)}
            for phase in self.record.phases
            if phase.iteration == iteration
            for call in phase.calls()
        ]

    def park(
        self,
        cursor: CursorWrapper,
        *,
        reason: str,
        detail: dict[str, Any],
        until: datetime,
        ms: int,
    ) -> None:
        """Puts the turn to sleep; its mail stays claimed and costs no attempt."""
        rows.park_turn(cursor, self.turn_id, reason=reason, detail=detail, until=until, ms=ms)
        rows.close_segment(cursor, self.turn_id, ms)

    def settle(
        self, cursor: CursorWrapper, end: End, *, submitted: str, stopped_by: str, result: str,
        ms: int, work_item: dict[str, Any] | None,
    ) -> tuple[int, int, int, int]:  # fmt: skip
        """Writes the outcome; returns tokens in and out, model calls, milliseconds worked."""
        counts = rows.settle_turn(
            cursor, self.turn_id, end, submitted=submitted, stopped_by=stopped_by, result=result,
            now=clock.now(), ms=ms, work_item=work_item,
        )  # fmt: skip
        rows.close_segment(cursor, self.turn_id, ms)
        _end_words(cursor, self.turn_id)
        return counts
