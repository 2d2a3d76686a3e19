"""A write over REST names itself, so that sending it again does nothing again."""

from __future__ import annotations

import pytest

from agents.models.seats import SeatHold
from crewlet.kernel.models import EngineEvent
from tests.api.conftest import Program, ana, company

__all__ = ["ana", "company"]

pytestmark = pytest.mark.django_db


@pytest.mark.covers("UI-93")
def test_a_write_needs_a_key_and_the_same_key_gives_the_first_answer_again(ana: Program) -> None:
    bare = ana.client.post(
        "/api/v1/agents/qa/pause", {"reason": "Rest."}, content_type="application/json"
    )
    assert bare.status_code == 400
    assert bare.json()["detail"]["field"] == "Idempotency-Key"
    assert not SeatHold.objects.exists()

    first = ana.post("/agents/qa/pause", {"reason": "Rest."}, key="pause-1")
    again = ana.post("/agents/qa/pause", {"reason": "Rest."}, key="pause-1")
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json()["result"] == first.json()["result"]
    assert EngineEvent.objects.filter(type="seat_paused").count() == 1

    ana.post("/agents/qa/resume", {}, key="resume-1")
    late = ana.post("/agents/qa/pause", {"reason": "Rest."}, key="pause-1")
    assert late.json()["result"] == first.json()["result"], "an answer, not a second pause"
    assert not SeatHold.objects.exists()
