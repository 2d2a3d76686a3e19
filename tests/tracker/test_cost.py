"""How many statements a write costs: a sign that somebody put a query into a loop."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.tracker.company import comment, create, update
from tests.tracker.conftest import Cast


def test_a_write_takes_a_bounded_number_of_statements_whoever_stands_around(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    with CaptureQueriesContext(connection) as filed:
        create(cast.ana, project="ENG", assignee="agent-swe", body="It hums.")
    with CaptureQueriesContext(connection) as said:
        comment(cast.ana, item, "How far?")
    with CaptureQueriesContext(connection) as moved:
        update(cast.swe, item, status="in_progress")
    for seat in ("qa", "agent-cto", "packer", "omar"):
        update(cast[seat], item, watch=True)
    with CaptureQueriesContext(connection) as crowded:
        comment(cast.ana, item, "How far now?")
    # One of them keeps the counts of the project and its newest entry (TRK-3).
    assert len(filed) <= 23
    assert len(said) <= 22
    assert len(moved) <= 17
    # Each further person costs their mail or notice and nothing else.
    assert len(crowded) - len(said) <= 4 * 4
