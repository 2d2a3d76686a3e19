"""The tool loop: one model answer, then its calls, until a phase has submitted.

Eight steps: (1) fence and stop; (2) messages and the tools as shown; (3) ask the model; (4) record
the answer and charge it; (5) an unfinished answer or a refusal ends the phase; (6) no call: say so
again, or rescue; (7) the calls in order, each with its row before its effect; (8) their results go
back in the next request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from agents.budgets.charge import Charge, charge
from agents.budgets.windows import limits_for
from agents.llm import chain
from agents.llm.base import (
    Answer,
    ErrorKind,
    Fallback,
    NoProvider,
    ProviderError,
    Request,
    ToolCallPart,
    ToolSchema,
    Usage,
)
from agents.tools import discovery
from agents.tools.run_call import CallResult, run_call
from agents.tools.tool import Tool
from agents.turn import discovering, outcome, resume, rows, sizes, steering, suspend, words
from agents.turn.coast import coast, step
from agents.turn.machine import (
    Ask,
    Broke,
    BudgetRefused,
    PhaseName,
    Position,
    ProviderDown,
    RunCall,
    State,
    StopAsked,
    due,
)
from agents.turn.opids import operation_id
from agents.turn.phases import execute, review
from agents.turn.record import CallRecord, Effect, PhaseRecord, RoundRecord
from agents.turn.running import Running
from agents.turn.storable import clean as storable
from agents.turn.storable import cleaned
from crewlet.kernel import clock, db
from crewlet.kernel.events import EventType
from crewlet.kernel.failpoints import failpoint
from crewlet.kernel.ids import new_id
from crewlet.kernel.redact import clean
from orgs import epochs

OPEN: Final = {PhaseName.EXECUTE: execute.open_phase, PhaseName.REVIEW: review.open_phase}
BACKOFF_CAP: Final = 60.0
RETRY_AFTER_CAP: Final = 7 * 86_400.0


def ask(running: Running, state: State, command: Ask) -> State:
    """Asks for one answer and records it; parks when no model can be asked."""
    stopped = stop_asked(running, state)
    if stopped is not None:
        return stopped
    running.journal.prove()
    phase = _phase(running, command)
    notes = steering.unread(running.record.head.id, phase.phase)
    heard = steering.said(notes, running.snapshot)
    try:
        provider = chain.provider_for(running.snapshot, running.handle, command.phase.value)
        request = _request(running, phase, heard)
        running.live.asking(phase, command.round)
        db.release()
        began, started = clock.now(), clock.monotonic()
        answer = provider.complete(request)
    except NoProvider as missing:
        return _down(running, state, missing.message, "no_provider", None)
    except ProviderError as error:
        return _failed_call(running, state, command.phase, error)
    failpoint("answer.received")
    ms = round((clock.monotonic() - started) * 1000)
    item = RoundRecord(new_id(), command.round, answer, began, ms, heard=heard)
    item.full = chain.nearly_full(running.snapshot, answer)
    item.calls = _calls(running, phase, answer)
    phase.rounds.append(item)
    phase.provider_key, phase.model = answer.provider_key, answer.model
    running.journal.heard(notes, phase, item.n)
    return _take(running, state, phase, item)


def stop_asked(running: Running, state: State) -> State | None:
    """Ends the turn when a person asked for it; None goes on."""
    wish = running.host.should_stop()
    if wish is None:
        return None
    return step(running, state, StopAsked(wish.by, wish.reason))


def _phase(running: Running, command: Ask) -> PhaseRecord:
    known = running.record.phase(command.phase, command.iteration)
    if known is not None:
        return known
    phase = OPEN[command.phase](running, command)
    if phase.phase is PhaseName.EXECUTE:
        phase.round_ceiling = running.limits.ceiling
    running.record.phases.append(phase)
    failpoint("context.built")
    return phase


def _tell_start(running: Running, phase: PhaseRecord) -> None:
    """Says with the phase's first answer what was asked of the model, in bytes."""
    running.journal.tell(
        EventType.AGENT_PHASE_STARTED,
        f"{running.seat.name} began to {phase.phase.value}",
        payload={
            "phase": phase.phase.value,
            "iteration": phase.iteration,
            "max_rounds": phase.max_rounds,
            "started_at": phase.started_at.isoformat(),
            "system_bytes": len(phase.system.encode()),
            "user_bytes": len(phase.user.encode()),
            "tools": len(phase.tools),
            "prompt_size": sizes.of_opening(phase),
            "prefetch_summary": sizes.of_prefetches(phase),
            "prefetching": phase.gathering,
        },
    )


def _request(running: Running, phase: PhaseRecord, heard: str) -> Request:
    return Request(
        system=phase.system,
        messages=resume.conversation(phase, heard),
        tools=tuple(ToolSchema(**tool) for tool in phase.tools),
        max_tokens=0,
        stream=True,
        on_delta=running.live.delta,
        on_fallback=lambda fallback: _tell_fallback(running, phase, fallback),
        timeout=0.0,
    )


