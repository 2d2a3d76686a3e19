"""Counts what a stretch of work asks of the database: commits that wrote, and every statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from bench.figures import Repeat, most_repeated

_WRITES = ("INSERT", "UPDATE", "DELETE", "WITH")


@dataclass
class Count:
    """Commits and statements of one thread; statements are kept by transaction."""

    commits: int = 0
    transactions: list[list[str]] = field(default_factory=lambda: [[]])

    @property
    def queries(self) -> int:
        """How many statements ran; BEGIN and COMMIT are not among them, savepoints are."""
        return sum(len(statements) for statements in self.transactions)

    @property
    def repeated(self) -> Repeat:
        """The statement that one transaction ran most often."""
        return most_repeated(self.transactions)

    def _saw(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001 - Django calls it
        alone = not connection.in_atomic_block
        if alone:
            self.transactions.append([])
        self.transactions[-1].append(str(sql))
        result = execute(sql, params, many, context)
        if alone:
            self.commits += str(sql).lstrip().upper().startswith(_WRITES)
            self.transactions.append([])
        return result


@contextmanager
def counted() -> Iterator[Count]:
    """Counts what this thread's connection does inside; it asks once more before each commit
    whether anything was written, so nothing is timed meanwhile."""
    count = Count()
    real = DatabaseWrapper._commit  # type: ignore[attr-defined]

    def commit(wrapper: Any) -> Any:
        with wrapper.connection.cursor() as cursor:
            wrote = cursor.execute("SELECT pg_current_xact_id_if_assigned()").fetchone()
        count.commits += wrote[0] is not None
        count.transactions.append([])
        return real(wrapper)

    with (
        patch.object(DatabaseWrapper, "_commit", commit),
        connection.execute_wrapper(count._saw),
    ):
        yield count
