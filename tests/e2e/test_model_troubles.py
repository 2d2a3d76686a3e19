"""A model that is down, talks nonsense, refuses or breaks off: the seat says why, and whoever
asked hears of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from agents.models.turns import Turn
from tests.e2e.company import (
    OPENAI,
    SLOW,
    accepts,
    act,
    found,
    program,
    speaks_for,
    turns_of,
    until_rest,
)
from tests.support.model_play import reviewed_turn
from tests.support.model_server import ModelServer
from tests.support.processes import Process, Processes, free_port
from tests.support.script import SeenRequest, Step
from tests.support.until import until

pytestmark = pytest.mark.covers("TURN-47", "TURN-48", "TURN-49", "TURN-50", "TURN-51")

TROUBLES = {"baker": "refuses", "miller": "cut off", "carter": "garbage"}


def troubled(seen: SeenRequest) -> Step:
    """Fails each seat in its own way; the chief's model is fine."""
    trouble = next((words for who, words in TROUBLES.items() if speaks_for(who, seen)), "")
    if accepts(seen) is not None or not trouble:
        return reviewed_turn()(seen)
    if trouble == "refuses":
        return Step(say="I will not.", refusal=("policy", "Ovens are dangerous."), stop="refusal")
    if trouble == "cut off":
        return Step(say="I begin with", stop="length")
    return Step(response="<html>Bad gateway</html>", ignore_stream=True)


def stopped(rest: httpx.Client, handle: str) -> dict[str, Any] | None:
    """A seat's row while it says that its model is why it does nothing."""
    row: dict[str, Any] = rest.get(f"/agents/{handle}").json()["seat"]
    return row if (row["activity"], row["stopped_reason"]) == ("stopped", "provider") else None


@pytest.mark.covers("TURN-48", "TURN-49")
def test_every_trouble_of_a_model_is_named_on_the_turn_and_on_the_seat(
    web: Process, processes: Processes
) -> None:
    with ModelServer(play=troubled) as server:
        rita = found(server)
        worker = processes.start_worker("one")
        for handle in ("baker", "miller", "carter", "chief"):
            act(rita, "create_work_item", title=handle, project="BAKE", assignee=handle)

        def settled() -> bool:
            assert not worker.ended, worker.output
            ended = Turn.objects.filter(stage="done", seat__handle__in=("baker", "miller", "chief"))
            return ended.values("seat").distinct().count() == 3

        until(settled, SLOW, what="every first turn came to an end or a stop")
        with program(web.url, rita) as rest:

            def garbled() -> bool:
                (turn,) = rest.get("/turns", params={"seat": "carter"}).json()["turns"] or [None]
                return bool(turn and (turn["stage"], turn["park_reason"]) == ("parked", "provider"))

            until(garbled, SLOW, what="a model that answers garbage counts as one that is down")
            until(lambda: stopped(rest, "carter"), SLOW, what="the carter says so")
            seats = {row["handle"]: row for row in rest.get("/agents").json()["agents"]}
            listed = rest.get("/turns").json()["turns"]
            turns = {row["seat"]: row for row in listed}  # the oldest of each, which comes last
            talk = {
                row["title"]: rest.get(f"/work/{row['key']}").json()["comments"]
                for row in rest.get("/work").json()["items"]
            }
    assert turns["chief"]["outcome"] == "completed"
    refused, cut = turns["baker"], turns["miller"]
    assert (refused["outcome"], refused["error_kind"]) == ("failed", "refusal")
    assert "Ovens are dangerous" in refused["error"]
    assert (cut["outcome"], cut["error_kind"]) == ("failed", "max_tokens")
    for handle in ("baker", "miller"):
        assert [row["seat"] for row in listed].count(handle) == 1, "a refusal is not tried again"
        assert seats[handle]["last_error"], f"{handle} does not say why"
        assert any(
            turns[handle]["error"][:40] in said["body"] for said in talk[handle]
        ), f"Rita is not told on the item: {talk[handle]}"  # fmt: skip


@pytest.mark.covers("TURN-12")
def test_a_model_that_is_down_parks_the_turn_and_it_goes_on_when_the_model_is_back(
    web: Process, processes: Processes
) -> None:
    port = free_port()
    nobody = type("Nobody", (), {"openai_url": f"http://127.0.0.1:{port}/v1"})()
    rita = found(nobody, OPENAI)
    worker = processes.start_worker("one")
    act(rita, "create_work_item", title="A loaf", project="BAKE", assignee="baker")
    with program(web.url, rita) as rest:

        def down() -> dict[str, Any] | None:
            assert not worker.ended, worker.output
            return stopped(rest, "baker")

        row = until(down, SLOW, what="the seat says that its model is down")
        assert row is not None
        told = rest.get("/events", params={"type": "llm_unavailable"}).json()["events"]
        assert row["reason"], "the seat says why in words"
        assert told
        with ModelServer(port=port, play=reviewed_turn()):
            until_rest()
        seat = rest.get("/agents/baker").json()["seat"]
    (turn,) = turns_of("baker")
    assert (turn.outcome, turn.node_lost) == ("completed", 0), worker.output
    assert (seat["activity"], seat["stopped_reason"]) == ("idle", None)
