"""Asks the judge whether a pass that ran out of rounds may go on, and records the answer.

Whatever goes wrong with the question grants nothing: the pass then ends as one that is incomplete.
The answer is a round of a phase of its own and is charged with its commit, so a resume neither asks
nor pays again.
"""

from __future__ import annotations

import logging

from agents.budgets.charge import charge
from agents.budgets.windows import limits_for
from agents.llm import chain
from agents.llm.base import NoProvider, ProviderError, Request
from agents.turn import loop, outcome, resume, rows
from agents.turn.coast import step
from agents.turn.machine import BudgetRefused, Judge, Judged, State
from agents.turn.phases import judge as phases
from agents.turn.record import PhaseRecord, RoundRecord
from agents.turn.running import Running
from agents.turn.storable import clean as storable
from crewlet.kernel import clock, db
from crewlet.kernel.events import EventType
from crewlet.kernel.failpoints import failpoint
from crewlet.kernel.ids import new_id
from crewlet.kernel.redact import clean
from orgs import epochs

log = logging.getLogger(__name__)


def judge(running: Running, state: State, command: Judge) -> State:
    """Asks for one verdict and folds it; a judge that cannot be asked grants nothing."""
    stopped = loop.stop_asked(running, state)
    if stopped is not None:
        return stopped
    running.journal.prove()
    phase = phases.open_phase(running, command)
    try:
        provider = chain.provider_for(running.snapshot, running.handle, phase.phase.value)
        running.live.asking(phase, 0)
        db.release()
        began, started = clock.now(), clock.monotonic()
        answer = provider.complete(
            Request(
                system=phase.system,
                messages=resume.conversation(phase),
                tools=(),
                max_tokens=0,
                stream=True,
                on_delta=running.live.delta,
                timeout=0.0,
            )
        )
    except (NoProvider, ProviderError) as error:
        return _silent(running, state, phase, clean(error.message))
    failpoint("answer.received")
    ms = round((clock.monotonic() - started) * 1000)
    phase.rounds.append(RoundRecord(new_id(), 0, answer, began, ms))
    phase.provider_key, phase.model = answer.provider_key, answer.model
    rounds = command.step if phases.extends(answer) else 0
    return _take(running, state, phase, rounds)


def _silent(running: Running, state: State, phase: PhaseRecord, why: str) -> State:
    log.warning("judge_unavailable", extra={"turn": str(running.record.head.id), "why": why})
    _tell(running, phase, 0, why, failed=True)
    return step(running, state, Judged())


def _take(running: Running, state: State, phase: PhaseRecord, rounds: int) -> State:
    """Commits the verdict with its charge; a charge that is refused takes the grant back."""
    item = phase.rounds[0]
    phase.submission = {"rounds": rounds, "reason": storable(item.answer.text.strip())}
    phase.status, phase.ended_at = "done", clock.now()
    running.record.phases.append(phase)
    place = rows.Place(state.phase.value, state.iteration, state.correction)
    running.journal.answered(phase, item, place)
    company = epochs.active()
    with running.journal.write() as cursor:
        refusal = charge(
            cursor,
            loop.charge_of(running, phase, item),
            limits=limits_for(running.record.head.seat_id, company),
            tz=company.timezone,
            now=clock.now(),
        )
        if refusal is not None:
            rounds = 0
            phase.submission = {"rounds": 0, "reason": refusal.message}
            running.journal.phase_moved(phase)
        _tell(running, phase, rounds, str(phase.submission["reason"]))
        state = step(running, state, Judged(rounds))
        if refusal is not None:
            state = step(running, state, BudgetRefused(refusal.resets_at, refusal.message))
            outcome.park(running, state, cursor, refusal.message, refusal.payload())
        running.journal.flush(cursor)
        running.live.answered(item)
    failpoint("answer.recorded")
    outcome.fire_marks(running)
    return state


def _tell(
    running: Running, phase: PhaseRecord, rounds: int, reason: str, *, failed: bool = False
) -> None:
    said = f"granted {rounds} more rounds" if rounds else "granted no more rounds"
    running.journal.tell(
        EventType.AGENT_PHASE_COMPLETED,
        "The judge could not be asked, so no rounds were added" if failed else f"The judge {said}",
        failed=failed,
        payload={
            "phase": phase.phase.value,
            "iteration": phase.iteration,
            "host_phase": "execute",
            "host_round": phase.host_round,
            "rounds": len(phase.rounds),
            "granted": rounds,
            "reason": reason[:500],
            "model": phase.model,
            "provider_key": phase.provider_key,
        },
    )
