"""The nodes that carry the seats, at the API."""

from __future__ import annotations

import pytest
from django.test import Client

from agents.seats import presence
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
