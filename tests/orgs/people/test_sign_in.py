"""Signing in by password and by link, signing out, and the way back."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import unquote

import pytest
import time_machine
from django.test import Client

from crewlet.kernel import clock
from crewlet.kernel.authority import ALL_GRANTS
from crewlet.kernel.models import EngineEvent
from crewlet.ops.hooks import UP_HOOKS, UpRequest
from orgs.models.people import Credential, Person, PersonStage, SessionRecord, SignInTally
from orgs.models.seats import SeatKind
from orgs.people import links, throttle
from orgs.people.printed import path_of, printed_path
from tests.support.people import PASSWORD, a_person, a_seat, browser, signed_in

pytestmark = pytest.mark.django_db


def who(client: Client) -> dict[str, object]:
    response = client.get("/")
    assert response.status_code == 200, response.headers
    body: dict[str, object] = response.json()
    return body


# -- the link -------------------------------------------------------------------------------------


def test_looking_at_a_link_spends_nothing_and_shows_one_button(
    browser: Client, ana: Person
) -> None:
    path = path_of(links.make(ana, created_by="test"))
    for _ in range(3):
        page = browser.get(path)
        assert page.status_code == 200
        assert page.content.decode().count("<button") == 1
    assert browser.head(path).status_code == 200
    assert not SessionRecord.objects.exists()
    assert browser.post(path).status_code == 303
    assert who(browser)["login"] == "ana.silva"


def test_a_link_signs_in_once_and_then_no_browser_more(ana: Person) -> None:
    path = path_of(links.make(ana, created_by="test"))
    first, second = browser(), browser()
    assert first.post(path).status_code == 303
    assert second.post(path).status_code == 410
    assert second.get(path).status_code == 410
    assert second.get("/").status_code == 303
    assert SessionRecord.objects.count() == 1


def test_a_link_works_for_24_hours(browser: Client, ana: Person) -> None:
    path = path_of(links.make(ana, created_by="test"))
    with time_machine.travel(clock.now() + timedelta(hours=24, seconds=1), tick=False):
        assert browser.post(path).status_code == 410
    assert browser.post(path).status_code == 303


def test_the_code_of_a_link_is_stored_only_as_a_digest(ana: Person) -> None:
    code = links.make(ana, created_by="test")
    stored = Credential.objects.get(person=ana)
    assert code not in str(vars(stored))
    assert len(stored.digest) == 64


def test_a_wrong_code_and_a_used_one_get_the_same_answer(browser: Client, ana: Person) -> None:
    path = path_of(links.make(ana, created_by="test"))
    browser.post(path)
    browser.post("/sign-out")
    used, wrong = browser.post(path), browser.post(path_of("nobody-made-this-code"))
    assert (used.status_code, used.content) == (wrong.status_code, wrong.content)


def test_an_invited_person_becomes_active_and_a_suspended_one_stays_out(browser: Client) -> None:
    invited = a_person("ivo.lund", stage=PersonStage.INVITED)
    signed_in(browser, invited)
    invited.refresh_from_db()
    assert invited.stage == PersonStage.ACTIVE
    out = a_person("sue.ash", stage=PersonStage.SUSPENDED)
    path = path_of(links.make(out, created_by="test"))
    assert browser.post(path).status_code == 410
    assert Credential.objects.get(person=out).used_at is None


# -- the printed link -----------------------------------------------------------------------------


def test_the_printed_link_creates_the_first_person_with_every_grant(browser: Client) -> None:
    path = printed_path()
    assert path is not None
    assert path.startswith("/sign-in")
    assert not Person.objects.exists()
    assert browser.get(path).status_code == 200
    assert not Person.objects.exists()
    assert browser.post(path).status_code == 303
    assert set(who(browser)["grants"]) == {grant.value for grant in ALL_GRANTS}  # type: ignore[call-overload]


def test_the_printed_link_signs_in_as_the_holder_of_the_founders_seat(browser: Client) -> None:
    a_seat("bot", SeatKind.AGENT, at_root=True)
    a_seat("rosa", at_root=True)
    path = printed_path()
    assert path is not None
    browser.post(path)
    assert who(browser)["author"] == "rosa"
    assert who(browser)["credential"] == "session:rosa.founder"


def test_a_new_printed_link_takes_the_old_one_back(browser: Client) -> None:
    old, new = printed_path(), printed_path()
    assert old is not None
    assert new is not None
    assert browser.post(old).status_code == 410
    assert browser.post(new).status_code == 303
    assert printed_path() is not None
    assert Person.objects.count() == 1


def test_up_finds_the_link_where_it_asks_for_one(browser: Client) -> None:
    path = UP_HOOKS.link["founder"](UpRequest("http://testserver", demo=False))
    assert path is not None
    assert browser.post(path).status_code == 303


def test_no_link_is_printed_when_people_exist_and_nobody_holds_every_grant() -> None:
    a_person(grants=[])
    assert printed_path() is None


def test_a_link_for_the_first_person_is_worth_nothing_once_there_is_one(browser: Client) -> None:
    path = printed_path()
    a_person(grants=[])
    assert path is not None
    assert browser.post(path).status_code == 410
    assert Person.objects.count() == 1


# -- the password ---------------------------------------------------------------------------------


def test_login_and_password_sign_in_and_keep_the_address(browser: Client, ana: Person) -> None:
    away = browser.get("/work/board?status=todo")
    assert away.status_code == 303
    assert unquote(away["Location"]) == "/sign-in?next=/work/board?status=todo"
    page = browser.get(away["Location"])
    assert 'value="/work/board?status=todo"' in page.content.decode()
    answer = browser.post(
        "/sign-in",
        {"login": " Ana.Silva ", "password": PASSWORD, "next": "/work/board?status=todo"},
    )
    assert (answer.status_code, answer["Location"]) == (303, "/work/board?status=todo")
    assert who(browser)["login"] == "ana.silva"


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:x", ""])
def test_signing_in_never_leads_to_another_site(browser: Client, ana: Person, target: str) -> None:
    answer = browser.post("/sign-in", {"login": ana.login, "password": PASSWORD, "next": target})
    assert answer["Location"] == "/"


def test_every_reason_to_refuse_gives_one_sentence(browser: Client, ana: Person) -> None:
    a_person("out.person", stage=PersonStage.SUSPENDED)
    a_person("new.person", stage=PersonStage.INVITED)
    bare = a_person("bare.person")
    Person.objects.filter(id=bare.id).update(password="")
    pages = {
        browser.post("/sign-in", {"login": login, "password": password})
        .content.decode()
        .replace(login, "")
        for login, password in (
            ("ana.silva", "not the password"),
            ("nobody.here", PASSWORD),
            ("out.person", PASSWORD),
            ("new.person", PASSWORD),
            ("bare.person", ""),
        )
    }
    assert len(pages) == 1
    assert "do not go together" in pages.pop()
    assert not SessionRecord.objects.exists()


def test_a_source_that_guesses_too_often_is_slowed_down_and_others_are_not(ana: Person) -> None:
    guesser = Client(headers={"origin": "http://testserver"}, REMOTE_ADDR="198.51.100.7")
    for number in range(throttle.TRIES):
        wrong = {"login": f"guess.{number}", "password": "not the password"}
        assert guesser.post("/sign-in", wrong).status_code == 422
    right = {"login": ana.login, "password": PASSWORD}
    refused = guesser.post("/sign-in", right)
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert guesser.post(path_of("another-code")).status_code == 429
    assert browser().post("/sign-in", right).status_code == 303
    with time_machine.travel(clock.now() + throttle.WINDOW + timedelta(minutes=1), tick=False):
        assert guesser.post("/sign-in", right).status_code == 303


def test_a_tally_holds_nothing_that_was_typed(browser: Client) -> None:
    browser.post("/sign-in", {"login": "typed.login", "password": "typed password"})
    assert "typed" not in str(list(SignInTally.objects.values()))


def test_proving_who_one_is_clears_the_tally(browser: Client, ana: Person) -> None:
    browser.post("/sign-in", {"login": ana.login, "password": "wrong"})
    assert SignInTally.objects.exists()
    browser.post("/sign-in", {"login": ana.login, "password": PASSWORD})
    assert not SignInTally.objects.exists()


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("", "local"),
    ],
)
def test_one_host_is_one_source(address: str, source: str) -> None:
    assert throttle.source_of_address(address) == source


# -- sessions -------------------------------------------------------------------------------------


def test_signing_in_and_out_is_told_as_events(as_ana: Client, ana: Person) -> None:
    assert as_ana.post("/sign-out")["Location"] == "/sign-in"
    assert as_ana.get("/").status_code == 303
    kinds = EngineEvent.objects.order_by("id").values_list("type", flat=True)
    assert list(kinds) == ["iam_session_started", "iam_session_ended"]


def test_signing_in_as_somebody_else_ends_the_session_before(as_ana: Client) -> None:
    signed_in(as_ana, a_person("mia.berg"))
    assert who(as_ana)["login"] == "mia.berg"
    live = SessionRecord.objects.filter(ended_at=None)
    assert [record.person.login for record in live] == ["mia.berg"]


def test_signing_out_needs_a_post(as_ana: Client) -> None:
    assert as_ana.get("/sign-out").status_code == 405
    assert who(as_ana)["login"] == "ana.silva"


def test_a_session_key_from_before_signing_in_is_worth_nothing_after_it(ana: Person) -> None:
    victim = browser()
    session = victim.session
    session["planted"] = "yes"
    session.save()
    planted = session.session_key
    signed_in(victim, ana)
    assert victim.session.session_key != planted
    assert "planted" not in victim.session


def test_a_session_ends_after_90_days_however_busy_it_is(as_ana: Client) -> None:
    now = clock.now()
    for days in range(10, 90, 10):
        with time_machine.travel(now + timedelta(days=days), tick=False):
            assert as_ana.get("/").status_code == 200
    with time_machine.travel(now + timedelta(days=91), tick=False):
        assert as_ana.get("/").status_code == 303


def test_an_idle_session_ends_after_14_days(as_ana: Client) -> None:
    with time_machine.travel(clock.now() + timedelta(days=15), tick=False):
        assert as_ana.get("/").status_code == 303


def test_being_here_is_noted_at_most_once_a_minute(as_ana: Client, ana: Person) -> None:
    first = SessionRecord.objects.get().seen_at
    as_ana.get("/")
    assert SessionRecord.objects.get().seen_at == first
    with time_machine.travel(first + timedelta(minutes=2), tick=False):
        as_ana.get("/")
        assert SessionRecord.objects.get().seen_at == first + timedelta(minutes=2)
        ana.refresh_from_db()
        assert ana.last_seen_at == first + timedelta(minutes=2)


def test_who_is_signed_in_already_goes_on_from_the_sign_in_page(as_ana: Client) -> None:
    answer = as_ana.get("/sign-in?next=/work/board")
    assert (answer.status_code, answer["Location"]) == (302, "/work/board")
