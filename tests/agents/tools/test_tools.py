"""What a seat may call, and how what it gets back reaches its model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.llm.base import ToolCallPart
from agents.tools import registry
from agents.tools.registry import surface
from agents.tools.run_call import CallResult, run_call, what_was_read
from agents.turn.submissions import SUBMITTERS
from crewlet.kernel.actions import ACTIONS, Door
from crewlet.kernel.actors import Actor, ActorKind, engine_actor
from orgs import epochs
from orgs.epochs import Snapshot
from orgs.revisions import apply_document
from tests.orgs.companies import TWO_TEAMS

pytestmark = pytest.mark.django_db


@pytest.fixture
def snapshot() -> Snapshot:
    apply_document(engine_actor("test"), TWO_TEAMS, summary="test")
    return epochs.active()


@pytest.mark.covers("TURN-29", "TRK-52")
def test_a_seat_holds_every_tool_of_ours_that_is_for_agents_and_a_reviewer_none(
    snapshot: Snapshot,
) -> None:
    """One surface for every seat, sorted; the phase's own end comes from it."""
    ours = {entry.name for entry in ACTIONS.all(Door.TOOL)}
    tools = surface(snapshot, "baker", "execute")
    names = [tool.name for tool in tools if tool.source == "builtin"]
    assert names == sorted(ours - {"steer_turn"}), "it leads nobody whom it could steer"
    assert {
        "create_work_item", "update_work_item", "comment_on_work_item", "get_work_item",
        "list_work_items", "my_work", "a2a_ask", "lookup_colleague", "reflect_and_persist",
    } <= set(names)  # fmt: skip
    assert not {"pause_seat", "place_work_item", "mark_inbox", "apply_company"} & set(names)
    assert not SUBMITTERS & set(names)
    assert surface(snapshot, "baker", "review") == ()


@pytest.mark.covers("TURN-29")
def test_a_tool_whose_dependency_is_missing_is_left_out(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, str]] = []

    def never(epoch: int, handle: str) -> bool:
        asked.append((epoch, handle))
        return False

    entry = replace(ACTIONS["my_work"], available=never)
    monkeypatch.setitem(ACTIONS._entries, "my_work", entry)
    monkeypatch.setattr(registry, "_cache", {})
    names = [tool.name for tool in surface(snapshot, "baker", "execute")]
    assert "my_work" not in names
    assert asked == [(snapshot.epoch, "baker")]


@pytest.mark.covers("TRK-52")
def test_deliveries_of_the_tracker_name_their_surface_and_reads_are_proved(
    snapshot: Snapshot,
) -> None:
    """What delivers is said by the action, not guessed from its name."""
    tools = {tool.name: tool for tool in surface(snapshot, "baker", "execute")}
    delivering = {name for name, tool in tools.items() if tool.surface == "work"}
    assert delivering == {"create_work_item", "update_work_item", "comment_on_work_item"}
    for name in ("get_work_item", "list_work_items", "my_work", "lookup_colleague"):
        assert tools[name].proven_read


class Pen:
    """A journal for reads, which write nothing."""

    op_id = scope = ""

    def fence(self) -> None:
        raise AssertionError("a read needs no fence")

    def land(self, result: CallResult) -> None:
        raise AssertionError("a read lands nothing")


@pytest.mark.covers("TURN-36")
def test_a_result_goes_back_whole_without_credentials_and_control_characters(
    snapshot: Snapshot,
) -> None:
    baker = Actor(
        ActorKind.SEAT, "baker", "Baker", seat_id=snapshot.seat_ids["baker"], handle="baker"
    )
    tools = {tool.name: tool for tool in surface(snapshot, "baker", "execute")}
    query = {"query": "rita"}
    call = ToolCallPart("c1", "lookup_colleague", query, str(query))
    found = run_call(tools["lookup_colleague"], call, baker, Pen())
    assert found.ok
    assert found.data["handle"] == "rita"
    assert '"reach": "A person' in found.text, "the data stands in the text"

    long = "word " * 40_000
    assert what_was_read(long).text == long, "never cut by its length"
    odd = what_was_read("a\x07b sk-ant-0123456789abcdef0123\n")
    assert (odd.ok, odd.text) == (True, "ab [redacted]\n")


@pytest.mark.covers("TURN-36")
@pytest.mark.parametrize("binary", ["\x00PNG", "\ufffdPNG\ufffd\x1a\x01\ufffd" * 9])
def test_binary_data_is_a_failed_result_that_says_so(binary: str) -> None:
    result = what_was_read(binary)
    assert not result.ok
    assert "binary data" in result.text
    assert "PNG" not in result.text
    assert what_was_read("one \ufffd in a text of some length").ok
