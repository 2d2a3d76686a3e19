"""`/health`, `/ready` and `/metrics`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import time_machine
from django.db import OperationalError
from django.test import Client, RequestFactory

from crewlet.kernel import clock, drain
from crewlet.kernel.registry import thawed
from crewlet.ops import alarms, checks, health, views
from crewlet.ops.checks import Finding, Reason, Severity, register_obstacle
from crewlet.ops.metrics import SERIES, Series

pytestmark = [pytest.mark.django_db, pytest.mark.covers("RUN-53", "UI-96")]


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Only the checks of the test itself, and no remembered look."""
    with thawed(checks.ALARMS, checks.HEALTH_PARTS, checks.OBSTACLES, SERIES):
        for registry in (checks.ALARMS, checks.HEALTH_PARTS, checks.OBSTACLES, SERIES):
            registry._entries = {}
        health._last = health._Last()
        drain.lower()
        yield
        health._last = health._Last()
        drain.lower()


def test_a_well_install_is_ok_and_ready(client: Client) -> None:
    checks.HEALTH_PARTS.register("in_flight", lambda: 3)
    checks.HEALTH_PARTS.register("seats", lambda: {"held": 2, "unheld": 0})
    answer = client.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "database": True,
        "redis": True,
        "in_flight": 3,
        "seats": {"held": 2, "unheld": 0},
        "alarms": {"count": 0, "worst": None, "active": []},
    }
    assert client.get("/ready").json() == {"ready": True}


def test_a_drain_shows_and_refuses_but_health_stays_200(client: Client) -> None:
    drain.raise_mark("test")
    assert client.get("/health").json()["status"] == "shutting_down"
    refused = client.get("/ready")
    assert (refused.status_code, refused.json()["reason"]) == (503, "draining")
    assert refused["Retry-After"] == "5"


@pytest.mark.parametrize(
    ("reason", "status"), [(Reason.UNCONFIGURED, "unconfigured"), (Reason.STUCK, "degraded")]
)
def test_a_registered_obstacle_refuses_while_it_stands(
    client: Client, reason: Reason, status: str
) -> None:
    stands = [True]
    register_obstacle(reason, lambda: stands[0])
    assert client.get("/health").json()["status"] == status
    assert client.get("/ready").json()["reason"] == reason
    stands[0] = False
    health.look(fresh=True)
    assert client.get("/ready").status_code == 200


def test_only_the_two_open_reasons_may_be_registered() -> None:
    with pytest.raises(ValueError, match="asked by ops itself"):
        register_obstacle(Reason.DRAINING, lambda: True)


def test_a_lost_database_is_told_and_kills_nobody(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "database_answers", lambda: False)
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert client.get("/ready").json()["reason"] == "database"


def test_a_database_that_goes_away_in_the_middle_is_told(client: Client) -> None:
    def gone() -> int:
        raise OperationalError("server closed the connection")

    checks.HEALTH_PARTS.register("in_flight", gone)
    assert client.get("/health").json()["database"] is False


def test_the_probe_goes_past_the_pool_and_answers_no_where_nobody_listens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert health.database_answers()
    from django.db import connection

    monkeypatch.setitem(connection.settings_dict, "HOST", "/nonexistent")
    assert not health.database_answers()


def test_missing_tables_refuse(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "unapplied", lambda: 2)
    assert client.get("/ready").json()["reason"] == "unmigrated"
    monkeypatch.setattr(health, "unapplied", lambda: 0)
    health.look(fresh=True)
    assert client.get("/ready").status_code == 200


def test_a_lost_redis_degrades_but_requests_still_come(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "redis_answers", lambda: False)
    assert client.get("/health").json()["status"] == "degraded"
    assert client.get("/ready").status_code == 200


