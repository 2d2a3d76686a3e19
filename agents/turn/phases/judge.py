"""The judge: a small question to a model, whether a pass that ran out of rounds may have more."""

from __future__ import annotations

import re
from itertools import islice

from agents.llm.base import Answer
from agents.prompts import build
from agents.prompts.context import JudgeContext
from agents.turn import ledger
from agents.turn.machine import Ask, Judge, PhaseName, due
from agents.turn.phases.execute import new_phase, trigger_texts
from agents.turn.record import PhaseRecord
from agents.turn.running import Running

NEWEST_CALLS = 12
_EXTEND = re.compile(r"\W*extend\b\W*", re.IGNORECASE)


def open_phase(running: Running, command: Judge) -> PhaseRecord:
    """Builds the judge's prompts: the ask, the newest calls and the last words of the pass."""
    record = running.record
    executor = due(record.phase(PhaseName.EXECUTE, command.iteration), "the executor's phase")
    newest = list(islice(reversed(list(executor.calls())), NEWEST_CALLS))
    system, user = build.judge(
        JudgeContext(
            snapshot=running.snapshot,
            handle=running.handle,
            reply_kind=record.head.reply_kind,
            reply_surface=record.head.reply_surface,
            trigger=trigger_texts(record.head),
            used=command.round,
            step=command.step,
            calls="\n".join(ledger.call_line(call) for call in reversed(newest)),
            last_text=ledger.tail(executor.last_text),
        )
    )
    ask = Ask(PhaseName.JUDGE, command.iteration, round=0, limit=1)
    phase = new_phase(ask, system, user, [])
    phase.host_round = command.round
    return phase


def extends(answer: Answer) -> bool:
    """Returns whether an answer grants more rounds; one that is unclear or cut off does not."""
    return answer.stop.finished and _EXTEND.match(answer.text) is not None
