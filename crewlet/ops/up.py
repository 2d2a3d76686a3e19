"""The steps of `manage.py up`, from an empty folder to a company at work."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
from dataclasses import dataclass
from http import HTTPStatus

from crewlet.environment import BASE_DIR, Env
from crewlet.kernel import drain
from crewlet.ops import roster
from crewlet.ops.children import Child, child_of
from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.embedded.postgres import Postgres
from crewlet.ops.embedded.valkey import Valkey
from crewlet.ops.hooks import UP_HOOKS, UpRequest
from crewlet.ops.ledger import Entry, Ledger, end_leftovers, stray_postgres
from crewlet.ops.migrating import migrate
from crewlet.ops.place import Place, refuse_taken_port
from crewlet.ops.pools import close_pools
from crewlet.ops.screen import Screen
from crewlet.ops.supervisor import Supervisor

PROBE_SECONDS = 5.0


@dataclass(frozen=True)
class UpOptions:
    """What the command line asked for."""

    host: str
    port: int
    demo: bool
    fresh: bool
    seed: str = ""
    company: str = ""


class Up:
    """One run of `up` over one data folder; the caller holds its lock."""

    def __init__(self, env: Env, place: Place, options: UpOptions, screen: Screen) -> None:
        self._env = env
        self._place = place
        self._options = options
        self._screen = screen
        self._ledger = Ledger(place.folder / "children.json")
        self._supervisor = Supervisor(
            screen, self._ledger, raise_mark=_raise_mark, end_incarnation=_end_incarnation
        )

    def run(self) -> None:
        """Serves until a signal; raises ServerProblem when something stands in the way."""
        leftovers = self._end_leftovers()
        refuse_taken_port(self._options.host, self._options.port)
        if self._options.fresh:
            self._place.clear()
        self._supervisor.listen()
        try:
            for step in (
                self._start_servers,
                self._prepare_company,
                lambda: _end_nodes(leftovers),
                self._start_processes,
                self._wait_for_web,
                self._greet,
            ):
                if self._supervisor.stopping:
                    return
                step()
            self._supervisor.watch()
        finally:
            self._supervisor.stop()
            close_pools()

    def _end_leftovers(self) -> list[Entry]:
        found = self._ledger.leftovers()
        stray = stray_postgres(self._place.folder / "postgres")
        if stray is not None and stray.pid not in {entry.pid for entry in found}:
            found.insert(0, stray)
        end_leftovers(found, self._screen.say)
        self._ledger.forget()
        return found

    def _start_servers(self) -> None:
        if self._env.embedded_database:
            server = Postgres(
                self._place.folder / "postgres",
                self._env.run_dir,
                self._place.logs / "postgres.log",
            )
            server.prepare(self._screen.say)
            self._supervisor.start_server(Child("postgres", server.start, signal.SIGINT))
            server.create_database()
            self._screen.say("postgres is ready")
        if self._env.embedded_redis:
            store = Valkey(self._env.run_dir, self._place.logs / "valkey.log")
            store.prepare(self._screen.say)
            self._supervisor.start_server(Child("valkey", store.start, signal.SIGTERM))
            self._screen.say("valkey is ready")

    def _prepare_company(self) -> None:
        # Collecting needs no database, so it runs beside the migrations.
        collecting = self._collect_static()
        try:
            migrate(self._screen.progress)
            drain.lower()
            for prepare in UP_HOOKS.prepare.values():
                line = prepare(self._request())
                if line:
                    self._screen.say(line)
        finally:
            close_pools()
            output, _ = collecting.communicate()
        if collecting.returncode != 0:
            raise ServerProblem(f"The static files could not be collected:\n{output.strip()}")

    def _collect_static(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            roster.manage("collectstatic", "--noinput", "--verbosity", "0"),
            cwd=BASE_DIR,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def _start_processes(self) -> None:
        node = self._env.node_id
        environment = self._environment()
        for role in (
            roster.web(self._options.port, self._options.host),
            roster.worker(node),
            roster.duty_worker(f"{node}-duty"),
            roster.beat(),
        ):
            self._supervisor.start_process(child_of(role, environment, self._screen))

    def _wait_for_web(self) -> None:
        # A link that is printed before somebody answers it looks broken to who clicks at once.
        self._supervisor.watch(until=lambda: _answers(self._options.host, self._options.port))

    def _greet(self) -> None:
        request = self._request()
        self._screen.say(f"Crewlet serves {request.base_url}")
        for make_link in UP_HOOKS.link.values():
            path = make_link(request)
            if path:
                self._screen.say(f"Sign in: {request.base_url}{path}")
                break
        close_pools()

    def _request(self) -> UpRequest:
        asked = self._options
        return UpRequest(self._base_url(), asked.demo, asked.seed, asked.company)

    def _base_url(self) -> str:
        if "CREWLET_PUBLIC_URL" in os.environ:
            return self._env.public_url
        return f"http://localhost:{self._options.port}"

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "CREWLET_DATA_DIR": str(self._place.folder),
            "CREWLET_PUBLIC_URL": self._base_url(),
            "CREWLET_MANIFEST_STATIC": "1",
        }


def _raise_mark() -> None:
    try:
        drain.raise_mark("up")
    finally:
        close_pools()


def _end_incarnation(node_id: str) -> None:
    try:
        for end in UP_HOOKS.end_incarnation.values():
            end(node_id)
    finally:
        close_pools()


def _answers(host: str, port: int) -> bool:
    """Tells whether web takes a request; one that listens everywhere is asked on the loopback."""
    asked = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only
    connection = http.client.HTTPConnection(asked, port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", "/health", headers={"Host": "localhost"})
        return connection.getresponse().status < HTTPStatus.BAD_REQUEST
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _end_nodes(leftovers: list[Entry]) -> None:
    for entry in leftovers:
        if entry.node_id:
            _end_incarnation(entry.node_id)
