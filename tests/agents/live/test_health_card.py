"""The one line at the foot of the sidebar: one state, the worst first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.live.snapshot import health_card
from agents.models.seats import Node
from crewlet.kernel import clock, drain
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.registry import thawed
from crewlet.ops import alarms
from crewlet.ops.checks import ALARMS, Finding, Severity
from orgs import epochs
from tests.agents.play import a_company, a_node

pytestmark = [pytest.mark.django_db, pytest.mark.covers("UI-5")]


@pytest.fixture(autouse=True)
def calm() -> Iterator[None]:
    """No alarm but the test's own, no drain."""
    with thawed(ALARMS):
        ALARMS._entries = {}
        drain.lower()
        yield
        drain.lower()


def _card() -> tuple[str, str]:
    card = health_card(engine_actor("tests"))
    return card["state"], card["title"]


def test_the_card_says_the_first_of_its_states_that_holds() -> None:
    epochs.forget()
    assert _card() == ("need", "No company yet")
    a_company("kofi")
    assert _card() == ("stop", "No worker")
    a_node("one")
    assert _card() == ("ok", "Serving")
    a_node("two")
    Node.objects.filter(node_id="two").update(version="0.0.1")
    assert _card() == ("need", "Workers differ")
    drain.raise_mark("test")
    assert _card() == ("need", "Stopping")


def test_it_is_called_healthy_only_while_somebody_looked_and_saw_no_alarm() -> None:
    a_company("kofi")
    a_node("one")
    assert health_card(engine_actor("tests"))["note"] == "Alarms not evaluated yet"
    alarms.look(clock.now())
    assert _card() == ("ok", "Healthy")
    ALARMS.register("mail_stuck", lambda: Finding("mail waits 3 min", "start a worker"))
    alarms.look(clock.now())
    card = health_card(engine_actor("tests"))
    assert (card["state"], card["title"]) == ("need", "Serving")
    assert card["note"].startswith("1 alarm: mail stuck since ")
    ALARMS.register("disk_low", lambda: Finding("1 % free", "make room", Severity.CRITICAL))
    alarms.look(clock.now())
    card = health_card(engine_actor("tests"))
    assert (card["state"], card["note"][:9]) == ("stop", "2 alarms,")
