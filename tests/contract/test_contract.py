"""Every action through every door it lists: the same answer, once, guarded, at a known price."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker

from crewlet.kernel import clock
from crewlet.kernel.actions import ACTIONS, Action, Door
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import AuditEntry
from orgs import epochs
from tests.contract.examples import EXAMPLES, Example
from tests.contract.ways import WAYS, Caller, Said
from tests.contract.world import World, make_world

BASELINE = Path(__file__).with_name("baseline.json")
HTTP_OF = {"invalid": 400, "forbidden": 403, "unbound": 403, "not_found": 404}
FORM_INVALID = 422

NAMES = sorted(name for name in ACTIONS if name in EXAMPLES)


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """One company for the whole module: every call is taken back, so nothing of a test stays."""
    epochs.forget()
    with django_db_blocker.unblock():
        around = transaction.atomic()
        around._from_testcase = True  # type: ignore[attr-defined]  # as Django's own TestCase does
        with around:
            yield make_world()
            transaction.set_rollback(True)
        connection.close()
    epochs.forget()


@contextmanager
def taken_back() -> Iterator[None]:
    """Undoes what happens inside, so that each door finds the same company.

    A bare savepoint: `perform` is durable and refuses to run inside an atomic block of ours.
    """
    mark = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(mark)


def doors_of(entry: Action) -> list[Door]:
    return sorted(entry.doors)


def caller(world: World, example: Example, door: Door) -> Caller:
    """Who may: an agent seat at the tool door, Ana everywhere else."""
    return world.agent(example.agent) if door is Door.TOOL else world.ana


def call(
    world: World, door: Door, name: str, args: Mapping[str, Any], *, who: Caller, op_id: str = ""
) -> Said:
    """One call through one door."""
    return WAYS[door](world, who, name, args, op_id or str(new_id()))()


def through_each_door(
    world: World, name: str, change: Mapping[str, Any], doors: list[Door]
) -> dict[Door, Said]:
    """Calls with the good arguments, changed, as somebody who may; each door in the same world."""
    example, answers = EXAMPLES[name], {}
    for door in doors:
        with taken_back():
            args = {**example.good(world), **change}
            answers[door] = call(world, door, name, args, who=caller(world, example, door))
    return answers


# -- the suite itself ------------------------------------------------------------------------------


def test_every_action_has_an_example() -> None:
    lacking = sorted(set(ACTIONS) - set(EXAMPLES))
    assert not lacking, (
        f"{', '.join(lacking)}: add an Example to EXAMPLES in tests/contract/examples.py (a good "
        "call, a bad field, what is missing, who is refused); the suite then walks its doors."
    )
    gone = sorted(set(EXAMPLES) - set(ACTIONS))
    assert not gone, f"{', '.join(gone)}: no such action; take it out of tests/contract/examples.py"


def test_every_door_is_walked() -> None:
    unwalked = set(Door) - set(WAYS)
    assert not unwalked, (
        f"{unwalked}: write how a call goes in through this door in tests/contract/ways.py"
    )


def test_every_action_says_what_it_does_and_names_its_arguments() -> None:
    silent = [entry.name for entry in ACTIONS.all() if len(entry.description) < 20]
    assert not silent, f"a model reads the docstring of these: {silent}"


# -- a good call -----------------------------------------------------------------------------------


@pytest.mark.covers("TRK-52")
@pytest.mark.parametrize("name", NAMES)
def test_a_good_call_answers_the_same_at_every_door_and_is_audited_once(
    world: World, name: str
) -> None:
    entry, example = ACTIONS[name], EXAMPLES[name]
    answers: dict[Door, Said] = {}
    for door in doors_of(entry):
        with taken_back():
            args, who = example.good(world), caller(world, example, door)
            before = set(AuditEntry.objects.values_list("id", flat=True))
            answers[door] = call(world, door, name, args, who=who)
            assert answers[door].ok, f"{door}: {answers[door]}"
            rows = AuditEntry.objects.exclude(id__in=before)
            written = [(row.action, row.door, row.refused) for row in rows]
            assert written == ([] if entry.reads else [(name, door.value, "")])
            for row in rows:
                assert row.refs == list(answers[door].refs)
                assert row.summary == answers[door].message[:500]
    first = next(iter(answers.values()))
    assert first.message
    for door, said in answers.items():
        assert said.alike == first.alike, f"{door} answers otherwise"
    shown = {said.keys for said in answers.values() if said.keys is not None}
    assert len(shown) <= 1, f"the doors answer different data: {shown}"


# -- a bad field -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_field_is_refused_by_name_and_leaves_nothing(world: World, name: str) -> None:
    example = EXAMPLES[name]
    field, value = example.bad
    before = AuditEntry.objects.count()
    for door, said in through_each_door(
        world, name, {field: value}, doors_of(ACTIONS[name])
    ).items():
        assert not said.ok, f"{door} took {field}={value!r}"
        assert field in said.message, f"{door} does not name {field}: {said.message}"
        if door in (Door.REST, Door.CLI, Door.MCP):
            assert said.code == "invalid"
            assert str(said.detail["field"]).startswith(field)
        if door in (Door.REST, Door.FORM):
            assert said.status == (400 if door is Door.REST else FORM_INVALID)
    assert AuditEntry.objects.count() == before


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_field_is_refused_by_name(world: World, name: str) -> None:
    for door, said in through_each_door(
        world, name, {"colour_of_the_lamp": "red"}, doors_of(ACTIONS[name])
    ).items():
        assert not said.ok, f"{door} took a field that the action does not have"
        assert "colour_of_the_lamp" in said.message


# -- authority -------------------------------------------------------------------------------------


@pytest.mark.covers("ORG-121")
@pytest.mark.parametrize("name", NAMES)
def test_who_may_not_is_refused_and_told_which_grant(world: World, name: str) -> None:
    entry, example = ACTIONS[name], EXAMPLES[name]
    refusals: dict[Door, Said] = {}
    for door in doors_of(entry):
        who: Caller = world.nobody
        if door is Door.CLI or (door is Door.TOOL and not example.refused_agent):
            continue  # who reaches the shell has every grant; the tool needs none
        if door is Door.TOOL:
            who = world.agent(example.refused_agent)
        with taken_back():
            args = {**example.good(world), **example.refused}
            refusals[door] = call(world, door, name, args, who=who)
    if example.open:
        assert entry.grant is None
        assert all(said.ok for said in refusals.values())
        return
    for door, said in refusals.items():
        assert not said.ok, f"{door} let somebody in who may not"
        if door is Door.TOOL:
            continue
        assert said.code == example.refused_code, said
        if door is not Door.MCP:  # a refusal is a tool's answer there, not HTTP's
            assert said.status == HTTP_OF[said.code]
        if entry.grant is not None:
            assert entry.grant.value in said.message
            assert door is Door.FORM or said.detail["grants"] == [entry.grant.value]


def test_an_action_for_people_is_not_there_for_an_agent_seat(world: World) -> None:
    from agents.tools.registry import surface

    tools = surface(world.snapshot, "agent-cto", "execute")
    offered = {tool.name for tool in tools if tool.source == "builtin"}
    assert offered == {entry.name for entry in ACTIONS.all(Door.TOOL)}


# -- what is not there -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if EXAMPLES[name].missing])
def test_what_is_not_there_is_said_the_same_at_every_door(world: World, name: str) -> None:
    entry, example = ACTIONS[name], EXAMPLES[name]
    answers = through_each_door(world, name, example.missing or {}, doors_of(entry))
    first = next(iter(answers.values()))
    assert not first.ok
    for door, said in answers.items():
        assert said.alike == first.alike, f"{door} answers otherwise"
        if door in (Door.REST, Door.CLI, Door.MCP):
            assert said.code == example.missing_code, said
        if door is Door.REST:
            assert said.status == HTTP_OF[example.missing_code]


# -- once ------------------------------------------------------------------------------------------


@pytest.mark.covers("TURN-11")
@pytest.mark.parametrize("name", [name for name in NAMES if not ACTIONS[name].reads])
def test_a_repeated_operation_id_lands_once_and_never_means_another_call(
    world: World, name: str
) -> None:
    entry, example = ACTIONS[name], EXAMPLES[name]
    for door in doors_of(entry):
        with taken_back():
            args, who = example.good(world), caller(world, example, door)
            first = call(world, door, name, args, who=who, op_id="once")
            landed = AuditEntry.objects.count()
            if example.signs_out:
                world.sign_in(world.ana)
            again = call(world, door, name, args, who=who, op_id="once")
            assert again.ok, f"{door}: {again}"
            assert (again.message, again.refs) == (first.message, first.refs)
            assert first.replayed in (None, False)
            assert again.replayed in (None, True)
            other = call(world, door, name, {**args, **example.other}, who=who, op_id="once")
            assert not other.ok, f"{door} took another call under the same operation id"
            assert "operation id" in other.message
            if door in (Door.REST, Door.CLI, Door.MCP):
                assert other.code == "operation_conflict"
            assert AuditEntry.objects.count() == landed
    if example.signs_out:
        world.sign_in(world.ana)


# -- the price -------------------------------------------------------------------------------------


def counted(world: World, act: Callable[[], Said]) -> tuple[int, list[str]]:
    """Counts with the clock held: what a process remembers for a second does not run out."""
    with patch.object(clock, "monotonic", return_value=clock.monotonic()):
        world.ready()
        with CaptureQueriesContext(connection) as caught:
            said = act()
    assert said.ok, said
    return len(caught), [query["sql"][:110] for query in caught.captured_queries]


@pytest.mark.parametrize("name", NAMES)
def test_a_call_asks_the_database_no_more_than_its_baseline(world: World, name: str) -> None:
    entry, example = ACTIONS[name], EXAMPLES[name]
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    known, found = baseline.get(name, {}), {}
    for door in doors_of(entry):
        with taken_back():
            args, who = example.good(world), caller(world, example, door)
            act = WAYS[door](world, who, name, args, str(new_id()))
            found[door.value], asked = counted(world, act)
        if os.environ.get("CREWLET_BANK_QUERIES"):
            continue
        assert door.value in known, (
            f"{name} through {door.value} takes {found[door.value]} queries and has no baseline: "
            "run CREWLET_BANK_QUERIES=1 pytest tests/contract and commit baseline.json"
        )
        assert found[door.value] <= known[door.value], (
            f"{name} through {door.value} takes {found[door.value]} queries, its baseline is "
            f"{known[door.value]}. If the new ones are needed, delete its line in baseline.json "
            "and bank anew.\n" + "\n".join(asked)
        )
    if os.environ.get("CREWLET_BANK_QUERIES"):
        bank(name, {**found, **{d: min(n, found[d]) for d, n in known.items() if d in found}})


def bank(name: str, counts: Mapping[str, int]) -> None:
    """Keeps the lower count of each door; a raised one is only taken where none was kept."""
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    baseline[name] = dict(sorted(counts.items()))
    kept = {key: baseline[key] for key in sorted(baseline) if key in EXAMPLES}
    BASELINE.write_text(json.dumps(kept, indent=1) + "\n")
