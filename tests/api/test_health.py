"""Probes, figures and the drain: what a balancer, a monitor and a program see of an install."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from crewlet.environment import read
from crewlet.kernel import drain
from crewlet.ops import health, migrating
from crewlet.ops.checks import Reason
from tests.agents.play import a_node
from tests.api.conftest import Program, refusal

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-a-monitor-that-is-long-enough"


@pytest.fixture(autouse=True)
def fresh_look(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every look is a new one, and this database counts as migrated."""
    monkeypatch.setattr(health, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(health, "unapplied", lambda: 0)
    health._last = health._Last()
    yield
    health._last = health._Last()


def reason() -> str | None:
    """Why /ready refuses, None when it does not."""
    answer = Client().get("/ready")
    if answer.status_code == 200:
        assert answer.json() == {"ready": True}
        return None
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    found: str = answer.json()["reason"]
    return found


def test_an_install_with_a_company_is_ready_and_well(company: None) -> None:
    a_node("one")
    assert reason() is None
    body = Client().get("/health").json()
    assert (body["database"], body["redis"], body["in_flight"]) == (True, True, 0)
    assert {"status", "alarms", "seats", "in_flight"} <= set(body)


@pytest.mark.covers("RUN-53")
def test_an_install_without_a_company_is_unconfigured() -> None:
    from orgs import epochs

    epochs.forget()
    assert reason() == Reason.UNCONFIGURED
    assert Client().get("/health").json()["status"] == "unconfigured"


def test_a_database_behind_the_code_is_unmigrated(
    company: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "unapplied", lambda: 2)
    health._last = health._Last()
    assert reason() == Reason.UNMIGRATED
    assert callable(migrating.unapplied)


def test_a_database_that_does_not_answer_is_told_and_health_stays_up(
    company: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "database_answers", lambda: False)
    assert reason() == Reason.DATABASE
    answer = Client().get("/health")
    assert (answer.status_code, answer.json()["database"]) == (200, False)


@pytest.mark.covers("RUN-51")
def test_a_drain_refuses_writes_with_a_time_to_come_back_and_keeps_reads(ana: Program) -> None:
    key = ana.filed()
    drain.raise_mark("tests")
    assert reason() == Reason.DRAINING
    assert Client().get("/health").json()["status"] == "shutting_down"
    for path, body in (
        ("/work", {"title": "x", "project": "ENG"}),
        (f"/work/{key}/comments", {"body": "x"}),
        ("/act/pause_seat", {"seat": "qa"}),
        ("/agents/qa/pause", {}),
    ):
        answer = ana.post(path, body)
        refusal(answer, 503, "draining")
        assert int(answer["Retry-After"]) >= 1
    put = ana.send("PUT", "/config", {"name": "x"}, x_summary="x")
    refusal(put, 503, "draining")
    for path in ("/work", f"/work/{key}", "/agents", "/turns", "/me/inbox", "/stream/snapshot"):
        assert ana.get(path).status_code == 200, path
    drain.lower()
    assert ana.post("/agents/qa/pause", {}).status_code == 200


def test_figures_need_a_credential_and_are_in_prometheus_form(
    company: None, settings: Settings
) -> None:
    settings.CREWLET = read({"CREWLET_API_TOKEN_MONITOR": TOKEN})
    refusal(Client().get("/metrics"), 401, "unauthenticated")
    monitor = Client(headers={"authorization": f"Bearer {TOKEN}"})
    answer = monitor.get("/metrics")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    lines = answer.content.decode().splitlines()
    series = [line for line in lines if line and not line.startswith("#")]
    assert all(re.match(r"^[a-z_:0-9]+(\{.*\})? \S+", line) for line in series)
    described = {line.split()[2] for line in lines if line.startswith("# HELP")}
    assert {"crewlet_ws_clients", "crewlet_ws_dropped_total"} <= described
    assert {"crewlet_inbox_depth", "crewlet_turns_in_flight", "crewlet_alarm_active"} <= described


def test_only_reading_is_possible_at_the_probes() -> None:
    for path in ("/health", "/ready"):
        assert Client().head(path).status_code in (200, 503)
        assert Client().post(path).status_code == 405
