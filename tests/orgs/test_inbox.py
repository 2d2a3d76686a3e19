"""Notices and the inbox: once per person and event, marks of one's own, the company's days."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine

from crewlet.kernel import clock, live
from crewlet.kernel.actions import Door, Result, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.errors import CrewletError, ErrorCode, Forbidden, Invalid, NotFound
from crewlet.kernel.ids import new_id
from crewlet.kernel.registry import thawed
from orgs import inbox
from orgs.inbox import SOURCES, InboxRow, InboxSource, badge, inbox_page
from orgs.models.notices import InboxMark, Notice
from orgs.models.people import Person
from orgs.models.seats import Seat, SeatKind
from orgs.notices import notify
from orgs.people.actors import session_actor
from tests.support.people import a_person, a_seat

pytestmark = pytest.mark.django_db(transaction=True)

NOON = datetime(2026, 3, 12, 12, tzinfo=UTC)  # a Thursday


@pytest.fixture
def seat() -> Seat:
    return a_seat("ana")


@pytest.fixture
def ana(seat: Seat) -> Person:
    return a_person(seat=seat)


@pytest.fixture
def actor(ana: Person) -> Actor:
    return session_actor(ana)


@pytest.fixture
def waiting() -> Iterator[list[InboxRow]]:
    """What one stand-in source says waits on everybody."""
    rows: list[InboxRow] = []
    with thawed(SOURCES):
        SOURCES.register("probe", InboxSource("probe", lambda _: list(rows), lambda _: len(rows)))
        yield rows


def an_ask(ref: str = "ask:1", at: datetime | None = None) -> InboxRow:
    return InboxRow(
        kind="ask", ref=ref, title="Which one?", summary="Two ways", who={"handle": "kofi"},
        at=at or clock.now(), reason="You were asked", url="/work/ENG-1",
    )  # fmt: skip


def tell(recipient: Any, reason: str = "assignee", **more: Any) -> Notice | None:
    values: dict[str, Any] = {
        "title": "ENG-1 is yours", "body": "", "ref": "item:ENG-1", "event_id": new_id(), **more
    }  # fmt: skip
    return notify(recipient, "item", reason=reason, **values)


def do(actor: Actor, name: str, /, **args: Any) -> Result:
    return perform(actor, name, args, op_id=None, door=Door.FORM).unwrap()


def refused(actor: Actor, name: str, /, **args: Any) -> CrewletError:
    with pytest.raises(CrewletError) as raised:
        do(actor, name, **args)
    return raised.value


def titles(page: dict[str, Any]) -> list[str]:
    return [row["title"] for day in page["days"] for row in day["rows"]]


# -- notices --------------------------------------------------------------------------------------


def test_one_event_tells_a_person_once_under_either_name(seat: Seat, ana: Person) -> None:
    event = new_id()
    first = tell(seat.id, event_id=event)
    assert first is not None
    assert first == tell(ana, event_id=event) == tell(seat.id, "mention", event_id=event)
    assert Notice.objects.count() == 1


def test_an_agents_and_a_removed_seat_are_told_nothing(seat: Seat) -> None:
    assert tell(a_seat("kofi", SeatKind.AGENT).id) is None
    Seat.objects.filter(id=seat.id).update(removed_at=clock.now())
    assert tell(seat.id) is None
    assert tell(new_id()) is None


@pytest.mark.covers("TRK-44")
def test_nobody_is_told_of_what_they_did_under_either_name(seat: Seat, ana: Person) -> None:
    assert tell(seat.id, actor="ana") is None
    assert tell(seat.id, actor="ana.silva") is None
    assert tell(seat.id, actor="kofi") is not None


def test_a_seat_without_a_holder_keeps_its_notices_for_who_comes() -> None:
    empty = a_seat("mia")
    tell(empty.id)
    person = a_person("mia.berg")
    assert titles(inbox_page(session_actor(person))) == []
    person.seat = empty
    assert titles(inbox_page(session_actor(person))) == ["ENG-1 is yours"]


def test_a_person_without_a_seat_is_told_in_person_and_what_to_do() -> None:
    person = a_person("mia.berg")
    tell(person)
    page = inbox_page(session_actor(person))
    assert titles(page) == ["ENG-1 is yours"]
    assert "people bind mia.berg" in page["hint"]


def test_a_credential_in_a_notice_is_masked(seat: Seat) -> None:
    notice = tell(seat.id, title="key sk-ant-abcdefghijklmnopqrstuvwxyz", body="x")
    assert notice is not None
    assert "sk-ant-abc" not in notice.title


def test_a_new_notice_hints_the_holders_topic_and_a_second_one_does_not(
    seat: Seat, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    monkeypatch.setattr(live, "changed", lambda *topics: heard.extend(topics))
    event = new_id()
    tell(seat.id, event_id=event)
    tell(seat.id, event_id=event)
    assert heard == ["inbox:ana.silva"]


def test_an_inbox_topic_is_heard_by_its_owner_alone(actor: Actor) -> None:
    assert live.may_hear(actor, "inbox:ana.silva")
    assert not live.may_hear(actor, "inbox:mia.berg")


# -- the page -------------------------------------------------------------------------------------


@pytest.mark.covers("TRK-47")
def test_the_page_has_what_waits_first_and_then_days_of_the_company(
    seat: Seat, actor: Actor, waiting: list[InboxRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "company_zone", lambda: ZoneInfo("Asia/Tokyo"))
    for hours, title in ((30, "older"), (13, "after midnight there"), (1, "now")):
        with time_machine.travel(NOON - timedelta(hours=hours), tick=False):
            tell(seat.id, title=title)
    waiting.append(an_ask())
    with time_machine.travel(NOON, tick=False):
        page = inbox_page(actor)
    assert [row["ref"] for row in page["decisions"]] == ["ask:1"]
    assert [(day["title"], [row["title"] for row in day["rows"]]) for day in page["days"]] == [
        ("Today", ["now", "after midnight there"]),
        ("Yesterday", ["older"]),
    ]
    row = page["days"][0]["rows"][0]
    assert row["reason"] == "It is assigned to you"
    assert row["read"] is False


@pytest.mark.covers("TRK-47")
def test_the_badge_counts_unread_primary_notices_and_what_waits(
    seat: Seat, actor: Actor, waiting: list[InboxRow]
) -> None:
    tell(seat.id, "mention")
    tell(seat.id, "watcher")
    assert badge(actor) == 1
    waiting.append(an_ask())
    assert badge(actor) == 2
    page = inbox_page(actor)
    assert (page["unread"], page["badge"], len(titles(page))) == (1, 2, 2)


def test_pages_follow_each_other_without_a_gap_or_a_double(seat: Seat, actor: Actor) -> None:
    for number in range(7):
        with time_machine.travel(NOON + timedelta(minutes=number // 2), tick=False):
            tell(seat.id, title=f"n{number}")
    seen: list[str] = []
    cursor, pages = "", 0
    while True:
        page = inbox_page(actor, cursor=cursor, limit=3)
        seen += titles(page)
        cursor, pages = page["next"], pages + 1
        if not cursor:
            break
    assert pages == 3
    assert sorted(seen) == [f"n{number}" for number in range(7)]
    with pytest.raises(Invalid):
        inbox_page(actor, cursor="made up")


@pytest.mark.covers("TRK-47")
def test_reasons_narrow_the_scan_and_not_the_page(seat: Seat, actor: Actor) -> None:
    tell(seat.id, "mention", title="mention")
    for _ in range(3):
        tell(seat.id, "watcher")
    assert titles(inbox_page(actor, limit=1, reasons=["mention"])) == ["mention"]


def test_an_unknown_scope_is_refused_by_name(actor: Actor) -> None:
    with pytest.raises(Invalid, match="unread, all, snoozed"):
        inbox_page(actor, "everything")


def test_who_is_no_person_has_no_inbox_and_no_badge() -> None:
    machine = Actor(ActorKind.MACHINE, "token:ci", "Token ci")
    assert badge(machine) is None
    with pytest.raises(Forbidden) as error:
        inbox_page(machine)
    assert error.value.code is ErrorCode.UNBOUND


# -- marks ----------------------------------------------------------------------------------------


@pytest.mark.covers("TRK-47")
def test_reading_and_unreading(seat: Seat, actor: Actor) -> None:
    notice = tell(seat.id)
    assert notice is not None
    assert do(actor, "mark_inbox", read=[str(notice.id)]).data == {"marked": 1}
    assert titles(inbox_page(actor)) == []
    assert titles(inbox_page(actor, "all")) == ["ENG-1 is yours"]
    do(actor, "mark_inbox", unread=[str(notice.id)])
    assert titles(inbox_page(actor)) == ["ENG-1 is yours"]


@pytest.mark.covers("TRK-47")
def test_mark_all_read_goes_through_the_newest_loaded_and_no_further(
    seat: Seat, actor: Actor
) -> None:
    for number in range(3):
        with time_machine.travel(NOON + timedelta(minutes=number), tick=False):
            tell(seat.id, title=f"n{number}")
    through = inbox_page(actor)["through"]
    with time_machine.travel(NOON + timedelta(minutes=9), tick=False):
        tell(seat.id, title="arrived since")
    do(actor, "mark_inbox", seen_through=through)
    assert titles(inbox_page(actor)) == ["arrived since"]


def test_mark_all_read_leaves_snoozed_notices_for_their_time(seat: Seat, actor: Actor) -> None:
    asleep, awake = tell(seat.id, title="asleep"), tell(seat.id, title="awake")
    assert asleep is not None
    assert awake is not None
    do(actor, "snooze_inbox", ref=str(asleep.id), until="1h")
    do(actor, "mark_inbox", seen_through=str(awake.id))
    with time_machine.travel(clock.now() + timedelta(hours=2), tick=False):
        assert titles(inbox_page(actor)) == ["asleep"]


def test_nobody_marks_a_notice_of_somebody_else(seat: Seat, ana: Person) -> None:
    notice = tell(seat.id)
    assert notice is not None
    mia = session_actor(a_person("mia.berg"))
    for args in ({"read": [str(notice.id)]}, {"seen_through": str(notice.id)}):
        assert isinstance(refused(mia, "mark_inbox", **args), NotFound)
    assert isinstance(refused(mia, "snooze_inbox", ref=str(notice.id), until="1h"), NotFound)
    assert Notice.objects.get().read_at is None


def test_who_is_no_person_marks_nothing() -> None:
    machine = Actor(
        ActorKind.MACHINE, "token:ci", "Token ci", frozenset(session_actor(a_person()).grants)
    )
    assert refused(machine, "mark_inbox").code is ErrorCode.UNBOUND


@pytest.mark.covers("TRK-47")
def test_a_due_snooze_returns_by_reading_alone(seat: Seat, actor: Actor) -> None:
    notice = tell(seat.id)
    assert notice is not None
    do(actor, "snooze_inbox", ref=f"notice:{notice.id}", until="1h")
    assert titles(inbox_page(actor)) == []
    assert badge(actor) == 0
    assert titles(inbox_page(actor, "snoozed")) == ["ENG-1 is yours"]
    with time_machine.travel(clock.now() + timedelta(minutes=61), tick=False):
        assert titles(inbox_page(actor)) == ["ENG-1 is yours"]
        assert badge(actor) == 1
        assert titles(inbox_page(actor, "snoozed")) == []


def test_a_snooze_is_taken_back(seat: Seat, actor: Actor) -> None:
    notice = tell(seat.id)
    assert notice is not None
    do(actor, "snooze_inbox", ref=str(notice.id), until="tomorrow")
    do(actor, "snooze_inbox", ref=str(notice.id))
    assert titles(inbox_page(actor)) == ["ENG-1 is yours"]


def test_a_waiting_row_is_put_off_and_comes_back_when_due_or_newer(
    actor: Actor, waiting: list[InboxRow]
) -> None:
    waiting.append(an_ask())
    do(actor, "snooze_inbox", ref="ask:1", until="1h")
    assert inbox_page(actor)["decisions"] == []
    assert badge(actor) == 0
    assert [row["ref"] for row in inbox_page(actor, "snoozed")["decisions"]] == ["ask:1"]
    with time_machine.travel(clock.now() + timedelta(minutes=61), tick=False):
        assert len(inbox_page(actor)["decisions"]) == 1
    do(actor, "mark_inbox", done=["ask:1"])
    assert inbox_page(actor)["decisions"] == []
    waiting[0] = an_ask(at=clock.now() + timedelta(seconds=1))
    assert len(inbox_page(actor)["decisions"]) == 1


def test_a_mark_is_its_owners_alone(actor: Actor, waiting: list[InboxRow]) -> None:
    waiting.append(an_ask())
    do(actor, "mark_inbox", done=["ask:1"])
    mia = session_actor(a_person("mia.berg"))
    assert len(inbox_page(mia)["decisions"]) == 1
    assert InboxMark.objects.get().login == "ana.silva"


@pytest.mark.parametrize("until", ["soon", "2020-01-01T00:00:00", "2199-01-01T00:00:00"])
def test_a_snooze_needs_a_time_ahead_and_not_too_far(actor: Actor, until: str) -> None:
    error = refused(actor, "snooze_inbox", ref="ask:1", until=until)
    assert isinstance(error, Invalid)
    assert error.detail["field"] == "until"


@pytest.mark.parametrize(
    ("choice", "until"),
    [
        ("1h", NOON + timedelta(hours=1)),
        ("tomorrow", datetime(2026, 3, 13, 8, tzinfo=UTC)),
        ("monday", datetime(2026, 3, 16, 8, tzinfo=UTC)),
        ("2026-03-29T09:00:00", datetime(2026, 3, 29, 7, tzinfo=UTC)),
        ("2026-03-13T09:00:00+00:00", datetime(2026, 3, 13, 9, tzinfo=UTC)),
    ],
)
def test_choices_are_the_companys_wall_clock_also_over_a_change_of_it(
    choice: str, until: datetime
) -> None:
    assert inbox.snooze_until(choice, NOON, ZoneInfo("Europe/Berlin")) == until


def test_monday_from_a_monday_is_the_next_one() -> None:
    monday = datetime(2026, 3, 16, 8, tzinfo=UTC)
    until = inbox.snooze_until("monday", monday, ZoneInfo("UTC"))
    assert until == datetime(2026, 3, 23, 9, tzinfo=UTC)
