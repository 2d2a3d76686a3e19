"""What a model was given, measured; and which model of a chain it was."""

from __future__ import annotations

import json

import pytest

from agents.models.turns import Phase, Round
from agents.queries.turns import turn_detail
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.models import EngineEvent
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage
from tests.support.script import SeenRequest, Step

pytestmark = pytest.mark.django_db

SPARE = '    spare: {{type: openai-compatible, model: scripted-2, base_url: "{url}"}}'
CHAIN = "    llm: [main, spare]"
DOWN = Step(status=529, error=("overloaded_error", "too busy"))


def asks(stage: Stage, model: str, *steps: Step) -> None:
    """Scripts the executor of one model alone."""

    def mine(seen: SeenRequest) -> bool:
        return seen.body["model"] == model and "submit_work" in seen.tools

    stage.server.script(f"executor of {model}", mine, list(steps))


def told(kind: str) -> list[dict[str, object]]:
    """The payloads of a kind of event, oldest first."""
    return list(
        EngineEvent.objects.filter(type=kind).order_by("ts", "id").values_list("payload", flat=True)
    )


@pytest.mark.covers("TURN-87")
def test_a_phase_tells_how_large_what_it_asks_with_is(stage: Stage) -> None:
    """System, user, conversation and tools in bytes, tokens as a quarter of them."""
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    _, turn = stage.work()
    phase = Phase.objects.get(phase="execute")
    opening = told("agent_phase_started")[0]["prompt_size"]
    assert isinstance(opening, dict)
    assert opening["system"] == len(phase.system.encode())
    assert opening["user"] == len(phase.user.encode())
    assert opening["conversation"] == 0
    assert opening["tools"] == len(json.dumps(phase.tools, ensure_ascii=False).encode())
    assert opening["total"] == sum(opening[k] for k in ("system", "user", "tools"))
    assert opening["about_tokens"] == opening["total"] // 4

    first = Round.objects.get(phase=phase, n=0)
    call = first.calls.get()
    grown = len((first.content + call.args_text + call.result + first.note).encode())
    assert grown > 0
    ended = told("agent_phase_completed")[0]["prompt_size"]
    assert isinstance(ended, dict)
    assert ended["conversation"] == grown
    shown = turn_detail(engine_actor("tests"), turn.id)["phases"]
    assert shown[0]["prompt_size"] == ended, "the page and the event measure alike"
    assert shown[1]["prompt_size"]["conversation"] == 0, "the review took one request"


@pytest.mark.covers("TURN-87")
def test_an_opening_tells_which_blocks_were_read_for_it(stage: Stage) -> None:
    """`prefetch_summary`, silent blocks as 0."""
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    execute, review = told("agent_phase_started")
    assert execute["prefetch_summary"] == {"personal_memory": 0}
    assert review["prefetch_summary"] == {}


@pytest.mark.covers("TURN-51")
def test_each_round_records_the_model_that_served_it_and_a_fallback_is_told(
    bare_stage: Stage,
) -> None:
    """Per call; `provider_fallback{from, to, kind}`."""
    stage = bare_stage
    stage.company(seat_budget=CHAIN, providers=SPARE)
    asks(stage, "scripted-1", DOWN, SUBMIT)
    asks(stage, "scripted-2", NOTE)
    stage.reviews(DONE)
    end, turn = stage.work()
    assert end.kind == "completed"
    served = Round.objects.filter(phase__phase="execute").order_by("n")
    assert list(served.values_list("provider_key", "model")) == [
        ("spare", "scripted-2"), ("main", "scripted-1"),
    ]  # fmt: skip
    (fallback,) = told("provider_fallback")
    assert {key: fallback[key] for key in ("from", "to", "kind", "phase")} == {
        "from": "main", "to": "spare", "kind": "server", "phase": "execute",
    }  # fmt: skip
    rounds = turn_detail(engine_actor("tests"), turn.id)["phases"][0]["rounds"]
    assert [found["provider_key"] for found in rounds] == ["spare", "main"]


@pytest.mark.covers("TURN-51")
def test_a_chain_that_is_exhausted_is_told_whole_and_stops_the_turn_until_it_works(
    bare_stage: Stage,
) -> None:
    """`llm_unavailable{chain, last_error}`."""
    stage = bare_stage
    stage.company(seat_budget=CHAIN, providers=SPARE)
    asks(stage, "scripted-1", DOWN, NOTE, SUBMIT)
    asks(stage, "scripted-2", Step(status=401, error=("authentication_error", "bad key")))
    stage.reviews(DONE)
    end, turn = stage.work()
    assert (end.kind, turn.park_reason) == ("parked", "provider")
    (said,) = told("llm_unavailable")
    assert said["chain"] == ["main", "spare"]
    assert 'Provider "spare"' in str(said["last_error"])
    assert [event["to"] for event in told("provider_fallback")] == ["spare"]
    stage.adopt(turn.id, lost=False)
    assert stage.run(turn.id, resumed=True).kind == "completed"


def test_a_model_that_answers_at_once_falls_back_on_nobody(bare_stage: Stage) -> None:
    bare_stage.company(seat_budget=CHAIN, providers=SPARE)
    asks(bare_stage, "scripted-1", NOTE, SUBMIT)
    bare_stage.reviews(DONE)
    assert bare_stage.work()[0].kind == "completed"
    assert told("provider_fallback") == []
