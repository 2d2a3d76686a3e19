"""The bench counts commits and statements exactly, whoever opens the transaction."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from bench.counting import counted
from crewlet.kernel import db

pytestmark = pytest.mark.django_db(transaction=True)


def run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture
def tally() -> None:
    run("CREATE TABLE IF NOT EXISTS bench_tally (n int)", "TRUNCATE bench_tally")


@pytest.mark.usefixtures("tally")
def test_a_transaction_that_wrote_is_one_commit_however_many_rows_it_wrote() -> None:
    with counted() as count, transaction.atomic():
        run("INSERT INTO bench_tally VALUES (1)", "INSERT INTO bench_tally VALUES (2)")
        with transaction.atomic():
            run("INSERT INTO bench_tally VALUES (3)")
    assert count.commits == 1
    # Three rows, and the savepoint that was opened and released.
    assert count.queries == 5


@pytest.mark.usefixtures("tally")
def test_a_transaction_that_only_read_or_was_undone_is_no_commit() -> None:
    with counted() as count:
        with transaction.atomic():
            run("SELECT count(*) FROM bench_tally")
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            run("INSERT INTO bench_tally VALUES (1)")
            raise ZeroDivisionError
    assert (count.commits, count.queries) == (0, 2)


@pytest.mark.usefixtures("tally")
def test_a_write_outside_a_transaction_is_a_commit_of_its_own() -> None:
    with counted() as count:
        run("INSERT INTO bench_tally VALUES (1)", "SELECT 1", "UPDATE bench_tally SET n = 2")
    assert (count.commits, count.queries) == (2, 3)


@pytest.mark.usefixtures("tally")
def test_the_count_goes_on_after_the_connection_was_given_back() -> None:
    with counted() as count:
        run("SELECT 1")
        db.release()
        with transaction.atomic():
            run(*["SELECT n FROM bench_tally"] * 4)
        run("SELECT n FROM bench_tally")
    assert count.queries == 6
    assert (count.repeated.times, count.repeated.statement) == (4, "SELECT n FROM bench_tally")
    run("SELECT 1")
    assert count.queries == 6
