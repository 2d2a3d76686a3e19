"""Small pieces of the ground floor."""

from __future__ import annotations

import subprocess
import sys
from uuid import UUID

import pytest
from django.db import connection, transaction

from crewlet.kernel import clock, db, ids, seal
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import ALL_GRANTS, Grant, require
from crewlet.kernel.errors import (
    CrewletError,
    ErrorCode,
    Forbidden,
    Unavailable,
    body,
    exit_code_of,
    status_of,
)
from crewlet.kernel.events import CATEGORIES, EventType, announce, publish, receiver
from crewlet.kernel.failpoints import NAMES, failpoint
from crewlet.kernel.models import EngineEvent
from crewlet.kernel.redact import clean, redact
from crewlet.kernel.registry import Registry, RegistryError


def test_every_error_code_has_a_status_and_a_body() -> None:
    for code in ErrorCode:
        assert 400 <= status_of(code) < 600
        assert exit_code_of(code) in (1, 2, 75)
    error = CrewletError("Say a name.", code=ErrorCode.INVALID, field="name")
    assert body(error, "r1") == {
        "error": "invalid",
        "message": "Say a name.",
        "detail": {"field": "name"},
        "request_id": "r1",
    }


def test_every_event_type_has_a_category() -> None:
    assert set(CATEGORIES) == set(EventType)


def test_ids_sort_by_time_and_derived_ones_repeat() -> None:
    first, second = ids.new_id(), ids.new_id()
    assert first.version == 7 and first < second
    assert ids.derived_id("a", "b") == ids.derived_id("a", "b") != ids.derived_id("ab")


def test_a_registry_refuses_a_double_name_and_a_late_one() -> None:
    registry: Registry[int] = Registry("numbers")
    registry.register("one", 1)
    with pytest.raises(RegistryError, match="'one' is registered twice"):
        registry.register("one", 2)
    registry.freeze()
    with pytest.raises(RegistryError, match="after start-up"):
        registry.register("two", 2)
    assert (registry["one"], registry.get("two")) == (1, None)


@pytest.mark.covers("TURN-36")
@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-" + "a1" * 20,
        "ghp_" + "Z9" * 15,
        "xoxb-" + "1234567890-abc",
        "AKIA" + "A1B2C3D4E5F6G7H8",
        "postgres://crew:hunter2hunter2@db/x",
    ],
)
def test_credentials_of_known_shapes_are_taken_out(secret: str) -> None:
    shown = redact(f"before {secret} after")
    assert shown.startswith("before ") and shown.endswith(" after")
    assert secret not in shown
    assert "hunter2" not in shown


@pytest.mark.covers("TURN-36")
def test_control_characters_go_and_newlines_stay() -> None:
    assert clean("a\x00b\x1b[0m\tc\n") == "ab[0m\tc\n"


def test_a_sealed_value_opens_under_its_own_name_only() -> None:
    box = seal.seal("slack", "xoxb")
    assert "xoxb" not in box
    assert seal.unseal("slack", box) == "xoxb"
    with pytest.raises(Unavailable, match="another key"):
        seal.unseal("github", box)


def test_an_unknown_failpoint_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    failpoint("turn.opened")
    monkeypatch.setenv("CREWLET_FAILPOINT", "turn.opened:99")
    with pytest.raises(ValueError, match="not a failpoint"):
        failpoint("turn.closed")
    failpoint("turn.opened")


def test_the_nth_hit_of_a_failpoint_kills_the_process() -> None:
    program = (
        "from crewlet.kernel.failpoints import failpoint\n"
        "for n in (1, 2, 3):\n    failpoint('settled'); print(n, flush=True)"
    )
    assert "settled" in NAMES
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"CREWLET_FAILPOINT": "settled:2"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (-9, "1\n")


@pytest.mark.django_db(transaction=True)
def test_a_connection_is_released_outside_a_transaction_only() -> None:
    connection.ensure_connection()
    db.release()
    assert connection.connection is None
    with transaction.atomic(), pytest.raises(RuntimeError, match="inside a transaction"):
        db.release()


@pytest.mark.covers("RUN-12")
@pytest.mark.django_db
def test_a_published_event_is_a_row_with_its_transaction() -> None:
    seat = UUID(int=3)
    publish(EventType.SEAT_PAUSED, summary="Ana paused Kofi", actor="ana", seat_id=seat)
    row = EngineEvent.objects.get()
    assert (row.type, row.category, row.actor, row.seat_id) == (
        "seat_paused",
        "lifecycle",
        "ana",
        seat,
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT xid = pg_current_xact_id() FROM kernel_engineevent")
        assert cursor.fetchone() == (True,)


class Noticed:
    """A fact of this test."""


def test_receivers_run_in_their_order_and_the_first_refusal_stops_them() -> None:
    seen: list[str] = []

    @receiver(Noticed, order=20)
    def late(fact: Noticed) -> None:
        seen.append("late")
        raise CrewletError("no")

    @receiver(Noticed, order=10)
    def early(fact: Noticed) -> None:
        seen.append("early")

    @receiver(Noticed, order=30)
    def never(fact: Noticed) -> None:
        seen.append("never")

    with pytest.raises(CrewletError):
        announce(Noticed())
    assert seen == ["early", "late"]


def test_the_clock_is_aware_and_in_utc() -> None:
    assert clock.now().utcoffset() is not None
    assert clock.monotonic() <= clock.monotonic()


@pytest.mark.covers("ORG-111")
def test_the_grants_are_eleven_and_each_guards_one_kind_of_thing() -> None:
    assert {grant.value for grant in Grant} == {
        "state:read", "audit:read", "config:read", "secrets:read", "work:write",
        "knowledge:write", "config:write", "secrets:write", "fleet:operate", "people:manage",
        "sandbox:run",
    }  # fmt: skip
    assert frozenset(Grant) == ALL_GRANTS
    for grant in Grant:
        everything_else = Actor(ActorKind.PERSON, "a.b", "A", grants=ALL_GRANTS - {grant})
        with pytest.raises(Forbidden, match=grant.value):
            require(everything_else, grant)
        require(Actor(ActorKind.PERSON, "a.b", "A", grants=frozenset({grant})), grant)
