"""The verbs over people: who may, what they do, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from crewlet.kernel.actions import ACTIONS, Door, Result, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import ALL_GRANTS, Grant
from crewlet.kernel.errors import Conflict, CrewletError, Forbidden, Invalid, NotFound
from crewlet.kernel.models import AuditEntry, EngineEvent, Operation
from orgs.models.people import Credential, Person, PersonStage
from orgs.models.seats import SeatKind
from orgs.people import links, passwords, sessions
from orgs.people.actors import seat_actor, session_actor
from orgs.people.codes import digest_of
from orgs.people.printed import path_of
from orgs.queries.people import token_rows
from tests.support.people import PASSWORD, a_person, a_seat, browser, signed_in

pytestmark = pytest.mark.django_db(transaction=True)

SOME = [Grant.STATE_READ, Grant.PEOPLE_MANAGE]


def do(actor: Actor, name: str, /, **args: Any) -> Result:
    return perform(actor, name, args, op_id=None, door=Door.FORM).unwrap()


def refused(actor: Actor, name: str, /, **args: Any) -> CrewletError:
    with pytest.raises(CrewletError) as raised:
        do(actor, name, **args)
    return raised.value


@pytest.fixture
def boss(ana: Person) -> Actor:
    """Ana, acting, with every grant."""
    return session_actor(ana)


def a_token_args(**more: Any) -> dict[str, Any]:
    return {"label": "ci", "digest": "a" * 64, "grants": ["state:read"], **more}


# -- creating and inviting ------------------------------------------------------------------------


def test_a_person_is_created_invited_and_signs_in(boss: Actor) -> None:
    a_seat("mia")
    do(boss, "create_person", login="Mia.Berg", name="Mia", grants=["state:read"], seat="@mia")
    mia = Person.objects.get(login="mia.berg")
    assert (mia.stage, mia.grants, mia.seat and mia.seat.handle) == (
        "invited",
        ["state:read"],
        "mia",
    )
    do(boss, "invite_person", login="mia.berg", digest=digest_of("the-code-that-boss-made"))
    signed = browser()
    assert signed.post(path_of("the-code-that-boss-made")).status_code == 303
    assert signed.get("/").json()["author"] == "mia"
    entry = AuditEntry.objects.get(action="create_person")
    assert (entry.actor, entry.credential) == ("ana.silva", "session:ana.silva")


@pytest.mark.parametrize(
    "login", ["nodot", "has space.x", "token:x.y", ".dot", "ä.b", "a." + "b" * 80]
)
def test_a_login_has_a_dot_and_looks_like_no_handle_and_no_machine(boss: Actor, login: str) -> None:
    error = refused(boss, "create_person", login=login, name="X")
    assert isinstance(error, Invalid)
    assert error.detail["field"] == "login"


def test_a_login_is_taken_once_and_an_unknown_one_gets_a_hint(boss: Actor) -> None:
    assert isinstance(refused(boss, "create_person", login="ana.silva", name="X"), Conflict)
    error = refused(boss, "suspend_person", login="ana.slva")
    assert isinstance(error, NotFound)
    assert "ana.silva" in error.message


def test_a_new_invitation_takes_the_earlier_one_back(boss: Actor) -> None:
    a_person("mia.berg", stage=PersonStage.INVITED)
    do(boss, "invite_person", login="mia.berg", digest=digest_of("first-code"))
    do(boss, "invite_person", login="mia.berg", digest=digest_of("second-code"))
    assert not links.works("first-code")
    assert links.works("second-code")


def test_nothing_stored_opens_a_door(boss: Actor) -> None:
    a_person("mia.berg")
    do(boss, "invite_person", login="mia.berg", digest=digest_of("the-secret-code"))
    do(boss, "set_password", encoded=passwords.encode("seven green kites above"))
    stored = f"{list(Operation.objects.values())}{list(AuditEntry.objects.values())}"
    assert "the-secret-code" not in stored
    assert "kites" not in stored
    assert "argon2" not in stored


# -- grants ---------------------------------------------------------------------------------------


@pytest.mark.covers("ORG-112")
def test_nobody_gives_a_grant_they_lack_and_taking_away_is_allowed(boss: Actor) -> None:
    few = session_actor(a_person("few.grants", grants=SOME))
    error = refused(few, "create_person", login="new.one", name="N", grants=["secrets:read"])
    assert isinstance(error, Forbidden)
    assert error.detail["grants"] == ["secrets:read"]
    assert not Person.objects.filter(login="new.one").exists()
    a_person("rich.one", grants=[Grant.STATE_READ, Grant.SECRETS_READ, Grant.FLEET_OPERATE])
    do(few, "set_grants", login="rich.one", grants=["secrets:read"])
    assert Person.objects.get(login="rich.one").grants == ["secrets:read"]
    assert isinstance(
        refused(few, "set_grants", login="rich.one", grants=["fleet:operate"]), Forbidden
    )
    assert EngineEvent.objects.filter(type="iam_grants_changed").count() == 1


@pytest.mark.covers("ORG-112")
def test_a_link_or_an_activation_confers_all_that_its_person_may(ana: Person) -> None:
    few = session_actor(a_person("few.grants", grants=SOME))
    error = refused(few, "invite_person", login=ana.login, digest="b" * 64)
    assert isinstance(error, Forbidden)
    Person.objects.filter(id=ana.id).update(stage=PersonStage.SUSPENDED)
    assert isinstance(refused(few, "activate_person", login=ana.login), Forbidden)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("create_person", {"login": "a.b", "name": "x"}),
        ("invite_person", {"login": "ana.silva", "digest": "a" * 64}),
        ("bind_person", {"login": "ana.silva"}),
        ("set_grants", {"login": "ana.silva", "grants": []}),
        ("suspend_person", {"login": "ana.silva"}),
        ("activate_person", {"login": "ana.silva"}),
        ("end_all_sessions", {"login": "ana.silva"}),
        ("create_token", a_token_args()),
    ],
)
def test_every_verb_over_others_asks_for_people_manage(
    ana: Person, name: str, args: dict[str, Any]
) -> None:
    rest = session_actor(a_person("rest.only", grants=ALL_GRANTS - {Grant.PEOPLE_MANAGE}))
    error = refused(rest, name, **args)
    assert isinstance(error, Forbidden)
    assert error.detail["grants"] == ["people:manage"]


def test_no_agent_reaches_a_verb_over_people() -> None:
    agent = seat_actor(a_seat("kofi", SeatKind.AGENT), None, ALL_GRANTS)
    tools = {action.name for action in ACTIONS.all(Door.TOOL)}
    mine = [
        action.name for action in ACTIONS.values()
        if action.function.__module__ in {"orgs.actions.people", "orgs.actions.inbox"}
    ]  # fmt: skip
    assert len(mine) == 13
    assert tools.isdisjoint(mine)
    assert isinstance(refused(agent, "create_person", login="a.b", name="x"), Forbidden)


def test_the_last_who_manages_people_stays_in_charge(boss: Actor) -> None:
    other = session_actor(a_person("other.one", grants=[Grant.PEOPLE_MANAGE]))
    Person.objects.filter(login="other.one").update(stage=PersonStage.SUSPENDED)
    for name, args in (
        ("suspend_person", {"login": "ana.silva"}),
        ("set_grants", {"login": "ana.silva", "grants": ["state:read"]}),
    ):
        error = refused(other, name, **args)
        assert isinstance(error, Conflict)
        assert "last" in error.message
    Person.objects.filter(login="other.one").update(stage=PersonStage.ACTIVE)
    do(other, "suspend_person", login="ana.silva")


# -- seats ----------------------------------------------------------------------------------------


def test_a_seat_gives_no_grant_and_is_held_by_one(boss: Actor) -> None:
    a_seat("mia")
    mia = a_person("mia.berg", grants=[])
    do(boss, "bind_person", login="mia.berg", seat="mia")
    mia.refresh_from_db()
    assert session_actor(mia).author == "mia"
    assert session_actor(mia).grants == frozenset()
    a_person("second.one")
    error = refused(boss, "bind_person", login="second.one", seat="mia")
    assert isinstance(error, Conflict)
    assert "mia.berg" in error.message
    do(boss, "bind_person", login="mia.berg", seat="mia")
    do(boss, "bind_person", login="mia.berg")
    do(boss, "bind_person", login="second.one", seat="mia")


def test_a_person_holds_no_agents_seat_and_none_that_is_not_there(boss: Actor) -> None:
    a_seat("kofi", SeatKind.AGENT)
    assert isinstance(refused(boss, "bind_person", login="ana.silva", seat="kofi"), Conflict)
    error = refused(boss, "bind_person", login="ana.silva", seat="kofl")
    assert isinstance(error, NotFound)
    assert "kofi" in error.message


# -- suspending and ending ------------------------------------------------------------------------


def test_suspending_keeps_a_person_out_by_every_way_and_keeps_the_seat(boss: Actor) -> None:
    seat = a_seat("mia")
    mia = a_person("mia.berg", grants=[Grant.STATE_READ], seat=seat)
    inside = signed_in(browser(), mia)
    code = links.make(mia, created_by="test")
    do(boss, "suspend_person", login="mia.berg")
    assert inside.get("/").status_code == 303
    assert browser().post(path_of(code)).status_code == 410
    form = {"login": "mia.berg", "password": PASSWORD}
    assert browser().post("/sign-in", form).status_code == 422
    mia.refresh_from_db()
    assert mia.seat == seat
    do(boss, "activate_person", login="mia.berg")
    assert inside.get("/").status_code == 303
    assert browser().post("/sign-in", form).status_code == 303


def test_nobody_suspends_themselves_and_no_suspended_person_is_invited(boss: Actor) -> None:
    assert isinstance(refused(boss, "suspend_person", login="ana.silva"), Conflict)
    a_person("out.one", stage=PersonStage.SUSPENDED)
    assert isinstance(refused(boss, "invite_person", login="out.one", digest="c" * 64), Conflict)


def test_one_session_ends_alone_and_a_strangers_is_not_found(as_ana: Client, ana: Person) -> None:
    other = signed_in(browser(), ana)
    mine = sessions.live_sessions(ana)
    stranger = session_actor(a_person("stranger.one", grants=[Grant.STATE_READ]))
    assert isinstance(refused(stranger, "end_session", session=str(mine[0].id)), NotFound)
    do(session_actor(ana), "end_session", session=str(mine[0].id))
    assert other.get("/").status_code == 303
    assert as_ana.get("/").status_code == 200


def test_all_sessions_end_at_once_and_ones_own_without_a_grant(as_ana: Client, boss: Actor) -> None:
    plain = a_person("plain.one", grants=[])
    theirs = signed_in(browser(), plain)
    do(session_actor(plain), "end_all_sessions")
    assert theirs.get("/").status_code == 303
    again = signed_in(browser(), plain)
    do(boss, "end_all_sessions", login="plain.one")
    assert again.get("/").status_code == 303
    assert as_ana.get("/").status_code == 200


def test_a_session_started_with_an_old_epoch_is_never_live(ana: Person) -> None:
    stale = Person.objects.get(id=ana.id)
    sessions.end_all(ana, by="test")
    late = signed_in(browser(), stale)
    assert late.get("/").status_code == 200
    record = sessions.live_sessions(ana)[0]
    record.epoch -= 1
    assert not sessions.is_live(record)


# -- the account page -----------------------------------------------------------------------------


def test_a_password_is_set_on_the_account_page_and_signs_other_browsers_out(
    as_ana: Client, ana: Person
) -> None:
    other = signed_in(browser(), ana)
    new = {"current": PASSWORD, "password": "seven green kites above"}
    answer = as_ana.post("/account", new)
    assert (answer.status_code, answer["Location"]) == (303, "/account?set=1")
    assert b"Your password is set" in as_ana.get("/account?set=1").content
    assert other.get("/").status_code == 303
    form = {"login": ana.login, "password": "seven green kites above"}
    assert browser().post("/sign-in", form).status_code == 303


def test_the_first_password_needs_no_current_one(as_ana: Client, ana: Person) -> None:
    Person.objects.update(password="")
    assert b"Current password" not in as_ana.get("/account").content
    assert as_ana.post("/account", {"password": "seven green kites above"}).status_code == 303


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"current": "wrong", "password": "seven green kites above"}, "current password"),
        ({"current": PASSWORD, "password": "short"}, "at least 12"),
        ({"current": PASSWORD, "password": "passwordpassword"}, "first that somebody"),
        ({}, "current password"),
    ],
)
def test_a_bad_password_form_comes_back_with_its_reason(
    as_ana: Client, ana: Person, form: dict[str, str], reason: str
) -> None:
    answer = as_ana.post("/account", form)
    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert as_ana.get("/").status_code == 200
    assert browser().post("/sign-in", {"login": ana.login, "password": PASSWORD}).status_code == 303


def test_a_password_in_the_clear_is_refused_by_the_verb(boss: Actor) -> None:
    assert isinstance(refused(boss, "set_password", encoded="seven green kites above"), Invalid)


def test_the_account_page_lists_this_browser_with_a_button_to_end_it(as_ana: Client) -> None:
    page = as_ana.get("/account").content.decode()
    assert page.count('action="/act/end_session"') == 1
    assert "ana.silva" in page


# -- tokens ---------------------------------------------------------------------------------------


def test_a_token_is_made_listed_by_digest_and_revoked(boss: Actor) -> None:
    do(boss, "create_token", **a_token_args(login="ana.silva", days=30))
    token = Credential.objects.get(label="ci")
    assert token.expires_at is not None
    assert (token.expires_at - token.created_at).days == 30
    assert isinstance(refused(boss, "create_token", **a_token_args(login="ana.silva")), Conflict)
    do(boss, "revoke_token", label="ci", login="ana.silva")
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert isinstance(refused(boss, "revoke_token", label="ci", login="ana.silva"), NotFound)


@pytest.mark.parametrize("grant", ["secrets:read", "people:manage"])
def test_a_stored_token_is_never_made_with_the_two_grants(boss: Actor, grant: str) -> None:
    assert isinstance(refused(boss, "create_token", **a_token_args(grants=[grant])), Forbidden)


def test_a_personal_token_has_at_most_its_persons_grants(boss: Actor) -> None:
    a_person("small.one", grants=[Grant.STATE_READ])
    error = refused(boss, "create_token", **a_token_args(login="small.one", grants=["work:write"]))
    assert error.detail["grants"] == ["work:write"]


def test_a_machine_sees_and_revokes_no_other_machines_token(boss: Actor) -> None:
    do(boss, "create_token", **a_token_args())
    machine = Actor(
        ActorKind.MACHINE, "token:x", "Token x", frozenset({Grant.STATE_READ}), "token:x"
    )
    assert token_rows(machine) == []
    assert [row["label"] for row in token_rows(boss)] == ["ci"]
    assert isinstance(refused(machine, "revoke_token", label="ci"), Forbidden)
    assert Credential.objects.get(label="ci").revoked_at is None


def test_a_token_makes_no_tokens(ana: Person) -> None:
    machine = Actor(ActorKind.MACHINE, "token:ci", "Token ci", ALL_GRANTS, "token:ci")
    assert isinstance(refused(machine, "create_token", **a_token_args()), Forbidden)
    personal = replace(session_actor(ana), credential="pat:ana.silva/laptop")
    own = a_token_args(login="ana.silva")
    assert isinstance(refused(personal, "create_token", **own), Forbidden)
    do(session_actor(ana), "create_token", **own)


@pytest.mark.parametrize("days", [0, 366])
def test_a_token_lives_a_day_to_a_year(boss: Actor, days: int) -> None:
    assert isinstance(refused(boss, "create_token", **a_token_args(days=days)), Invalid)
