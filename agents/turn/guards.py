"""The engine's own checks: before the review, and at every fence."""

from __future__ import annotations

from agents.turn import delivery
from agents.turn.machine import Checked
from agents.turn.record import TurnRecord
from agents.turn.submissions import SubmitWork


def check(work: SubmitWork, record: TurnRecord, held: delivery.Held) -> Checked:
    """Compares a submission with the record, without a model.

    `skip`: nobody asked and nothing was done. `correct`: the record refutes a claim. Else `review`.
    """
    if work.outcome == "no_action" and record.head.reply_kind == "none" and not _acted(record):
        return Checked("skip")
    problem = delivery.refusal(work, record, held) or delivery.refuted(work, record)
    if problem:
        return Checked("correct", problem)
    return Checked("review")


def _acted(record: TurnRecord) -> bool:
    return any(call.wrote for call in record.calls())
