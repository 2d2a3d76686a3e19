"""The end of a turn, or of a stretch of it: settled, parked or released. One transaction each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from agents.events import SpendAdded, TurnSettled
from agents.mail import claim
from agents.turn import colleague, delivery, remember, telling, words
from agents.turn.machine import End, Outcome, PhaseName, State, due
from agents.turn.phases import review
from agents.turn.record import TurnRecord, Wait
from agents.turn.running import Running, TurnEnd
from crewlet.kernel.actions import release_scope
from crewlet.kernel.events import EventType, announce
from crewlet.kernel.failpoints import failpoint

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper


UNSETTLED: Final = ("parked", "suspended", "released")


def settle(running: Running, state: State, cursor: CursorWrapper) -> None:
    """Writes how the turn ended, answers who waits, charges the item, lets go of the mail.

    Runs inside a fenced transaction with the queue already written. Lock order: turn, then items
    (receivers), then mail; budget counters come after, with the charge.
    """
    record, head = running.record, running.record.head
    end = with_unreported(due(state.end, "the outcome"), record)
    result = result_of(running, state)
    item = head.work_item or (sole_write(record) if end.outcome is Outcome.COMPLETED else None)
    stopped_by = end.error.partition(" stopped ")[0] if end.outcome is Outcome.STOPPED else ""
    tokens_in, tokens_out, calls, worked = running.journal.settle(
        cursor, end, submitted=submitted(record, state), stopped_by=stopped_by, result=result,
        ms=running.ms, work_item=item,
    )  # fmt: skip
    _tell_end(running, end, result, stopped_by=stopped_by)
    if item is not None and submitted(record, state) == "blocked":
        telling.tell_blocked(_ended(running, words.blocked_again(result)), item["key"])
    if item is not None and tokens_in + tokens_out > 0:
        announce(
            SpendAdded(
                item, head.id, head.seat_id, running.handle, f"turn/{head.id}/dispatch",
                tokens_in, tokens_out, calls,
            )
        )  # fmt: skip
    learns = end.outcome is Outcome.COMPLETED
    announce(
        TurnSettled(
            head.id, head.seat_id, running.handle, head.work_key, end.outcome.value, result, learns
        )
    )
    remember.conversation(running, state, cursor, end, result)
    claim.settle(cursor, head.id, end.outcome.value)
    release_scope(running.journal.scope)
    _publish(running, state, end, worked=worked, tokens=(tokens_in, tokens_out), item=item)
    running.journal.flush(cursor)
    running.finished = TurnEnd(end.outcome.value, end.outcome.value, end.error_kind, end.error)


def result_of(running: Running, state: State) -> str:
    """Returns what the turn has to say: the reviewer's wording, else the seat's own."""
    text = review.artifact(running, state.iteration)
    if text or state.iteration == 1:
        return text
    return review.artifact(running, state.iteration - 1)


def submitted(record: TurnRecord, state: State) -> str:
    """Returns the seat's own word for its outcome; `incomplete` when it never gave one."""
    phase = record.phase(PhaseName.EXECUTE, state.iteration)
    work = review.submitted_work(phase)
    if work is not None:
        return work.outcome
    return review.INCOMPLETE if phase is not None else ""


def sole_write(record: TurnRecord) -> dict[str, Any] | None:
    """Returns the one item that the turn's own committed writes touched, None when not one."""
    touched = {
        ref.removeprefix("item:")
        for call in record.calls()
        if call.wrote
        for ref in call.refs
        if ref.startswith("item:")
    }
    if len(touched) != 1:
        return None
    (key,) = touched
    return {
        "backend": "native",
        "id": "",
        "key": key,
        "project": key.rpartition("-")[0],
        "basis": "sole_write",
    }


def with_unreported(end: End, record: TurnRecord) -> End:
    """Returns the end with what the turn delivered and never reported: it is no stall, and whoever
    does the work again has to know."""
    if end.outcome not in (Outcome.FAILED, Outcome.STOPPED):
        return end
    refs = delivery.unreported(record)
    return replace(end, error=words.unreported(end.error, refs)) if refs else end


def _tell_end(running: Running, end: End, result: str, *, stopped_by: str = "") -> None:
    """A colleague who asked through the engine gets one answer, whatever became of the turn; the
    people around the seat hear of a turn that failed or was stopped."""
    if end.outcome is Outcome.FAILED:
        text = words.failed_turn(running.seat.name, end.error_kind, end.error)
    elif end.outcome is Outcome.STOPPED:
        text = words.stopped_turn(end.error)
    else:
        text = result
    head, knowing = running.record.head, frozenset[UUID]()
    if head.reply_kind == "engine":
        knowing = colleague.answer(head, running.handle, running.seat.name, text)
    if end.outcome in (Outcome.FAILED, Outcome.STOPPED):
        ended = replace(_ended(running, text), stopped_by=stopped_by, knowing=knowing)
        telling.tell_ended(ended, end.error_kind)


