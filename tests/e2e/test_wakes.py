"""What wakes a seat is a row: Redis is emptied, workers come and go, Postgres is cut off."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql

from agents.models.mail import Completion
from agents.models.seats import SeatLease
from agents.models.turns import Turn
from crewlet.ops.pools import close_pools
from tests.e2e.company import (
    BAKERS,
    SLOW,
    accepts,
    act,
    found,
    speaks_for,
    turns_of,
    until_rest,
)
from tests.support import postgres, redis, servers
from tests.support.model_play import reviewed_turn
from tests.support.model_server import ModelServer
from tests.support.processes import Process, Processes
from tests.support.script import SeenRequest, Step
from tests.support.until import until


class Gate:
    """The baker's model waits with its first answer until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def play(self, seen: SeenRequest) -> Step:
        mine = accepts(seen) is None and speaks_for("baker", seen)
        if mine and not seen.calls() and not self.reached.is_set():
            self.reached.set()
            step = reviewed_turn()(seen)
            return Step(say=step.say, calls=step.calls, gate=self.open)
        return reviewed_turn()(seen)

    def until_reached(self, worker: Process) -> None:
        def reached() -> bool:
            assert not worker.ended, worker.output
            return self.reached.is_set()

        until(reached, SLOW, what="a turn waits on the model")


def holders() -> dict[str, int]:
    """How many seats each node holds."""
    found: dict[str, int] = {}
    for lease in SeatLease.objects.exclude(owner=None).select_related("owner"):
        assert lease.owner is not None
        found[lease.owner.node_id] = found.get(lease.owner.node_id, 0) + 1
    return found


@pytest.mark.covers("RUN-1")
def test_an_emptied_redis_in_the_middle_of_a_burst_loses_no_wake(processes: Processes) -> None:
    with ModelServer(play=reviewed_turn()) as server:
        rita = found(server)
        worker = processes.start_worker("one")
        keys = []
        for n in range(9):
            filed = act(
                rita, "create_work_item", title=f"Loaf {n}", project="BAKE",
                assignee=BAKERS[n % len(BAKERS)],
            )  # fmt: skip
            keys.append(filed["key"])
            if n % 3 == 1:
                redis.flush(os.environ["REDIS_URL"])
        until_rest()
    done = Turn.objects.filter(outcome="completed", seat__handle__in=BAKERS)
    assert set(done.values_list("work_item_key", flat=True)) == set(keys), worker.output
    assert not worker.ended


@pytest.mark.covers("RUN-5")
def test_ten_comments_in_a_row_are_at_most_two_turns(processes: Processes) -> None:
    gate = Gate()
    with ModelServer(play=gate.play) as server:
        rita = found(server)
        worker = processes.start_worker("one")
        key = act(rita, "create_work_item", title="A cake", project="BAKE")["key"]
        for n in range(10):
            act(rita, "comment_on_work_item", item=key, body=f"@baker remark {n}")
            if n == 0:
                gate.until_reached(worker)
        gate.open.set()
        until_rest()
    turns = turns_of("baker")
    assert [len(turn.constituents) for turn in turns] == [1, 9]
    assert {turn.outcome for turn in turns} == {"completed"}
    assert Completion.objects.filter(seat__handle="baker").count() == 10


@pytest.mark.covers("RUN-50")
def test_two_workers_share_the_seats_and_one_that_is_told_to_go_finishes_its_turn(
    processes: Processes,
) -> None:
    gate = Gate()
    with ModelServer(play=gate.play) as server:
        rita = found(server)
        workers = {name: processes.start_worker(name) for name in ("one", "two")}
        until(lambda: holders() == {"one": 2, "two": 2}, SLOW, what="the four seats are shared")
        act(rita, "create_work_item", title="A loaf", project="BAKE", assignee="baker")
        until(gate.reached.is_set, SLOW, what="the turn waits on the model")
        node = Turn.objects.get().node.partition(":")[0]
        (other,) = set(workers) - {node}
        workers[node].terminate()
        workers[node].until_it_says("engine_draining")
        for handle in ("miller", "carter", "chief"):
            act(rita, "create_work_item", title=handle, project="BAKE", assignee=handle)
        until(
            lambda: Turn.objects.filter(stage="done").count() == 3,
            SLOW, what="the other worker does everything else",
        )  # fmt: skip
        assert not workers[node].ended, "it left its running turn"
        gate.open.set()
        assert workers[node].wait(SLOW) == 0, workers[node].output
        until(lambda: holders() == {other: 4}, SLOW, what="the other one has all seats")
        until_rest()
    (turn,) = turns_of("baker")
    assert (turn.outcome, turn.node_lost, turn.node.partition(":")[0]) == ("completed", 0, node)
    assert set(Turn.objects.exclude(id=turn.id).values_list("outcome", flat=True)) == {"completed"}


@contextmanager
def database_gone() -> Iterator[None]:
    """Postgres as it is during a restart, for this test's database alone: every session is cut
    and no new one comes in; the servers of other tests go on."""
    folder = Path(os.environ[servers.FOLDER])
    name = postgres.database_name(servers.worker_name())
    allow = sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS {}")
    with psycopg.connect(
        host=str(postgres.sockets(folder)), user="postgres", dbname="postgres", autocommit=True
    ) as maintenance:

        def let_in(answer: str) -> None:
            maintenance.execute(allow.format(sql.Identifier(name), sql.SQL(answer)))

        close_pools()
        let_in("false")
        try:
            maintenance.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )
            yield
        finally:
            let_in("true")


@pytest.mark.timeout(90)
def test_a_turn_outlives_a_database_that_goes_away_while_it_runs(
    web: Process, processes: Processes
) -> None:
    gate = Gate()
    with ModelServer(play=gate.play) as server:
        rita = found(server)
        worker = processes.start_worker("one")
        key = act(
            rita, "create_work_item", title="A loaf", project="BAKE", assignee="baker"
        )["key"]  # fmt: skip
        gate.until_reached(worker)

        def reason() -> str | None:
            answer = httpx.get(f"{web.url}/ready", timeout=15)
            return answer.json().get("reason") if answer.status_code == 503 else "ready"

        before = reason()
        assert before != "database"
        with database_gone():
            until(lambda: reason() == "database", SLOW, what="web says that the database is gone")
            assert httpx.get(f"{web.url}/health", timeout=15).status_code == 200
            gate.open.set()
        until(lambda: reason() == before, SLOW, what="web finds the database again")
        until_rest(60)
    turns = turns_of("baker")
    assert {turn.outcome for turn in turns} == {"completed"}, worker.output
    assert len(turns) == 1
    assert turns[0].work_item_key == key
