"""A turn is seen while it runs, and a picture that is lost costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis

from agents.llm.base import Delta
from agents.models.turns import Round, ToolCall, Turn
from agents.turn import frames, reading
from agents.turn.frames import Frames
from crewlet.kernel import clock
from crewlet.kernel import live as ring
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage
from tests.support.script import Step

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """The frames of the turn, in order."""
    seen: list[dict[str, Any]] = []

    def push(kind: str, data: dict[str, Any], *, topics: Any = ()) -> None:
        if kind == "progress":
            seen.append({**data, "topics": tuple(topics)})

    monkeypatch.setattr(ring, "push", push)
    yield seen


@pytest.mark.covers("TURN-84")
def test_a_turn_shows_its_phases_its_rounds_and_its_calls(
    stage: Stage, sent: list[dict[str, Any]]
) -> None:
    stage.executes(Step(say="I bake.", think="Twelve?", calls=NOTE.calls), SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    mine = [frame for frame in sent if frame["topics"] == (f"turn:{turn.id}", "seat:baker")]
    shown = [(f["event"], f.get("phase"), f.get("round")) for f in mine]
    assert shown == [
        ("opening", "execute", -1), ("answered", "execute", 0), ("called", "execute", 0),
        ("asking", "execute", 1), ("answered", "execute", 1),
        ("opening", "review", -1), ("answered", "review", 0),
        ("ended", "review", 0),
    ]  # fmt: skip
    assert mine[1]["answer"]["content"] == "I bake."
    assert mine[1]["answer"]["calls"][0]["status"] == "running"
    called = mine[2]["call"]
    assert (called["name"], called["ok"], called["refs"]) == ("note_on", True, ["item:ENG-1"])
    assert all("system" not in frame.get("prompt", {}) for frame in mine)


@pytest.mark.covers("TURN-84")
def test_a_stored_round_looks_as_it_did_live(stage: Stage, sent: list[dict[str, Any]]) -> None:
    """One builder for live and stored."""
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    record, _ = reading.read(turn.id)
    live = [frame["answer"] for frame in sent if frame["event"] == "answered"]
    stored = [frames.round_frame(item) for phase in record.phases for item in phase.rounds]
    live[0]["calls"] = stored[0]["calls"]  # its call had not run yet when it was shown
    assert live == stored


def only_progress(dead: Any) -> Any:
    """A push that fails for a turn's own frames and takes every other."""

    def push(kind: str, data: object, *, topics: object = ()) -> None:
        if kind == "progress":
            dead()

    return push


@pytest.mark.covers("TURN-84")
def test_a_dead_ring_harms_no_turn(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:

    def dead(*_frame: object, **_more: object) -> None:
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(ring, "partial", dead)
    monkeypatch.setattr(frames, "DELTA_SECONDS", 0.0)
    monkeypatch.setattr(ring, "push", only_progress(dead))
    stage.executes(Step(say="I bake.", calls=NOTE.calls), SUBMIT)
    stage.reviews(DONE)
    assert stage.work()[0].kind == "completed"


@pytest.mark.covers("TURN-84")
def test_text_in_the_making_is_shown_at_most_five_times_a_second(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.mail()
    record, _ = reading.read(stage.claim())
    shown: list[dict[str, Any]] = []
    now = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    monkeypatch.setattr(ring, "partial", lambda topic, data: shown.append(data))
    live = Frames(record.head, "baker")
    for n in range(100):  # a hundred words in one second
        now[0] = 100.0 + n / 100
        live.delta(Delta("text", f"word{n} "))
    assert 4 <= len(shown) <= 5
    assert shown[-1]["text"].startswith("word0 word1 ")
    live.delta(Delta("restart"))
    now[0] += 1
    live.delta(Delta("text", "again"))
    assert shown[-1]["text"] == "again"


def test_every_answer_is_kept_byte_for_byte(stage: Stage) -> None:
    odd = '{"item": "ENG-1",  "text": "id 1234567890123456789 \\u00e9 \\ud83c\\udf5e 0.10"}'
    stage.executes(Step(calls=NOTE.calls, raw_arguments=odd), SUBMIT)
    stage.reviews(DONE)
    stage.work()
    stored = ToolCall.objects.get(name="note_on")
    assert stored.args_text == odd
    record, _ = reading.read(Turn.objects.get().id)
    (call,) = record.phases[0].rounds[0].calls
    assert call.args == {"item": "ENG-1", "text": "id 1234567890123456789 é 🍞 0.10"}
    second = [r for r in stage.server.seen if "submit_work" in r.tools][1]
    assert odd in second.raw.decode() or "1234567890123456789" in second.raw.decode()
    assert Round.objects.count() == 3


@pytest.mark.parametrize("junk", ["\\u0000", "\\ud800", "a\\u0000b"])
def test_what_postgres_cannot_hold_does_not_break_a_turn(stage: Stage, junk: str) -> None:
    odd = f'{{"item": "ENG-1", "text": "{junk}"}}'
    stage.executes(Step(calls=NOTE.calls, raw_arguments=odd), SUBMIT)
    stage.reviews(DONE)
    end, _ = stage.work()
    assert end.kind == "completed"
