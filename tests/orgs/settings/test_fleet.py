"""The nodes that carry the seats, at the API."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.seats import presence
from crewlet.kernel import clock
from crewlet.kernel.registry import thawed
from crewlet.ops import alarms
from crewlet.ops.checks import ALARMS, Finding
from tests.agents.play import a_node, lapse

pytestmark = pytest.mark.django_db(transaction=True)
FLEET = "/api/v1/fleet"


def test_the_fleet_tells_each_node_and_its_state(as_ana: Client) -> None:
    one, two, three = a_node("one"), a_node("two"), a_node("three")
    presence.start_draining(two)
    lapse(three)
    found = as_ana.get(FLEET).json()
    assert {node["node"]: node["state"] for node in found["nodes"]} == {
        "one": "live",
        "two": "draining",
        "three": "stale",
    }
    assert {node["incarnation"] for node in found["nodes"]} == {one, two, three}
    assert found["draining"] is False


def test_the_fleet_takes_no_filter(as_ana: Client) -> None:
    answer = as_ana.get(FLEET, {"node": "one"})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_query")


def test_an_empty_fleet_is_an_empty_list(as_ana: Client) -> None:
    assert as_ana.get(FLEET).json() == {"nodes": [], "draining": False}


@pytest.mark.covers("RUN-76", "UI-5")
def test_alarms_are_told_with_what_to_do_by_rest_and_on_the_page(as_ana: Client) -> None:
    told = as_ana.get("/api/v1/alarms").json()
    assert told == {"alarms": [], "looked_at": None, "known": False}
    assert "Alarms are not evaluated now" in as_ana.get("/settings/nodes").content.decode()
    with thawed(ALARMS):
        ALARMS._entries = {"mail_stuck": lambda: Finding("mail waits 3 min", "Start a worker.")}
        alarms.look(clock.now())
    told = as_ana.get("/api/v1/alarms").json()
    assert told["known"] is True
    assert [(row["kind"], row["remedy"]) for row in told["alarms"]] == [
        ("mail_stuck", "Start a worker.")
    ]
    page = as_ana.get("/settings/nodes").content.decode()
    assert "<b>Mail stuck</b>" in page
    assert "mail waits 3 min. Start a worker." in page
