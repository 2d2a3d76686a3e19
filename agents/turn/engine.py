"""Runs a claimed turn: performs what the machine wants, in order, until it is settled or parked."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, InterfaceError, InternalError, OperationalError

from agents.turn import coast, judging, loop, outcome, reading, resume, spans
from agents.turn.machine import (
    Ask,
    Broke,
    Check,
    Judge,
    LoopBack,
    Open,
    Opened,
    Park,
    Position,
    Release,
    RunCall,
    Settle,
    State,
    Weigh,
    begin,
    wanted,
)
from agents.turn.running import HostContext, Running, TurnEnd
from crewlet.kernel.errors import Fenced
from crewlet.kernel.failpoints import failpoint
from crewlet.kernel.redact import clean
from orgs import epochs

__all__ = ["ClaimedTurn", "HostContext", "TurnEnd", "run"]

log = logging.getLogger(__name__)

INTERRUPTED: Final = (Fenced, OperationalError, InterfaceError, InternalError)
"""What leaves the turn open: the seat is somebody else's, or the store is away. It is resumed."""


@dataclass(frozen=True, slots=True)
class ClaimedTurn:
    """A turn whose row this worker's lease covers. `resumed` turns have rows to go on from."""

    turn_id: UUID
    seat_id: UUID
    lease_epoch: int
    node: str
    resumed: bool


def run(claimed: ClaimedTurn, host: HostContext) -> TurnEnd:
    """Works a turn until it has ended or waits, and says which.

    Raises Fenced when the seat was taken over, and the database's own errors when the store is
    away: both leave the turn open, to be resumed from its rows by whoever holds the seat next.
    """
    record, detail = reading.read(claimed.turn_id)
    running = Running.open(
        record,
        lease_epoch=claimed.lease_epoch,
        snapshot=epochs.snapshot(record.head.epoch),
        host=host,
        detail=detail,
    )
    state = resume.replay(record, begin(record.head.reply_kind, running.limits))
    if claimed.resumed and not detail.get("clean"):
        running.ambiguous = resume.ambiguous(record, state)
        loop.note_unobserved(running, state)
    with spans.of_run(running):
        while running.finished is None:
            state = _next(running, state)
    running.live.ended(running.finished.kind)
    return running.finished


def _next(running: Running, state: State) -> State:
    command = wanted(state)[0]
    try:
        return PERFORM[type(command)](running, state, command)
    except INTERRUPTED:
        raise
    except Exception as error:  # a defect, ours or a receiver's: the turn ends and is told
        log.exception("turn_broke", extra={"turn": str(running.record.head.id)})
        return _broke(running, state, command, error)


def _broke(running: Running, state: State, command: object, error: Exception) -> State:
    """Ends the turn for an unexpected exception. One in the ending itself is let through."""
    if isinstance(command, Settle | Park | Release) or state.position is Position.ENDED:
        raise error
    if isinstance(error, DatabaseError):
        running.journal.forget()
    message = clean(f"{type(error).__name__}: {error}")
    return coast.step(running, state, Broke("unhandled_exception", message))


def _open(running: Running, state: State, command: Open) -> State:
    return coast.step(running, state, Opened(running.record.head.depth))


def _go_on(running: Running, state: State, command: object) -> State:
    """Folds what a resume finds already answered: a check, a verdict, a loop back."""
    after = coast.coast(running, state)
    if running.journal.waiting and after.position is not Position.ENDED:
        running.journal.commit()
        outcome.fire_marks(running)
    return after


def _run_call(running: Running, state: State, command: RunCall) -> State:
    after = coast.coast(running, state)
    return after if after is not state else loop.run(running, state, command)


def _park(running: Running, state: State, command: Park) -> State:
    with running.journal.write() as cursor:
        outcome.park(running, state, cursor, str(running.detail.get("message", "")), running.detail)
    outcome.fire_marks(running)
    return state


def _settle(running: Running, state: State, command: Settle) -> State:
    failpoint("settle.before")
    with running.journal.write() as cursor:
        outcome.settle(running, state, cursor)
    outcome.fire_marks(running)
    return state


def _release(running: Running, state: State, command: Release) -> State:
    with running.journal.write() as cursor:
        outcome.release(running, command.error, cursor)
    outcome.fire_marks(running)
    return state


PERFORM: Final[dict[type, Callable[[Running, State, Any], State]]] = {
    Open: _open,
    Ask: loop.ask,
    RunCall: _run_call,
    Judge: judging.judge,
    Check: _go_on,
    Weigh: _go_on,
    LoopBack: _go_on,
    Park: _park,
    Settle: _settle,
    Release: _release,
}
