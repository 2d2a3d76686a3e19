"""A model that is down, talks nonsense, refuses or breaks off: the seat says why, and whoever
asked hears of it (TURN-47 to TURN-51)."""

from __future__ import annotations

from agents.models.turns import Turn
from tests.e2e.company import (
    OPENAI,
    SLOW,
    accepts,
    act,
    found,
    program,
    turns_of,
    until_rest,
)
from tests.support.model_play import reviewed_turn
from tests.support.model_server import ModelServer
from tests.support.processes import Process, Processes, free_port
from tests.support.script import SeenRequest, Step
from tests.support.until import until

TROUBLES = {"@baker": "refuses", "@miller": "cut off", "@carter": "garbage"}


def troubled(seen: SeenRequest) -> Step:
    """Fails each seat in its own way; the chief's model is fine."""
    whose = seen.system.partition("\n## ")[0]
    trouble = next((words for handle, words in TROUBLES.items() if handle in whose), "")
    if accepts(seen) is not None or not trouble:
        return reviewed_turn()(seen)
    if trouble == "refuses":
        return Step(say="I will not.", refusal=("policy", "Ovens are dangerous."), stop="refusal")
    if trouble == "cut off":
        return Step(say="I begin with", stop="length")
    return Step(response="<html>Bad gateway</html>", ignore_stream=True)


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
            quiet = Turn.objects.exclude(stage__in=["done", "parked"])
            return Turn.objects.count() >= 4 and not quiet.exists()

        until(settled, SLOW, what="every first turn came to an end or a stop")
        with program(web.url, rita) as rest:
            seats = {row["handle"]: row for row in rest.get("/agents").json()["agents"]}
            listed = rest.get("/turns").json()["turns"]
            turns = {row["seat"]: row for row in reversed(listed)}
            talk = {
                row["title"]: rest.get(f"/work/{row['key']}").json()["comments"]
                for row in rest.get("/work").json()["items"]
            }
    assert turns["chief"]["outcome"] == "completed"
    refused, cut, garbage = turns["baker"], turns["miller"], turns["carter"]
    assert (refused["outcome"], refused["error_kind"]) == ("failed", "refusal")
    assert "Ovens are dangerous" in refused["error"]
    assert (cut["outcome"], cut["error_kind"]) == ("failed", "max_tokens")
    for handle in ("baker", "miller"):
        assert [row["seat"] for row in listed].count(handle) == 1, "a refusal is not tried again"
        assert seats[handle]["last_error"], f"{handle} does not say why"
        assert any(
            turns[handle]["error"][:40] in said["body"] for said in talk[handle]
        ), f"Rita is not told on the item: {talk[handle]}"  # fmt: skip
    assert (garbage["stage"], garbage["park_reason"]) == ("parked", "provider"), garbage
    assert (seats["carter"]["activity"], seats["carter"]["stopped_reason"]) == (
        "stopped",
        "provider",
    )


def test_a_model_that_is_down_parks_the_turn_and_it_goes_on_when_the_model_is_back(
    web: Process, processes: Processes
) -> None:
    port = free_port()
    nobody = type("Nobody", (), {"openai_url": f"http://127.0.0.1:{port}/v1"})()
    rita = found(nobody, OPENAI)
    worker = processes.start_worker("one")
    act(rita, "create_work_item", title="A loaf", project="BAKE", assignee="baker")
    with program(web.url, rita) as rest:

        def stopped() -> bool:
            assert not worker.ended, worker.output
            row = rest.get("/agents/baker").json()["seat"]
            return bool(row["activity"] == "stopped" and row["stopped_reason"] == "provider")

        until(stopped, SLOW, what="the seat says that its model is down")
        row = rest.get("/agents/baker").json()["seat"]
        told = rest.get("/events", params={"type": "llm_unavailable"}).json()["events"]
        assert row["reason"], "the seat says why in words"
        assert told
        with ModelServer(port=port, play=reviewed_turn()):
            until_rest()
        seat = rest.get("/agents/baker").json()["seat"]
    (turn,) = turns_of("baker")
    assert (turn.outcome, turn.node_lost) == ("completed", 0), worker.output
    assert (seat["activity"], seat["stopped_reason"]) == ("idle", None)