def _tell_fallback(running: Running, phase: PhaseRecord, fallback: Fallback) -> None:
    """Says that another model was asked; told with the answer, or with why there was none."""
    running.journal.tell(
        EventType.PROVIDER_FALLBACK,
        f"{fallback.source} could not answer {running.seat.name}; {fallback.target} was asked",
        failed=True,
        payload={
            "phase": phase.phase.value,
            "iteration": phase.iteration,
            "from": fallback.source,
            "to": fallback.target,
            "kind": fallback.kind.value,
            "error": clean(fallback.message),
        },
    )


def _calls(running: Running, phase: PhaseRecord, answer: Answer) -> list[CallRecord]:
    """Makes the rows of an answer's calls; what cannot be run has its result at once."""
    before = list(running.record.calls())
    made: list[CallRecord] = []
    for order, part in enumerate(answer.calls):
        call = _call(running, phase, order, part, [*before, *made])
        made.append(call)
    return made


def _call(
    running: Running,
    phase: PhaseRecord,
    order: int,
    part: ToolCallPart,
    earlier: list[CallRecord],
) -> CallRecord:
    call = CallRecord(new_id(), order, part.id, part.name, part.arguments, part.arguments_text)
    tool = running.tool(part.name) if phase.phase is PhaseName.EXECUTE else None
    if part.name == words.TERMINATOR[phase.phase]:
        call.origin, call.read_only = "control", "no"
    elif tool is not None:
        call.origin = _origin(tool)
        call.server = tool.server[:64]
        call.read_only, call.surface = tool.read_only, tool.surface or ""
        call.op_id = operation_id(running.record.head.work_key, part.name, part.arguments, earlier)
        if discovering.hidden(phase, tool):
            finish(call, CallResult.failed(discovery.activate_first(tool.name)))
    else:
        call.origin = "unknown"
        finish(call, CallResult.failed(discovering.unknown(running, part.name)))
    if part.arguments is None and not call.done:
        finish(call, CallResult(ok=False, text=f"{part.name} was not run. {part.error}"))
    return call


def _origin(tool: Tool) -> str:
    if tool.source == suspend.SOURCE:
        return Effect.WAIT.value
    return "mcp" if tool.server else "builtin"


def finish(call: CallRecord, result: CallResult, ms: int | None = None) -> None:
    """Gives a call its result; what is stored and what the model reads are one text."""
    call.status, call.ok, call.result = "done", result.ok, storable(result.text)
    call.refs, call.ms = tuple(result.refs), ms


def _take(running: Running, state: State, phase: PhaseRecord, item: RoundRecord) -> State:
    """Folds an answer as far as it goes without an effect, and commits all of it at once."""
    if item.n == 0:
        _tell_start(running, phase)
    state = step(running, state, resume.answered(item))
    if not item.answer.calls:
        phase.declined += 1
        if state.position is Position.ASKING and state.callless > 0:
            item.note = words.corrective(phase.phase)
    state = coast(running, state, fresh=item)
    place = rows.Place(state.phase.value, state.iteration, state.correction)
    running.journal.answered(phase, item, place)
    if state.position is Position.ENDED:
        failpoint("settle.before")
    # Ceilings are those of today, not of the epoch that the turn pinned: raising one frees it now.
    company, refusal = epochs.active(), None
    with running.journal.write() as cursor:
        if state.position is Position.ENDED:
            outcome.settle(running, state, cursor)
        refusal = charge(
            cursor,
            charge_of(running, phase, item),
            limits=limits_for(running.record.head.seat_id, company),
            tz=company.timezone,
            now=clock.now(),
        )
        if refusal is not None and state.position is not Position.ENDED:
            state = step(running, state, BudgetRefused(refusal.resets_at, refusal.message))
            outcome.park(running, state, cursor, refusal.message, refusal.payload())
        # Inside, so that the frame goes out with the others of this commit, in one message.
        running.live.answered(item)
    failpoint("answer.recorded")
    outcome.fire_marks(running)
    return state


def note_unobserved(running: Running, state: State) -> None:
    """Records that a lost worker may have asked for an answer that nobody has.

    Whether its request had left cannot be known; the vendor may have counted it. It costs no
    tokens here, for nobody knows them.
    """
    # A submission is checked and its reviewer asked without a commit between.
    asked = {
        Position.CHECKING: PhaseName.REVIEW,
        Position.JUDGING: PhaseName.JUDGE,
        Position.ASKING: state.phase,
    }
    phase = asked.get(state.position)
    if phase is None:
        return
    lost = Charge(
        seat_id=running.record.head.seat_id,
        who=running.handle,
        turn_id=running.record.head.id,
        phase=phase.value,
        usage=Usage(0, 0),
        model="",
        provider_entry="",
        unobserved=True,
    )
    with running.journal.write() as cursor:
        charge(cursor, lost, limits={}, tz=epochs.active().timezone, now=clock.now())


