"""Keeps the children of `up` alive, and stops them in an order that loses nothing.

| state    | what it means                         | who leaves it                             |
|----------|---------------------------------------|-------------------------------------------|
| starting | servers come up, tables are made      | the last child started, or a stop         |
| serving  | children are watched and restarted    | SIGINT, SIGTERM, SIGHUP                   |
| draining | no new work; turns come to their end  | the workers ended, or a second signal     |
| stopped  | every child has ended                 | nobody                                    |
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType

from crewlet.kernel import clock
from crewlet.ops.children import Child
from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.ledger import Ledger
from crewlet.ops.roster import WEB_GRACE_SECONDS
from crewlet.ops.screen import Screen

WATCH_SECONDS = 0.2
DRAIN_LOG_SECONDS = 10.0
# A turn survives its worker's death, so a drain need not outlast a person's patience.
DRAIN_SECONDS = 90.0
STOP_SECONDS = 15.0


class Supervisor:
    """Starts servers and processes, watches them, and ends them in order."""

    def __init__(
        self,
        screen: Screen,
        ledger: Ledger,
        *,
        raise_mark: Callable[[], None],
        end_incarnation: Callable[[str], None],
    ) -> None:
        self._screen = screen
        self._ledger = ledger
        self._raise_mark = raise_mark
        self._end_incarnation = end_incarnation
        self._servers: list[Child] = []
        self._processes: list[Child] = []
        self._stop = threading.Event()
        self._kill = threading.Event()

    def listen(self) -> None:
        """Takes the stop signals: the first drains, the second kills."""
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(how, self._on_signal)

    @property
    def stopping(self) -> bool:
        """Tells whether a stop was asked for."""
        return self._stop.is_set()

    def start_server(self, child: Child) -> None:
        """Starts a server; returns once it is ready. Raises ServerProblem when it cannot run."""
        self._servers.append(child)
        self._run(child)

    def start_process(self, child: Child) -> None:
        """Starts one of the product's own processes."""
        self._processes.append(child)
        self._run(child)

    def watch(self, until: Callable[[], bool] = lambda: False) -> None:
        """Restarts what dies until a stop is asked for, or until `until()` holds."""
        while not self._stop.wait(WATCH_SECONDS) and not until():
            self.run_once(clock.monotonic())

    def run_once(self, now: float) -> None:
        """Looks at every child once: notes deaths, starts again what has waited long enough."""
        for child in (*self._servers, *self._processes):
            if child.process is not None and not child.running:
                self._on_death(child, child.process.returncode, now)
            elif child.restart_at is not None and now >= child.restart_at:
                self._restart(child, now)

    def stop(self) -> None:
        """Ends everything in the order of the drain; a second signal shortens it to a kill.

        1. The mark goes up, so that web refuses new work from here on and reads stay.
        2. Workers drain: nothing new is taken, running turns reach a journalled step. Beat ends.
        3. Web ends: whoever watched saw the drain to its end.
        4. Servers end last, because everything before writes to them.
        """
        workers = [child for child in self._processes if child.name != "web"]
        web = [child for child in self._processes if child.name == "web"]
        if any(child.running for child in self._processes):
            self._screen.say("draining: no new work, turns finish. Press Ctrl-C again to kill.")
            self._mark()
        self._end(workers, DRAIN_SECONDS)
        self._end(web, WEB_GRACE_SECONDS + STOP_SECONDS)
        for server in reversed(self._servers):
            self._end([server], STOP_SECONDS, patient=True)
        self._ledger.forget()
        self._screen.say("stopped.")

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._stop.is_set():
            self._kill.set()
        self._stop.set()

    def _run(self, child: Child) -> None:
        process = child.run(clock.monotonic())
        self._ledger.add(child.name, process.pid, child.stop, child.node_id)

    def _on_death(self, child: Child, code: int, now: float) -> None:
        pause = child.note_death(now)
        self._ledger.remove(child.name)
        self._screen.loud(f"{child.name} {_how(code)}; starting it again in {pause:g} s")
        if child.node_id:
            self._end_node(child.node_id)

    def _restart(self, child: Child, now: float) -> None:
        try:
            self._run(child)
        except (ServerProblem, OSError) as problem:
            pause = child.note_death(now)
            self._screen.loud(f"{child.name}: {problem}; trying again in {pause:g} s")

    def _end_node(self, node_id: str) -> None:
        # Whatever goes wrong here costs one lease's life of waiting; the company must not stop.
        try:
            self._end_incarnation(node_id)
        except Exception as problem:  # noqa: BLE001 - reported, and the lease expires by itself
            self._screen.loud(f"node {node_id} could not be ended at once: {problem}")

    def _mark(self) -> None:
        try:
            self._raise_mark()
        except Exception as problem:  # noqa: BLE001 - reported; the workers drain by signal anyway
            self._screen.loud(f"the drain mark could not be raised: {problem}")

    def _end(self, children: list[Child], seconds: float, *, patient: bool = False) -> None:
        """Asks all to stop, waits for all, kills what is left. `patient`: a kill signal waits too.

        Servers are patient: by then nobody writes, so they end within a second, and a killed
        Postgres would begin its next life with a recovery.
        """
        for child in children:
            child.ask_to_stop()
        begun = clock.monotonic()
        said = begun
        while waiting := [child for child in children if child.running]:
            waited = clock.monotonic() - begun
            if waited >= seconds or (self._kill.is_set() and not patient):
                break
            if clock.monotonic() - said >= DRAIN_LOG_SECONDS:
                said = clock.monotonic()
                names = ", ".join(child.name for child in waiting)
                self._screen.say(f"waiting for {names}, {waited:.0f} s so far")
            waiting[0].wait(WATCH_SECONDS)
        for child in children:
            if child.running:
                self._screen.loud(f"killing {child.name}; its turns go on at the next start")
            # Also after a good end: a tool server it left behind lives in its group.
            child.kill()
            self._ledger.remove(child.name)


def _how(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with code {code}"
