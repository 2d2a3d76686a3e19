"""What a turn costs the database: commits are fsyncs, and they are the floor of our speed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, connections
from django.db.backends.postgresql.base import DatabaseWrapper

from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage
from tests.support.script import Step, call

pytestmark = pytest.mark.django_db(transaction=True)

LOOK = Step(calls=[call("look_at", item="ENG-1")])


class Counted:
    """Counts the transactions that wrote, and the statements, of what runs inside."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commits = 0
        self.statements: list[str] = []
        real = DatabaseWrapper._commit  # type: ignore[attr-defined]

        def commit(wrapper: Any) -> None:
            with wrapper.connection.cursor() as cursor:
                wrote = cursor.execute("SELECT pg_current_xact_id_if_assigned()").fetchone()
            self.commits += wrote[0] is not None
            real(wrapper)

        monkeypatch.setattr(DatabaseWrapper, "_commit", commit)

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.statements.append(sql)
        return execute(sql, params, many, context)


def cost(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Counted:
    stage.mail()
    counted = Counted(monkeypatch)
    with connection.execute_wrapper(counted):
        assert stage.run(stage.claim()).kind == "completed"
    return counted


def test_a_reviewed_turn_with_one_write_of_ours_takes_five_commits(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    counted = cost(stage, monkeypatch)
    assert counted.commits == 5
    # The connection is given back before each model call, so a pool hands out others; those
    # statements that this one saw are bounded all the same.
    assert len(counted.statements) <= 70


@pytest.mark.parametrize("reads", [1, 5])
def test_each_further_round_adds_one_commit_however_many_reads_it_makes(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, reads: int
) -> None:
    rounds = 3
    stage.executes(*[Step(calls=[*LOOK.calls] * reads)] * rounds, NOTE, SUBMIT)
    stage.reviews(DONE)
    assert cost(stage, monkeypatch).commits == 5 + rounds


def test_no_connection_is_held_while_a_model_is_asked(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []

    def look(_seen: object) -> None:
        held.append(connection_of_the_turn.connection is not None)

    # The proxy means another connection on the server's thread: look at this thread's own.
    connection_of_the_turn = connections["default"]
    stage.executes(Step(expect=look, calls=NOTE.calls), Step(expect=look, calls=SUBMIT.calls))
    stage.reviews(Step(expect=look, calls=DONE.calls))
    stage.work()
    assert held == [False, False, False]
