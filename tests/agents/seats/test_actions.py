"""The verbs over seats, nodes and dead letters, through the doors people use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from agents.mail import claim
from agents.management.commands.beat import beat_argv
from agents.management.commands.worker import worker_argv
from agents.models.mail import DeadLetter, Delivery
from agents.models.seats import HoldReason, SeatHold
from agents.seats import holds
from agents.seats import lease as leases
from crewlet.kernel import clock
from crewlet.kernel.actions import Door, Outcome, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import ALL_GRANTS, Grant
from crewlet.kernel.errors import NotFound
from crewlet.kernel.models import AuditEntry, EngineEvent
from tests.agents.play import a_company, a_letter, a_node, an_open_turn, post_now

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def seats() -> dict[str, UUID]:
    return a_company("kofi", "mara")


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLUMNS", "200")
    yield


def person(login: str, *grants: Grant, handle: str | None = None) -> Actor:
    return Actor(ActorKind.PERSON, login, login.title(), frozenset(grants), handle=handle)


def act(actor: Actor, name: str, door: Door = Door.REST, **args: Any) -> Outcome:
    return perform(actor, name, args, op_id=None, door=door)


def command(*words: str) -> Any:
    out = StringIO()
    call_command(*words, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.covers("TURN-79")
def test_an_operator_pauses_and_resumes_with_one_event_per_change(seats: dict[str, UUID]) -> None:
    ann, ben = person("ann.a", Grant.FLEET_OPERATE), person("ben.b", Grant.FLEET_OPERATE)
    first = act(ann, "pause_seat", seat="kofi", reason="wait for the brief").unwrap()
    assert first.data == {"changed": True, "by": "ann.a"}
    second = act(ben, "pause_seat", seat="kofi").unwrap()
    assert second.data == {"changed": False, "by": "ann.a"}
    assert "already paused by ann.a" in second.message
    assert EngineEvent.objects.filter(type="seat_paused").count() == 1

    stop = act(ben, "pause_seat", seat="kofi", stop_running=True).unwrap()
    assert stop.data["changed"] is True
    assert SeatHold.objects.get().stop_running
    assert act(ben, "resume_seat", seat="kofi").unwrap().data == {"changed": True}
    assert act(ann, "resume_seat", seat="kofi").unwrap().data == {"changed": False}
    assert EngineEvent.objects.filter(type="seat_resumed").count() == 1
    assert AuditEntry.objects.filter(action="pause_seat").count() == 3


def test_a_lead_pauses_who_they_lead_and_nobody_else_may(seats: dict[str, UUID]) -> None:
    lead = person("ana.a", handle="ana")
    assert act(lead, "pause_seat", seat="kofi").status == "applied"
    stranger = act(person("eve.e"), "pause_seat", seat="mara")
    assert stranger.status == "refused"
    assert stranger.error is not None
    assert stranger.error.detail["grants"] == ["fleet:operate"]
    assert SeatHold.objects.count() == 1


def test_no_tool_of_an_agent_pauses_a_seat_or_ends_a_node(
    seats: dict[str, UUID],
) -> None:
    kofi = Actor(ActorKind.SEAT, "kofi", "Kofi", handle="kofi", seat_id=seats["kofi"])
    for name, args in (("pause_seat", {"seat": "mara"}), ("end_node", {"node": "one"})):
        with pytest.raises(NotFound, match=f"no action '{name}'"):
            act(kofi, name, Door.TOOL, **args)


def test_only_an_agents_seat_is_paused_and_a_wrong_handle_gets_a_hint(
    seats: dict[str, UUID],
) -> None:
    operator = person("ann.a", Grant.FLEET_OPERATE)
    human = act(operator, "pause_seat", seat="ana")
    assert human.error is not None and "held by a person" in human.error.message
    wrong = act(operator, "pause_seat", seat="koffi")
    assert wrong.error is not None and "kofi" in wrong.error.message


def test_seats_are_listed_with_who_holds_them_and_what_waits(seats: dict[str, UUID]) -> None:
    one = a_node("one")
    leases.claim(one, "one", room=5, ttl=60)
    post_now(seats["kofi"], a_letter(), a_letter(n=1))
    command("seats", "pause", "mara", "--reason", "holiday")
    rows = {row["seat"]: row for row in command("seats", "list")}
    assert (rows["kofi"]["node"], rows["kofi"]["waiting"], rows["kofi"]["held_by"]) == (
        "one",
        2,
        None,
    )
    assert rows["kofi"]["oldest"] >= 0
    assert (rows["mara"]["held_by"], rows["mara"]["oldest"]) == ("seat_paused", None)
    assert command("seats", "resume", "mara")["changed"] is True


def test_a_node_is_shown_drained_and_ended_at_the_terminal(seats: dict[str, UUID]) -> None:
    a_node("one")
    assert [row["node"] for row in command("fleet", "show")] == ["one"]
    command("fleet", "drain", "one")
    assert command("fleet", "show")[0]["draining"] is True
    assert command("fleet", "end", "one")["seats"] == 0
    assert command("fleet", "show") == []
    with pytest.raises(SystemExit) as ended:
        command("fleet", "end", "one")
    assert ended.value.code == 2


def test_dead_letters_are_listed_replayed_and_discarded_at_the_terminal(
    seats: dict[str, UUID],
) -> None:
    kofi = seats["kofi"]
    letters = [a_letter(text, n=n) for n, text in enumerate(("again", "never"))]
    post_now(kofi, *letters)
    assert [row["summary"] for row in command("mail", "list", "kofi")] == ["again", "never"]
    with transaction.atomic(), connection.cursor() as cursor:
        turn = an_open_turn(cursor, kofi, [letter.event_id for letter in letters])
        claim.bury(cursor, turn, "it kills workers")
    dead = {row["summary"]: row["id"] for row in command("mail", "dead")}
    command("mail", "replay", dead["again"])
    command("mail", "discard", dead["never"])
    assert command("mail", "dead") == []
    assert Delivery.objects.get().payload["text"] == "again"
    assert set(DeadLetter.objects.values_list("handled_how", "handled_by")) == {
        ("replayed", "operator:shell"),
        ("discarded", "operator:shell"),
    }


def test_a_pause_lifts_only_itself(seats: dict[str, UUID]) -> None:
    with transaction.atomic():
        holds.put(seats["kofi"], HoldReason.BUDGET_WINDOW, by="engine", now=clock.now())
    operator = Actor(ActorKind.PERSON, "ann.a", "Ann", ALL_GRANTS)
    act(operator, "pause_seat", seat="kofi")
    act(operator, "resume_seat", seat="kofi")
    assert SeatHold.objects.get().reason == "budget_window"


def test_a_worker_reads_its_own_queue_and_duties_never_share_a_pool_with_wakes() -> None:
    seat, duty = worker_argv(duty=False), worker_argv(duty=True)
    assert seat[seat.index("-P") + 1] == duty[duty.index("-P") + 1] == "threads"
    assert seat[seat.index("-Q") + 1].startswith("node.")
    assert duty[duty.index("-Q") + 1] == "duty"
    assert duty[duty.index("-n") + 1].startswith("duty.")
    assert "beat" in beat_argv()
