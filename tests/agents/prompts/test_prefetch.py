"""What a turn opens with: read once, in the order of the prompt, frozen for every later pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agents.models.turns import Phase
from agents.prompts import build
from agents.prompts.context import TriggerText
from agents.prompts.prefetch import PREFETCHES, Opening, Prefetch
from crewlet.kernel.models import EngineEvent
from crewlet.kernel.registry import thawed
from tests.agents.prompts.test_prompts import MESSAGE, NOW
from tests.agents.turn.conftest import bare_stage, model_server, stage
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, again
from tests.support.script import Step

__all__ = ["bare_stage", "model_server", "stage"]


@pytest.fixture
def blocks() -> Iterator[Any]:
    """Registers blocks for one test; each call of one is counted under its key."""
    reads: list[str] = []

    def add(key: str, said: str | Exception, *, searches: bool = False) -> None:
        def read(_opening: Opening) -> str:
            reads.append(key)
            if isinstance(said, Exception):
                raise said
            return said

        PREFETCHES.register(key, Prefetch(key, key, read, searches=searches))

    add.reads = reads  # type: ignore[attr-defined]
    with thawed(PREFETCHES):
        yield add


@pytest.mark.covers("TURN-18")
@pytest.mark.parametrize(
    ("text", "thin"),
    [("+1", True), ("PR got a comment", True), ("👍👍👍👍👍", True),
     ("Please bake twelve loaves of rye", False), ("Hornée douze pains s'il vous plaît", False)],
)  # fmt: skip
def test_a_message_that_says_little_is_thin(text: str, thin: bool) -> None:
    message = TriggerText("chat", "chat", NOW, {"text": text})
    assert Opening(None, "baker", NOW, (message,)).thin is thin  # type: ignore[arg-type]
    assert not Opening(None, "baker", NOW, (MESSAGE, message)).thin  # type: ignore[arg-type]


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-18", "ADD-11", "TURN-25")
def test_blocks_stand_in_order_are_read_once_and_a_broken_one_costs_only_itself(
    stage: Stage, blocks: Any
) -> None:
    blocks("counterparty", "## The chief\n\nLikes rye.")
    blocks("relevant_knowledge", "## Known\n\nRye needs time.", searches=True)
    blocks("episode_recall", ZeroDivisionError("no episode"))
    stage.executes(NOTE, SUBMIT, Step(expect="Rye needs time.", calls=SUBMIT.calls))
    stage.reviews(again(), DONE)
    _, turn = stage.work()
    assert blocks.reads == ["counterparty", "relevant_knowledge", "episode_recall"]
    first, second = Phase.objects.filter(turn=turn, phase="execute").order_by("iteration")
    keys = [part["key"] for part in first.system_outline]
    assert keys == [key for key in build.EXECUTOR_ORDER if key in keys]
    assert keys.index("relevant_knowledge") < keys.index("counterparty")
    assert "episode_recall" not in keys
    assert second.system == first.system
    told = EngineEvent.objects.filter(turn_id=turn.id, type="agent_phase_started")
    payload = told.order_by("ts", "id")[0].payload
    assert payload["prefetching"]["failed"] == ["episode_recall"]
    assert payload["prefetch_summary"]["counterparty"] > 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-18")
def test_a_thin_message_searches_for_nothing(stage: Stage, blocks: Any) -> None:
    blocks("relevant_knowledge", "## Known", searches=True)
    blocks("counterparty", "## The chief")
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work(payload={"summary": "+1", "text": "+1", "sender": {"name": "Chief"}})
    assert blocks.reads == ["counterparty"]
