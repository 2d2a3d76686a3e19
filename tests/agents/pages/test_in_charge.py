"""What a person does about a turn, in the browser and by program: steer it, give leave, answer."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.models.turns import SteerNote, Suspension, Turn
from crewlet.kernel import clock
from orgs.models.seats import Seat
from tests.api.test_reads import a_turn

pytestmark = pytest.mark.django_db
ORIGIN = "http://testserver"


def hanging(turn: Turn, kind: str) -> Suspension:
    """A call of the turn that hangs on Ana."""
    phase = turn.phases.create(
        phase="execute", iteration=1, system="", user="", max_rounds=24, started_at=clock.now()
    )
    found = phase.rounds.create(
        n=0, started_at=clock.now(), ms=1, stop_reason="tool_use", answer="{}"
    )
    call = found.calls.create(ord=0, call_id="c", name="drop_lamp", args_text='{"lamp": "L-7"}')
    Turn.objects.filter(id=turn.id).update(stage="parked", park_reason="person")
    return Suspension.objects.create(
        turn=turn, call=call, kind=kind, tool="drop_lamp", question="May I drop it?",
        args_text=call.args_text, options=["Yes", "No"] if kind == "answer" else [],
        asked=Seat.objects.get(handle="ana"), opened_at=clock.now(), until=clock.now(),
    )  # fmt: skip


@pytest.mark.covers("TURN-78", "UI-53")
def test_a_note_is_left_from_the_page_and_by_program_and_its_fate_is_shown(
    founder: Client,
) -> None:
    turn = a_turn(stage="phase", outcome="", ended_at=None)
    page = f"/live/turns/{turn.id}"
    assert 'action="/act/steer_turn"' in founder.get(page).content.decode()
    url = f"/api/v1/turns/{turn.id}/steer"
    key = {"Idempotency-Key": "note-1", "Origin": ORIGIN}
    for _ in range(2):
        told = founder.post(url, {"note": "Mind it."}, "application/json", headers=key)
        assert (told.status_code, told.json()["result"]["request_id"]) == (202, "note-1")
    SteerNote.objects.update(state="delivered", phase="execute", iteration=1, round=1)
    part = founder.get(f"/ui/turns/{turn.id}/charge", headers={"HX-Request": "true"})
    assert "read before round 2 of execute" in part.content.decode()
    Turn.objects.update(stage="done", outcome="completed", ended_at=clock.now())
    late = founder.post(url, {"note": "Late."}, "application/json",
                        headers={"Idempotency-Key": "note-2", "Origin": ORIGIN})  # fmt: skip
    assert (late.status_code, late.json()["error"]) == (410, "gone")
    assert 'action="/act/steer_turn"' not in founder.get(page).content.decode()


@pytest.mark.covers("TURN-80", "PEER-19")
@pytest.mark.parametrize(
    ("kind", "door", "said"),
    [
        ("approval", "decision", {"decision": "approve"}),
        ("answer", "answer", {"choice": "Yes"}),
    ],
)
def test_what_waits_is_in_the_inbox_on_the_page_and_by_program(
    founder: Client, kind: str, door: str, said: dict[str, str]
) -> None:
    turn = a_turn(stage="phase", outcome="", ended_at=None)
    wait = hanging(turn, kind)
    for path in (f"/live/turns/{turn.id}", f"/inbox?open=wait:{wait.id}"):
        html = founder.get(path).content.decode()
        assert f'id="wait-{wait.id}"' in html
        assert "May I drop it?" in html
        assert "L-7" in html or kind == "answer"
    (listed,) = founder.get("/api/v1/waits").json()["waits"]
    assert (listed["id"], listed["seat"]["handle"]) == (str(wait.id), turn.seat.handle)
    url = f"/api/v1/waits/{wait.id}/{door}"
    first = founder.post(
        url, said, "application/json", headers={"Idempotency-Key": "a", "Origin": ORIGIN}
    )
    assert first.status_code == 200, first.content
    second = founder.post(
        url, said, "application/json", headers={"Idempotency-Key": "b", "Origin": ORIGIN}
    )
    assert (second.status_code, second.json()["error"]) == (409, "already_answered")
    assert founder.get("/api/v1/waits").json()["waits"] == []
    assert f'id="wait-{wait.id}"' not in founder.get("/inbox").content.decode()
