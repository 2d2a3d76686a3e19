"""What a settled turn leaves to the next turn of its conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.memory import sessions
from agents.turn import delivery, ledger
from agents.turn.machine import End, Outcome, PhaseName, State
from agents.turn.phases import review
from agents.turn.phases.execute import trigger_texts
from agents.turn.running import Running
from agents.turn.storable import clean
from crewlet.kernel import clock

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

TRIGGER_CHARS = 2000
TEXT_CHARS = 6000


def conversation(
    running: Running, state: State, cursor: CursorWrapper, end: End, result: str
) -> None:
    """Keeps the turn's entry in the settling commit; one that had nothing to do leaves none."""
    head = running.record.head
    if end.outcome is Outcome.SKIPPED or not sessions.keeps(running.snapshot, head.conversation):
        return
    sessions.record(
        cursor,
        seat_id=head.seat_id,
        conversation=head.conversation,
        work_key=head.work_key,
        turn_id=head.id,
        entry=_entry(running, state, end, result),
        now=clock.now(),
    )


def _entry(running: Running, state: State, end: End, result: str) -> sessions.Entry:
    record = running.record
    asked = [
        str(message.payload.get("text") or message.payload.get("summary") or "")
        for message in trigger_texts(record.head)
    ]
    work = review.submitted_work(record.phase(PhaseName.EXECUTE, state.iteration))
    verdict = review.verdict(running, state.iteration)
    entry = sessions.Entry(
        trigger=ledger.elide(clean("\n\n".join(asked).strip()), TRIGGER_CHARS),
        calls=[clean(ledger.call_line(call)) for call in record.calls() if call.wrote],
        completed_work=clean(verdict.completed_work) if verdict else "",
        blocked_on=clean(work.evidence) if work and work.outcome == "blocked" else "",
        decision=end.error_kind or end.decision or end.outcome.value,
    )
    text = ledger.elide(clean(result), TEXT_CHARS)
    if _reached(running, end):
        entry["reply"] = text
    else:
        entry["unsent"] = text
    return entry


def _reached(running: Running, end: End) -> bool:
    """Whether what the turn has to say came to whoever asked."""
    kind = running.record.head.reply_kind
    if kind == "engine":
        return end.outcome is Outcome.COMPLETED
    return kind == "tool" and delivery.reached(running.record, running.held)