def _ended(running: Running, message: str) -> telling.Ended:
    return telling.Ended(
        running.record.head, running.snapshot, running.handle, running.seat.name, message
    )


def _publish(
    running: Running,
    state: State,
    end: End,
    *,
    worked: int,
    tokens: tuple[int, int],
    item: dict[str, Any] | None,
) -> None:
    tell = running.journal.tell
    failed = end.outcome is Outcome.FAILED
    if end.guard:
        tell(
            EventType.TURN_GUARD_BREACH, end.error, failed=True, payload={"kind": end.guard}
        )  # fmt: skip
    if end.outcome is Outcome.STOPPED:
        tell(EventType.AGENT_TURN_STOPPED, end.error)
    topics = (f"seat:{running.handle}",)
    tell(
        EventType.AGENT_TURN_COMPLETED,
        _summary(running, end),
        failed=failed,
        topics=(*topics, f"item:{item['key']}") if item else topics,
        payload={
            "failed": failed,
            "outcome": end.outcome.value,
            "error_kind": end.error_kind,
            "decision": end.decision,
            "iterations": state.iteration,
            "duration_ms": worked,
            "tokens_in": tokens[0],
            "tokens_out": tokens[1],
            "work_item": item,
            "stopped": end.outcome is Outcome.STOPPED,
            "suspended": False,
        },
    )


def _summary(running: Running, end: End) -> str:
    words_for = {
        Outcome.COMPLETED: "finished a turn",
        Outcome.SKIPPED: "had nothing to do",
        Outcome.STOPPED: "was stopped",
        Outcome.FAILED: "failed in a turn",
    }
    head = running.record.head
    about = str(head.trigger.get("summary", ""))
    said = f"{running.seat.name} {words_for[end.outcome]}"
    if head.work_item_key:
        said = f"{said} on {head.work_item_key}"
    return f"{said} ({about})" if about else said


def park(
    running: Running,
    state: State,
    cursor: CursorWrapper,
    message: str,
    detail: dict[str, Any],
) -> None:
    """Puts the turn to sleep in the current transaction, with the reason on record."""
    until = due(state.wake_at, "the wake time")
    running.journal.park(
        cursor,
        reason=state.park_reason,
        detail={"message": message, **detail},
        until=until,
        ms=running.ms,
    )
    if state.park_reason == "budget":
        running.journal.tell(EventType.BUDGET_EXHAUSTED, message, failed=True, payload=detail)
    running.journal.tell(
        EventType.AGENT_TURN_PARKED,
        f"{running.seat.name} waits: {message}",
        payload={"reason": state.park_reason, "wake_at": until.isoformat(), **detail},
        topics=(f"seat:{running.handle}",),
    )
    running.journal.flush(cursor)
    running.marks.append("parked")
    running.finished = TurnEnd("parked", error=message, wake_at=until)


def suspend(running: Running, state: State, cursor: CursorWrapper, wait: Wait, about: str) -> None:
    """Parks the turn on a person in the current transaction; its mail counts as worked.

    Other than at a budget or a provider, nothing keeps the seat from its other mail.
    """
    until = due(state.wake_at, "the wake time")
    detail = {"message": about, "wait": str(wait.id), "kind": wait.kind}
    running.journal.park(
        cursor, reason=state.park_reason, detail=detail, until=until, ms=running.ms
    )
    claim.settle(cursor, running.record.head.id, "suspended")
    running.journal.tell(
        EventType.AGENT_TURN_PARKED,
        f"{running.seat.name} waits for a person: {about}",
        payload={"reason": state.park_reason, "suspended": True, **detail},
        topics=(f"seat:{running.handle}", "inbox"),
    )
    running.journal.flush(cursor)
    running.marks.append("parked")
    running.finished = TurnEnd("suspended", error=about, wake_at=until)


def release(running: Running, error: str, cursor: CursorWrapper) -> None:
    """Hands the mail back: no answer is on record, so the engine may try it again."""
    end = End(Outcome.FAILED, "error", error)
    running.journal.settle(
        cursor, end, submitted="", stopped_by="", result="", ms=running.ms,
        work_item=running.record.head.work_item,
    )  # fmt: skip
    fate = claim.release(cursor, running.record.head.id, error)
    if fate.dead:
        _tell_end(running, end, "")
    release_scope(running.journal.scope)
    running.journal.tell(
        EventType.AGENT_TURN_COMPLETED,
        f"{running.seat.name} could not begin and will try again: {error}",
        failed=True,
        payload={"failed": True, "error_kind": "error", "retried": not fate.dead},
        topics=(f"seat:{running.handle}",),
    )
    running.journal.flush(cursor)
    running.finished = TurnEnd("released", "failed", "error", error)


def fire_marks(running: Running) -> None:
    """Passes the named places of what was just committed."""
    for name in running.marks:
        failpoint(name)
    running.marks.clear()
    if running.finished is not None and running.finished.kind not in UNSETTLED:
        failpoint("settled")
