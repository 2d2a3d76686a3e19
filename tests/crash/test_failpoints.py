"""A turn survives the death of its worker at every named place of its way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from agents.models.mail import Completion, Delivery
from agents.models.memory import DiaryEntry
from agents.models.seats import SeatHold
from agents.models.turns import Round, Turn
from crewlet.environment import BASE_DIR
from crewlet.kernel.failpoints import NAMES
from crewlet.kernel.models import AuditEntry
from tests.agents.play import a_company, a_letter, post_now
from tests.support.crash import PATIENCE, CrashRun, assert_worked_once
from tests.support.model_server import ModelServer
from tests.support.processes import Processes, child_environment
from tests.support.script import SeenRequest, Step, call
from tests.support.until import until

pytestmark = pytest.mark.timeout(300)  # three processes boot, one by one

# Walked by the scenarios of their own below.
ELSEWHERE = {"mail.posted", "parked", "resumed"}
ON_THE_WAY = [name for name in NAMES if name not in ELSEWHERE]

# The last answer is stored in the commit that settles, so before that it is only in hand.
ANSWER_IN_HAND = {"answer.received", "settle.before"}

NOTE = "The mill closes at four on Fridays."


@dataclass
class Play:
    """Notes one thing in its diary, submits, and its reviewer agrees: after `sent_back` passes."""

    sent_back: int = 0
    reviews: int = 0

    def __call__(self, seen: SeenRequest) -> Step:
        if "submit_review" not in seen.tools:
            return _execute(seen)
        self.reviews += 1
        if self.reviews <= self.sent_back:
            again = call("submit_review", decision="self_iterate", notes="Say when it closes.")
            return Step(calls=[again])
        return Step(calls=[call("submit_review", decision="done", completed_work="Noted it.")])


def _execute(seen: SeenRequest) -> Step:
    made = {made.name for made in seen.calls()}
    if "reflect_and_persist" not in made:
        return Step(calls=[call("reflect_and_persist", content=NOTE)])
    return Step(calls=[call("submit_work", outcome="no_action", summary="Noted the closing time.")])


@pytest.fixture
def play() -> Play:
    return Play()


@pytest.fixture
def server(play: Play) -> Iterator[ModelServer]:
    with ModelServer(play=play) as running:
        yield running


def company(server: ModelServer, **more: Any) -> UUID:
    """Applies a company whose one seat, kofi, thinks by the server; returns the seat."""
    model = {"type": "openai-compatible", "model": "scripted-1", "base_url": server.openai_url}
    return a_company("kofi", providers={"llm": {"main": model}}, **more)["kofi"]


@pytest.fixture
def kofi(server: ModelServer) -> UUID:
    return company(server)


def finished() -> bool:
    return Completion.objects.exists()


@pytest.mark.covers("RUN-11", "RUN-52", "TURN-12")
@pytest.mark.parametrize("name", ON_THE_WAY)
def test_a_worker_killed_here_loses_nothing_and_repeats_nothing(
    processes: Processes, kofi: UUID, server: ModelServer, play: Play, name: str
) -> None:
    # A pass is only recorded on its own when the reviewer sends it back.
    play.sent_back = 1 if name == "iteration.recorded" else 0
    post_now(kofi, a_letter("The mill closes early"))
    run = CrashRun(processes, finished)
    run.kill_at(name)
    had_ended = finished()
    run.finish()
    turn = assert_worked_once()
    assert (turn.outcome, turn.node_lost) == ("completed", 0 if had_ended else 1)
    assert DiaryEntry.objects.filter(seat_id=kofi, content=NOTE).count() == 1
    assert AuditEntry.objects.filter(action="reflect_and_persist").count() == 1
    stored = Round.objects.filter(phase__turn=turn).count()
    asked = server.stats.report()["calls"]
    # An answer that was in hand but not stored when the worker died is asked for once more.
    assert asked == stored + (1 if name in ANSWER_IN_HAND else 0)


@pytest.mark.covers("RUN-1")
def test_a_poster_killed_between_its_commit_and_the_ring_loses_no_mail(
    processes: Processes, kofi: UUID
) -> None:
    code = (
        "import django; django.setup()\n"
        "from tests.agents.play import a_letter, post_now\n"
        f"from uuid import UUID; post_now(UUID('{kofi}'), a_letter('posted'))\n"
    )
    environment = {
        **child_environment(),
        "DJANGO_SETTINGS_MODULE": "crewlet.settings",
        "CREWLET_FAILPOINT": "mail.posted",
    }
    died = subprocess.run([sys.executable, "-c", code], cwd=BASE_DIR, env=environment, check=False)
    assert died.returncode == -9
    assert Delivery.objects.count() == 1
    CrashRun(processes, finished).finish()
    assert_worked_once()


@pytest.mark.covers("TURN-83")
def test_a_worker_killed_as_it_parks_and_as_it_resumes_goes_on_with_the_same_turn(
    processes: Processes, server: ModelServer
) -> None:
    kofi = company(server, token_budget={"day": 1})
    letter = a_letter("The mill closes early")
    post_now(kofi, letter)
    run = CrashRun(processes, finished)
    run.kill_at("parked")
    parked = Turn.objects.get()
    assert (parked.stage, parked.park_reason) == ("parked", "budget")
    assert Delivery.objects.get().turn_id == parked.id
    company(server, token_budget={"day": 9_000_000})
    run.kill_at("resumed")
    run.finish()
    turn = assert_worked_once()
    assert (turn.id, turn.outcome, turn.node_lost) == (parked.id, "completed", 1)
    assert server.stats.report()["calls"] == Round.objects.filter(phase__turn=turn).count()


@pytest.mark.covers("TURN-83")
def test_a_parked_turn_waits_on_the_survivor_until_there_is_room(
    processes: Processes, server: ModelServer
) -> None:
    kofi = company(server, token_budget={"day": 1})
    post_now(kofi, a_letter())
    processes.start_worker("one", ready=lambda: True)
    until(lambda: SeatHold.objects.filter(reason="budget_window").exists(), PATIENCE, what="held")
    assert Turn.objects.get().stage == "parked"
    asked = server.stats.report()["calls"]
    post_now(kofi, a_letter("another", n=5, batch_key="other"))
    company(server, token_budget={"day": 9_000_000})
    until(lambda: Completion.objects.count() == 2, PATIENCE, what="both letters are worked")
    assert asked == 1, "a parked turn asked its model again"
    assert not SeatHold.objects.exists()
