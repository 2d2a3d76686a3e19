"""Folds a turn as far as it goes without asking a model, touching the world or writing a row.

What it finds rides in the commit that is due anyway: an accepted submission with its answer, a
verdict with the settlement. It is why a turn needs so few commits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.turn import delivery, guards, resume, sizes, words
from agents.turn.machine import (
    Check,
    Command,
    Fact,
    LoopBack,
    LoopedBack,
    PhaseName,
    Position,
    RunCall,
    State,
    Weigh,
    advance,
    due,
    wanted,
)
from agents.turn.phases import review
from agents.turn.record import CallRecord, Effect, IterationRow, RoundRecord
from agents.turn.storable import cleaned
from agents.turn.submissions import SubmitReview, SubmitWork, read_review, read_work
from crewlet.kernel import clock
from crewlet.kernel.events import EventType

if TYPE_CHECKING:
    from agents.turn.running import Running


def step(running: Running, state: State, fact: Fact) -> State:
    """Folds one fact; a phase that it ends is closed on record."""
    after, _ = advance(state, fact)
    left = (after.phase, after.iteration) != (state.phase, state.iteration)
    if left or after.position in (Position.ENDED, Position.LOOPING):
        _close(running, state, after)
    return after


def coast(running: Running, state: State, fresh: RoundRecord | None = None) -> State:
    """Returns the state at which something real is due.

    `fresh` is an answer whose rows are not written yet, so its calls' results need no update.
    """
    while (fact := _effortless(running, state, wanted(state)[0], fresh)) is not None:
        state = step(running, state, fact)
    return state


def _effortless(
    running: Running, state: State, command: Command, fresh: RoundRecord | None
) -> Fact | None:
    if isinstance(command, RunCall):
        call = resume.current_call(running.record, state)
        if not call.done and call.effect is Effect.CONTROL:
            _control(running, state, call)
            if fresh is None or call not in fresh.calls:
                running.journal.resulted(call)
        return resume.called(call)
    if isinstance(command, Check):
        executor = running.record.phase(PhaseName.EXECUTE, command.iteration)
        work = due(review.submitted_work(executor), "the submission")
        running.marks += ["submission.recorded", "check.done"]
        return guards.check(work, running.record, running.held)
    if isinstance(command, Weigh):
        running.marks.append("review.recorded")
        return review.weigh(running, command.iteration)
    if isinstance(command, LoopBack):
        running.marks.append("iteration.recorded")
        row = iteration_row(running, command.iteration, correction=command.correction)
        running.record.iterations.append(row)
        running.journal.iterated(row)
        return LoopedBack()
    return None


def _control(running: Running, state: State, call: CallRecord) -> None:
    """Answers `submit_work` or `submit_review`. Of two in one answer the last valid one counts."""
    phase = due(running.record.phase(state.phase, state.iteration), "the phase")
    said: SubmitWork | SubmitReview | str
    if state.phase is PhaseName.EXECUTE:
        said = read_work(cleaned(call.args or {}))
        if isinstance(said, SubmitWork):
            said = delivery.refusal(said, running.record, running.held) or said
    else:
        said = read_review(cleaned(call.args or {}))
    call.status, call.ok = "done", not isinstance(said, str)
    if isinstance(said, str):
        call.result = said
        return
    call.result = "Accepted."
    phase.submission = said.model_dump(mode="json")


def iteration_row(running: Running, n: int, *, correction: str) -> IterationRow:
    """Returns what pass `n` claimed and got."""
    work = review.submitted_work(running.record.phase(PhaseName.EXECUTE, n))
    verdict = review.verdict(running, n)
    produced = review.artifact(running, n)
    return IterationRow(
        n=n,
        outcome=work.outcome if work else review.INCOMPLETE,
        artifact=produced,
        artifact_hash=delivery.artifact_hash(produced),
        decision=verdict.decision if verdict else "",
        notes=verdict.notes if verdict else "",
        completed_work=verdict.completed_work if verdict else "",
        engine_correction=correction,
    )


def _close(running: Running, before: State, after: State) -> None:
    phase = running.record.phase(before.phase, before.iteration)
    if phase is None or phase.status != "running":
        return
    failed = after.end is not None and bool(after.end.error_kind) and not phase.submission
    phase.status = "failed" if failed else "done"
    phase.ended_at = clock.now()
    phase.rescued = after.rescued and before.phase is PhaseName.EXECUTE
    if failed and after.end is not None:
        phase.error_kind, phase.error = after.end.error_kind, after.end.error
    elif phase.rescued and after.repeats.over:
        phase.error_kind, phase.error = "repeated_calls", words.WENT_IN_CIRCLES
    running.journal.phase_moved(phase)
    running.journal.tell(
        EventType.AGENT_PHASE_COMPLETED,
        f"{phase.phase.value.capitalize()} {'failed' if failed else 'ended'} after "
        f"{len(phase.rounds)} rounds",
        failed=failed,
        payload={
            "phase": phase.phase.value,
            "iteration": phase.iteration,
            "rounds": len(phase.rounds),
            "rescued": phase.rescued,
            "declined": phase.declined,
            "error_kind": phase.error_kind,
            "model": phase.model,
            "provider_key": phase.provider_key,
            "prompt_size": sizes.of_last_request(phase),
        },
    )
