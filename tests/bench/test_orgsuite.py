"""The suite of failing companies: what the record shows is never let through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.orgsuite.modes import MODES
from bench.orgsuite.report import Row, played, show
from bench.orgsuite.scene import Fate, Script, Stage
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rows() -> Iterator[list[Row]]:
    script = Script()
    with ModelServer(play=script) as server:
        yield played(Stage.opened(script, server.openai_url))


@pytest.mark.covers("PEER-22", "TURN-57", "TURN-60")
def test_the_engine_lets_through_no_fault_that_its_record_shows(rows: list[Row]) -> None:
    assert len(rows) == len(MODES) == 14
    fates = {row.mode.code: (row.reviewed, row.nodded) for row in rows}
    assert not any(row.let_through for row in rows), show(rows)
    # A fault of meaning is the reviewer's to find: with one who reads it is caught, else it leaks.
    for code in ("1.1", "2.2", "2.3"):
        assert fates[code] == (Fate.CAUGHT, Fate.LEAKED), show(rows)