def test_one_look_serves_every_probe_of_a_second(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []

    def count() -> int:
        looks.append(clock.monotonic())
        return len(looks)

    checks.HEALTH_PARTS.register("in_flight", count)
    at = [50.0]
    monkeypatch.setattr(clock, "monotonic", lambda: at[0])
    for _ in range(5):
        client.get("/health")
    assert len(looks) == 1
    at[0] += health.FRESH_SECONDS
    client.get("/health")
    assert len(looks) == 2


@pytest.mark.covers("UI-99")
def test_alarms_show_with_measurement_and_remedy_and_the_worst_counts(client: Client) -> None:
    checks.ALARMS.register("queue_lag", lambda: Finding("mail waits 9 min", "start a worker"))
    checks.ALARMS.register("calm", lambda: None)
    assert client.get("/health").json()["status"] == "ok"
    checks.ALARMS.register("disk", lambda: Finding("1 % free", "make room", Severity.CRITICAL))
    health.look(fresh=True)
    told = client.get("/health").json()
    assert told["status"] == "degraded"
    assert (told["alarms"]["count"], told["alarms"]["worst"]) == (2, "critical")
    assert told["alarms"]["active"][0] == {
        "kind": "queue_lag",
        "severity": "warning",
        "measurement": "mail waits 9 min",
        "remedy": "start a worker",
    }


def test_an_alarm_is_logged_when_it_rises_and_when_it_clears(
    caplog: pytest.LogCaptureFixture,
) -> None:
    on = [True]
    checks.ALARMS.register(
        "queue_lag", lambda: Finding("mail waits", "start a worker") if on[0] else None
    )
    with time_machine.travel("2026-05-01T10:00:00Z", tick=False), caplog.at_level("INFO"):
        assert list(alarms.look(clock.now())) == ["queue_lag"]
        alarms.look(clock.now())
        on[0] = False
        assert alarms.look(clock.now()) == {}
        alarms.look(clock.now())
    lines = [str(record.msg) for record in caplog.records]
    assert sum("alarm raised" in line for line in lines) == 1
    assert sum("alarm cleared" in line for line in lines) == 1
    assert any("start a worker" in line for line in lines)


@pytest.mark.covers("RUN-76")
def test_every_process_knows_since_when_an_alarm_is_active_and_how_old_that_knowledge_is() -> None:
    assert not alarms.standing().known
    measured = ["mail waits 3 min"]
    checks.ALARMS.register("queue_lag", lambda: Finding(measured[0], "start a worker"))
    with time_machine.travel("2026-05-01T10:00:00Z", tick=False) as at:
        began = clock.now()
        alarms.look(clock.now())
        at.shift(30)
        measured[0] = "mail waits 4 min"
        checks.ALARMS.register("disk", lambda: Finding("1 % free", "room", Severity.CRITICAL))
        alarms.look(clock.now())
        found = alarms.standing()
        assert [(alarm.kind, alarm.measurement) for alarm in found.alarms] == [
            ("queue_lag", "mail waits 4 min"), ("disk", "1 % free"),
        ]  # fmt: skip
        assert (found.alarms[0].since, found.worst, found.known) == (began, "critical", True)
        at.shift(61)
        assert not alarms.standing().known


@pytest.mark.covers("UI-99")
def test_metrics_have_closed_labels_and_one_broken_series_hides_no_other(client: Client) -> None:
    SERIES.register(
        "inbox_depth",
        Series("Mail that waits.", lambda: {("normal",): 4}, labels={"lane": ("normal", "fast")}),
    )
    SERIES.register("turns", Series("Turns ended.", lambda: {(): 9}, kind="counter"))
    SERIES.register(
        "leaky", Series("Names a seat.", lambda: {("kofi",): 1}, labels={"seat": ("any",)})
    )
    checks.ALARMS.register("queue_lag", lambda: Finding("m", "r"))
    assert client.get("/metrics").status_code == 401
    answer = views.metrics(RequestFactory().get("/metrics"))
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    text = answer.content.decode()
    assert 'crewlet_inbox_depth{lane="normal"} 4.0' in text
    assert "crewlet_turns_total 9.0" in text
    assert 'crewlet_alarm_active{kind="queue_lag"} 1.0' in text
    assert "kofi" not in text
    assert "crewlet_series_unread 1.0" in text


def test_probes_are_read_only_and_never_cached(client: Client) -> None:
    for path in ("/health", "/ready"):
        assert client.post(path).status_code == 405
        assert "no-store" in client.get(path)["Cache-Control"]
