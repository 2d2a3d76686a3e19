"""The reviewer: a second model that reads the record and gives the verdict."""

from __future__ import annotations

from agents.prompts import build
from agents.prompts.context import ReviewContext
from agents.turn import delivery, ledger
from agents.turn.machine import Ask, PhaseName, Weighed, due
from agents.turn.phases.execute import new_phase, trigger_texts
from agents.turn.record import PhaseRecord
from agents.turn.running import Running
from agents.turn.submissions import SUBMIT_REVIEW, SubmitReview, SubmitWork, schema_of
from crewlet.kernel import clock

INCOMPLETE = "incomplete"


def open_phase(running: Running, ask: Ask) -> PhaseRecord:
    """Builds the reviewer's prompts: the ask, the claim and what the record shows."""
    record = running.record
    executor = due(record.phase(PhaseName.EXECUTE, ask.iteration), "the executor's phase")
    work = submitted_work(executor)
    head = record.head
    system, user = build.review(
        ReviewContext(
            snapshot=running.snapshot,
            handle=running.handle,
            reply_kind=head.reply_kind,
            reply_surface=head.reply_surface,
            trigger=trigger_texts(head),
            outcome=work.outcome if work else INCOMPLETE,
            summary=work.summary if work else executor.error,
            evidence=work.evidence if work else "",
            open_questions=tuple(work.open_questions) if work else (),
            tool_log=ledger.tool_log(executor),
            produced=ledger.tail(executor.last_text),
            earlier_rounds=ledger.prior_work(record, ask.iteration),
            blocked_by=work.evidence if work and work.outcome == "blocked" else "",
            now=clock.now(),
            heard=record.heard,
        )
    )
    return new_phase(ask, system, user, [schema_of(SUBMIT_REVIEW)])


def submitted_work(phase: PhaseRecord | None) -> SubmitWork | None:
    """Returns the submission of an executor's phase, if it was accepted."""
    if phase is None or phase.submission is None:
        return None
    return SubmitWork.model_validate(phase.submission)


def verdict(running: Running, iteration: int) -> SubmitReview | None:
    """Returns what the reviewer submitted, None when it never did."""
    phase = running.record.phase(PhaseName.REVIEW, iteration)
    if phase is None or phase.submission is None:
        return None
    return SubmitReview.model_validate(phase.submission)


def artifact(running: Running, iteration: int) -> str:
    """Returns what a pass produced: the reviewer's final wording, else the seat's own."""
    review = verdict(running, iteration)
    if review is not None and review.final_artifact:
        return review.final_artifact
    executor = running.record.phase(PhaseName.EXECUTE, iteration)
    work = submitted_work(executor)
    if work is not None:
        return work.summary
    return executor.last_text if executor else ""


def weigh(running: Running, iteration: int) -> Weighed:
    """Puts the verdict beside the record: what was produced, and whether it reached the asker."""
    review = verdict(running, iteration)
    return Weighed(
        decision=review.decision if review else "",
        notes=review.notes if review else "",
        artifact_hash=delivery.artifact_hash(artifact(running, iteration)),
        reached=delivery.reached(running.record, running.held),
    )
