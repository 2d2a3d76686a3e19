"""Crash tests: a worker is killed at a named place, another finishes its work, and nothing of ours
happened twice.

    run = CrashRun(processes, finished=lambda: Completion.objects.exists())
    run.kill_at("answer.recorded")      # a real worker dies by SIGKILL exactly there
    run.finish()                        # another takes over and finishes
    assert_worked_once()

The worker is the product's own (`manage.py worker`); only its environment names the failpoint.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from agents.models.mail import Completion, Delivery
from agents.models.turns import Phase, Round, ToolCall, Turn
from agents.seats import presence
from crewlet.kernel.failpoints import NAMES
from crewlet.kernel.models import AuditEntry
from tests.support.processes import Process, Processes
from tests.support.until import until

PATIENCE = 90.0
AFTERWARDS = 10.0


@dataclass
class CrashRun:
    """One piece of work that a crash interrupts. `finished` says when it is done."""

    processes: Processes
    finished: Callable[[], bool]
    supervised: bool = True
    dead: list[Process] = field(default_factory=list)

    def kill_at(self, failpoint: str, *, hit: int = 1) -> Process:
        """Starts a worker that dies at the n-th hit of a failpoint; returns once it has.

        Fails when the work is finished, or the worker ends otherwise, without reaching it.
        """
        if failpoint not in NAMES:
            raise ValueError(f"{failpoint} is no failpoint; the list is closed.")
        node = f"dies{len(self.dead)}"
        victim = self.processes.start_worker(
            node, failpoint=f"{failpoint}:{hit}", ready=lambda: True
        )

        until(lambda: victim.ended or self.finished(), PATIENCE, what=f"{failpoint} is reached")
        # Some places lie after the last commit: there the work is done just before the death.
        until(lambda: victim.ended, AFTERWARDS, what=f"{failpoint} (hit {hit})\n{victim.output}")
        assert victim.popen.returncode == -signal.SIGKILL, victim.output
        self.dead.append(victim)
        if self.supervised:
            presence.end_if_live(node)
        return victim

    def finish(self) -> Process:
        """Starts a worker that lives and returns once the work is finished."""
        survivor = self.processes.start_worker(f"lives{len(self.dead)}", ready=lambda: True)

        def done() -> bool:
            assert not survivor.ended, survivor.output
            return self.finished()

        until(done, PATIENCE, what=f"another worker finishes\n{survivor.output}")
        return survivor


def assert_worked_once(letters: int = 1) -> Turn:
    """Asserts what every crash must leave: one turn, whole rows, each own write once."""
    turn = Turn.objects.get()
    assert turn.stage == "done"
    assert Completion.objects.count() == letters
    assert not Delivery.objects.exists()
    assert_no_double_rows(turn)
    twice = Counter(AuditEntry.objects.filter(turn_id=turn.id).values_list("operation", flat=True))
    assert set(twice.values()) <= {1}, twice
    return turn


def assert_no_double_rows(turn: Turn) -> None:
    """Asserts that phases, rounds and calls were each written once and every call is answered."""
    phases = Counter(Phase.objects.filter(turn=turn).values_list("phase", "iteration"))
    rounds = Counter(Round.objects.filter(phase__turn=turn).values_list("phase_id", "n"))
    assert set(phases.values()) <= {1}, phases
    assert set(rounds.values()) <= {1}, rounds
    open_calls = ToolCall.objects.filter(round__phase__turn=turn).exclude(status="done")
    assert not open_calls.exists(), list(open_calls.values("name", "status"))
