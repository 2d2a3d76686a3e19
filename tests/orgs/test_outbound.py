"""The inbox leaves by e-mail, through a real SMTP server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from email.message import Message
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings

from agents.dispatch.duties import DUTIES
from crewlet.kernel import clock
from crewlet.kernel.actions import Door, Result, perform
from crewlet.kernel.actors import Actor, engine_actor
from crewlet.kernel.errors import Invalid
from crewlet.kernel.ids import new_id
from crewlet.kernel.registry import thawed
from orgs import outbound
from orgs.inbox import SOURCES, InboxRow, InboxSource
from orgs.models.notices import Notice
from orgs.models.outbound import OutboundMail, OutboundState
from orgs.models.people import Person, PersonStage
from orgs.models.seats import Seat
from orgs.notices import notify
from orgs.people.actors import session_actor
from orgs.revisions import apply_document
from tests.support.mail_server import MailServer, mail_server
from tests.support.people import a_person, browser, signed_in
from tests.support.processes import free_port

pytestmark = pytest.mark.django_db(transaction=True)

COMPANY = """\
name: Harbour Bakery
roles:
  - {name: Ana, handle: ana, kind: human, email: ana@harbour.example}
  - {name: Kofi, handle: kofi, goal: Bake}
"""


@pytest.fixture
def server(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as running:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running


@pytest.fixture
def ana() -> Person:
    apply_document(engine_actor("tests"), COMPANY, summary="A bakery")
    return a_person(seat=Seat.objects.get(handle="ana"))


@pytest.fixture
def me(ana: Person) -> Actor:
    return session_actor(ana)


@pytest.fixture
def waiting(ana: Person) -> Iterator[list[InboxRow]]:
    """What waits on Ana, and on nobody else."""
    rows: list[InboxRow] = []

    def mine(actor: Actor) -> list[InboxRow]:
        return list(rows) if actor.person_id == ana.id else []

    with thawed(SOURCES):
        SOURCES.register("probe", InboxSource("probe", mine, lambda actor: len(mine(actor))))
        yield rows


def an_ask(ref: str = "ask:1", **more: Any) -> InboxRow:
    values: dict[str, Any] = {
        "title": "Which flour?", "summary": "ENG-1 The bread", "at": clock.now(), **more
    }  # fmt: skip
    return InboxRow(kind="ask", ref=ref, who={}, reason="You are asked", url="/w", **values)


def news(person: Person, reason: str = "mention", title: str = "Kofi mentions you") -> Notice:
    told = notify(
        person, "item", reason=reason, title=title, body="", ref="item:ENG-1", event_id=new_id()
    )
    assert told is not None
    return told


def do(actor: Actor, name: str, /, **args: Any) -> Result:
    return perform(actor, name, args, op_id=None, door=Door.FORM).unwrap()


def run() -> int:
    return outbound.run(clock.now())


def later(seconds: float) -> time_machine.travel:
    return time_machine.travel(clock.now() + timedelta(seconds=seconds))


def subjects(server: MailServer) -> list[str]:
    return [str(message["Subject"]) for message in server.arrived]


def words(message: Message) -> str:
    body = message.get_payload(decode=True)
    assert isinstance(body, bytes)
    return body.decode()


def states() -> set[str]:
    return set(OutboundMail.objects.values_list("state", flat=True))


@pytest.mark.covers("PEER-35")
def test_a_decision_leaves_once_to_the_address_of_the_seat(
    server: MailServer, waiting: list[InboxRow]
) -> None:
    waiting.append(an_ask())
    assert [run(), run(), run()] == [1, 0, 0]
    assert server.recipients == ["ana@harbour.example"]
    (message,) = server.arrived
    assert message["Subject"] == "[Harbour Bakery] Which flour?"
    body = words(message)
    assert any(line.endswith("/inbox?open=ask%3A1") for line in body.splitlines())
    assert "ENG-1 The bread" in body


@pytest.mark.covers("PEER-35")
def test_the_link_of_a_message_opens_its_row_for_who_is_signed_in_alone(
    server: MailServer, ana: Person, settings: Settings
) -> None:
    """No token stands in the address."""
    do(session_actor(ana), "set_email", level="all")
    notice = news(ana)
    assert run() == 1
    body = words(server.arrived[0])
    link = next(line for line in body.splitlines() if line.startswith("Open it: "))
    path = link.removeprefix(f"Open it: {settings.CREWLET.public_url}")
    assert path == f"/inbox?open={notice.id}"
    assert Client().get(path).status_code == 303
    shown = signed_in(browser(), ana).get(path)
    assert shown.status_code == 200
    assert "Kofi mentions you" in shown.content.decode()


@pytest.mark.covers("PEER-35")
def test_a_duty_looks_often_enough_for_a_minute() -> None:
    """Within 60 s."""
    assert DUTIES["outbound_mail"].every + outbound._TICK_SECONDS < 60


def test_news_leaves_only_for_who_wants_all_of_it(
    server: MailServer, ana: Person, me: Actor, waiting: list[InboxRow]
) -> None:
    news(ana, title="Before")
    waiting.append(an_ask())
    assert run() == 1, "decisions are the default"
    do(me, "set_email", level="all", address="ana@home.example")
    news(ana, title="Counts")
    news(ana, reason="watcher", title="Does not count")
    news(ana, reason="asked", title="The ask again")
    assert run() == 1
    assert subjects(server)[-1] == "[Harbour Bakery] Counts"
    assert server.recipients[-1] == "ana@home.example"
    do(me, "set_email", level="off")
    news(ana)
    waiting.append(an_ask("ask:2"))
    assert run() == 0


def test_who_is_suspended_or_has_no_address_hears_nothing(
    server: MailServer, ana: Person, waiting: list[InboxRow]
) -> None:
    waiting.append(an_ask())
    Person.objects.filter(id=ana.id).update(stage=PersonStage.SUSPENDED)
    assert run() == 0
    Person.objects.filter(id=ana.id).update(stage=PersonStage.ACTIVE, seat=None)
    assert run() == 0
    assert not OutboundMail.objects.exists()


def test_without_a_mail_server_nothing_is_noted(
    settings: Settings, waiting: list[InboxRow]
) -> None:
    settings.EMAIL_HOST = ""
    waiting.append(an_ask())
    assert run() == 0
    assert not OutboundMail.objects.exists()


def test_what_was_answered_meanwhile_stays_here(
    server: MailServer, waiting: list[InboxRow]
) -> None:
    server.answer = "451 try later"
    waiting.append(an_ask())
    assert run() == 0
    waiting.clear()
    server.answer = "250 OK"
    with later(31):
        assert run() == 0
    assert states() == {OutboundState.MOOT}


def test_an_old_row_does_not_leave_when_a_mail_server_comes(
    server: MailServer, waiting: list[InboxRow]
) -> None:
    waiting.append(an_ask(at=clock.now() - timedelta(hours=25)))
    assert run() == 0


@pytest.mark.covers("PEER-35")
def test_a_refusal_is_tried_again_with_longer_pauses_and_then_given_up(
    server: MailServer, me: Actor, ana: Person, waiting: list[InboxRow]
) -> None:
    """The trouble stands in Settings."""
    server.answer = "550 no such user"
    waiting.append(an_ask())
    pauses = []
    with time_machine.travel(clock.now(), tick=False) as moment:
        for _ in range(outbound.ATTEMPTS):
            assert run() == 0
            mail = OutboundMail.objects.get()
            pauses.append(round((mail.due_at - clock.now()).total_seconds()))
            assert run() == 0, "not before its pause is over"
            moment.shift(pauses[-1])
    assert pauses[:4] == [30, 60, 120, 240]
    assert (mail.state, mail.attempts) == (OutboundState.DEAD, outbound.ATTEMPTS)
    shown = signed_in(browser(), ana).get("/settings/preferences").content.decode()
    assert "no such user" in shown
    assert "1 message given up" in shown


def test_a_server_that_is_away_costs_one_message_one_try(
    server: MailServer, waiting: list[InboxRow], settings: Settings
) -> None:
    settings.EMAIL_PORT = free_port()
    waiting += [an_ask("ask:1"), an_ask("ask:2"), an_ask("ask:3")]
    assert run() == 0
    assert sorted(OutboundMail.objects.values_list("attempts", flat=True)) == [0, 0, 1]
    settings.EMAIL_PORT = server.port
    with later(31):
        assert run() == 3
    assert states() == {OutboundState.SENT}


@pytest.mark.covers("PEER-35")
def test_a_worker_that_died_while_sending_is_taken_over_under_the_same_message_id(
    server: MailServer, waiting: list[InboxRow]
) -> None:
    """At least once."""
    waiting.append(an_ask())
    outbound._note(outbound._letters(clock.now()), clock.now())
    mail = outbound._claim()
    assert mail is not None
    assert run() == 0, "it may still be alive"
    with later(outbound.LEASE.total_seconds() + 1):
        assert run() == 1
        outbound._settle(mail, OutboundState.DEAD, "the sleeper wakes")
    assert states() == {OutboundState.SENT}, "a claim that was lost says nothing any more"
    assert server.arrived[0]["Message-ID"].startswith(f"<{mail.id}@")


def test_workers_at_the_same_time_send_each_message_once(
    server: MailServer, waiting: list[InboxRow]
) -> None:
    waiting += [an_ask(f"ask:{n}", title=f"Question {n}") for n in range(12)]
    sent: list[int] = []

    def work() -> None:
        try:
            sent.append(run())
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sum(sent) == 12
    assert len(set(subjects(server))) == len(subjects(server)) == 12


def test_a_title_cannot_write_headers_or_carry_a_key(
    server: MailServer, waiting: list[InboxRow]
) -> None:
    waiting.append(an_ask(title="Which?\r\nBcc: eve@evil.example sk-ant-" + "k3" * 12))
    assert run() == 1
    assert server.recipients == ["ana@harbour.example"]
    assert server.arrived[0]["Bcc"] is None
    assert "sk-ant" not in server.arrived[0].as_string()


def test_a_person_chooses_on_the_page_and_goes_back_to_the_seats_address(
    ana: Person, me: Actor, settings: Settings
) -> None:
    settings.EMAIL_HOST = ""
    as_ana = signed_in(browser(), ana)
    with pytest.raises(Invalid, match="no e-mail address"):
        do(me, "set_email", level="all", address="ana at home")
    as_ana.post("/act/set_email", {"level": "all", "address": "ana@home.example"})
    shown = as_ana.get("/settings/preferences").content.decode()
    assert 'value="ana@home.example"' in shown
    assert '<option value="all" selected>' in shown
    assert "no mail server" in shown
    settings.EMAIL_HOST = "127.0.0.1"
    as_ana.post("/act/set_email", {"level": "all", "address": ""})
    assert "Goes to ana@harbour.example" in as_ana.get("/settings/preferences").content.decode()