def charge_of(running: Running, phase: PhaseRecord, item: RoundRecord) -> Charge:
    """Returns what an answer costs, as it is charged."""
    answer = item.answer
    return Charge(
        seat_id=running.record.head.seat_id,
        who=running.handle,
        turn_id=running.record.head.id,
        phase=phase.phase.value,
        usage=answer.usage,
        model=answer.model,
        provider_entry=answer.provider_key,
    )


def _failed_call(running: Running, state: State, phase: PhaseName, error: ProviderError) -> State:
    message = clean(error.message)
    if error.kind is ErrorKind.FATAL:
        return step(running, state, Broke("fatal", message, final=True))
    keys = chain.chain_of(running.snapshot, running.handle, phase.value)
    return _down(running, state, message, error.kind.value, error.retry_after, keys=keys)


def _down(
    running: Running,
    state: State,
    message: str,
    kind: str,
    retry_after: float | None,
    *,
    keys: Sequence[str] = (),
) -> State:
    """Parks until the model may answer again: as long as the vendor says, else growing pauses."""
    detail = running.detail_for(state, message)
    pause = min(BACKOFF_CAP, 2.0 ** (detail["tries"] - 1))
    if retry_after is not None:
        pause = max(1.0, min(RETRY_AFTER_CAP, retry_after))
    until = clock.now() + timedelta(seconds=pause)
    running.detail = detail
    running.journal.tell(
        EventType.LLM_UNAVAILABLE,
        f"No model could be asked: {message}"[:300],
        failed=True,
        payload={
            "chain": list(keys),
            "error_kind": kind,
            "last_error": message,
            "retry_at": until.isoformat(),
        },
    )
    return step(running, state, ProviderDown(until, message))


# --- calls ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class CallPen:
    """What a call of ours is written with: its operation id, the fence, and the landing."""

    running: Running
    call: CallRecord
    started: float
    op_id: str = ""
    scope: str = ""
    landed: bool = False
    preface: str = ""

    def fence(self) -> None:
        self.running.journal.fence()

    def prefaced(self, result: CallResult) -> CallResult:
        """Returns a result behind what a person changed about its call."""
        if not self.preface:
            return result
        return replace(result, text=f"{self.preface}\n\n{result.text}")

    def land(self, result: CallResult) -> None:
        result = self.prefaced(result)
        finish(self.call, result, round((clock.monotonic() - self.started) * 1000))
        self.running.journal.land(self.call)
        self.running.live.called(self.call)
        self.landed = True


def run(running: Running, state: State, command: RunCall) -> State:
    """Runs the call that is due and folds its result.

    An action of ours lands with its result in one commit; the result of a read rides with the next
    write, since it may be read again; a call into another system is recorded at once.
    """
    call = resume.current_call(running.record, state)
    if call.effect is not Effect.READ or call.id in running.record.waits:
        stopped = stop_asked(running, state)
        if stopped is not None:
            return stopped
    word = suspend.look(running, state, call)
    if isinstance(word, suspend.Hangs):
        return word.state
    if isinstance(word, suspend.Said):
        finish(call, word.result)
        call.ok = None if word.denied else call.ok
        running.journal.resulted(call)
    elif call.id == running.ambiguous:
        running.ambiguous = None
        finish(call, CallResult(ok=False, text=words.NOT_OBSERVED))
        running.journal.resulted(call)
    else:
        _perform(running, call, word)
    fact = due(resume.called(call), "the result of the call")
    state = coast(running, step(running, state, fact))
    if running.marks:
        running.journal.commit()
        outcome.fire_marks(running)
    return state


def _perform(running: Running, call: CallRecord, leave: suspend.Go) -> None:
    tool = running.tool(call.name)
    # The journal keeps what the model wrote; the tool gets what a text can hold.
    args = call.args if leave.args is None else leave.args
    part = ToolCallPart(call.call_id, call.name, cleaned(args), call.args_text)
    failpoint("call.before")
    call.started_at = clock.now()
    pen = CallPen(
        running, call, clock.monotonic(), call.op_id, running.journal.scope, preface=leave.preface
    )
    if call.effect is Effect.OUTSIDE or (tool is not None and tool.action is None):
        running.journal.prove(always=True)
        running.live.calling(call)
        db.release()
    if tool is None:
        result = CallResult.failed(discovering.unknown(running, call.name))
    elif tool.name in discovery.NAMES:
        result = discovering.run(running, call)
    else:
        result = run_call(tool, part, running.actor, pen)
    if not pen.landed:
        result = pen.prefaced(result)
        finish(call, result, round((clock.monotonic() - pen.started) * 1000))
        running.journal.resulted(call)
        if call.effect is Effect.OUTSIDE:
            failpoint("call.effect")
            running.journal.commit()
        running.live.called(call)
    failpoint("call.recorded")
