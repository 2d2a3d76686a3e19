"""How a request becomes an actor: cookie, bearer, neither; 401, 403 and cross-site writes."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.test import Client
from pytest_django.fixtures import Settings

from crewlet.environment import read
from crewlet.kernel import clock
from crewlet.kernel.actors import WAYS, ActorKind, TurnRef
from crewlet.kernel.authority import ALL_GRANTS, Grant
from crewlet.kernel.errors import CrewletError, ErrorCode, Forbidden
from crewlet.kernel.ids import new_id
from orgs.models.people import Credential, CredentialKind, Person
from orgs.models.seats import Seat, SeatKind
from orgs.people import sessions, tokens
from orgs.people.actors import seat_actor, session_actor
from orgs.people.codes import digest_of, new_token
from orgs.people.ways import actor_of_scope
from tests.support.people import ORIGIN, a_person, a_seat, browser, signed_in

pytestmark = pytest.mark.django_db

CI_TOKEN = "a-token-of-the-environment-long-enough"
WHOAMI = "/api/v1/whoami"
JSON = {"accept": "application/json"}


@pytest.fixture(autouse=True)
def a_token_in_the_environment(settings: Settings) -> None:
    settings.CREWLET = read({"CREWLET_API_TOKEN_CI": CI_TOKEN, "CREWLET_PUBLIC_URL": ORIGIN})


def bearer(value: str) -> dict[str, str]:
    return {"authorization": f"Bearer {value}"}


def a_token(person: Person | None, *grants: Grant, label: str = "laptop") -> str:
    value = new_token()
    Credential.objects.create(
        kind=CredentialKind.TOKEN,
        label=label,
        person=person,
        digest=digest_of(value),
        grants=[grant.value for grant in grants],
        created_at=clock.now(),
        created_by="test",
        expires_at=clock.now() + timedelta(days=90),
    )
    return value


# -- bearer ---------------------------------------------------------------------------------------


@pytest.mark.covers("ORG-113")
def test_a_token_of_the_environment_is_a_machine_with_every_grant(client: Client) -> None:
    body = client.get(WHOAMI, headers=bearer(CI_TOKEN)).json()
    assert (body["kind"], body["login"], body["author"]) == ("machine", "token:ci", "token:ci")
    assert set(body["grants"]) == {grant.value for grant in ALL_GRANTS}


def test_the_scheme_is_read_without_regard_to_case(client: Client) -> None:
    assert client.get(WHOAMI, headers={"authorization": f"bearer  {CI_TOKEN} "}).status_code == 200


@pytest.mark.covers("ORG-114")
@pytest.mark.parametrize("path", [WHOAMI, "/", "/health", "/sign-in", "/nowhere"])
def test_a_wrong_token_is_refused_everywhere(as_ana: Client, path: str) -> None:
    for header in (bearer("wrong"), {"authorization": "Bearer"}, bearer(CI_TOKEN[:-1])):
        answer = as_ana.get(path, headers={**header, "accept": "application/json"})
        assert answer.status_code == 401
        assert answer.json()["error"] == "invalid_token"
        assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.covers("UI-91")
def test_the_header_decides_when_a_cookie_comes_too(as_ana: Client) -> None:
    assert as_ana.get("/").json()["login"] == "ana.silva"
    assert as_ana.get("/", headers=bearer(CI_TOKEN)).json()["login"] == "token:ci"


def test_a_proxys_basic_header_says_nothing(as_ana: Client) -> None:
    assert as_ana.get("/", headers={"authorization": "Basic YTpi"}).json()["login"] == "ana.silva"


@pytest.mark.covers("UI-91")
def test_a_token_in_the_address_is_not_looked_at(client: Client) -> None:
    assert client.get(f"{WHOAMI}?token={CI_TOKEN}&access_token={CI_TOKEN}").status_code == 401


@pytest.mark.covers("ORG-113")
def test_a_short_token_refuses_the_start_and_names_the_variable() -> None:
    short = "x" * (tokens.SHORTEST - 1)
    with pytest.raises(ImproperlyConfigured, match="CREWLET_API_TOKEN_CI") as refused:
        tokens.check_environment({"ci": short})
    assert short not in str(refused.value)
    tokens.check_environment({"ci": "x" * tokens.SHORTEST})


@pytest.mark.covers("ORG-113")
def test_a_value_of_the_environment_is_never_logged(
    client: Client, caplog: pytest.LogCaptureFixture, settings: Settings
) -> None:
    with caplog.at_level(logging.DEBUG):
        client.get(WHOAMI, headers=bearer(CI_TOKEN))
        client.get(WHOAMI, headers=bearer("wrong-" + CI_TOKEN))
    assert CI_TOKEN not in caplog.text
    assert CI_TOKEN not in repr(settings.CREWLET)


def test_a_stored_token_acts_as_its_person_with_at_most_both_grants(client: Client) -> None:
    seat = a_seat("mia")
    person = a_person("mia.berg", grants=[Grant.STATE_READ, Grant.AUDIT_READ], seat=seat)
    value = a_token(person, Grant.AUDIT_READ, Grant.CONFIG_WRITE)
    body = client.get(WHOAMI, headers=bearer(value)).json()
    assert (body["login"], body["author"]) == ("mia.berg", "mia")
    assert body["credential"] == "pat:mia.berg/laptop"
    assert body["grants"] == ["audit:read"]


def test_a_stored_token_never_reads_secrets_or_manages_people(client: Client) -> None:
    value = a_token(None, *ALL_GRANTS, label="robot")
    body = client.get(WHOAMI, headers=bearer(value)).json()
    assert body["login"] == "token:robot"
    assert {"secrets:read", "people:manage"}.isdisjoint(body["grants"])
    assert "audit:read" in body["grants"]


def test_an_expired_a_revoked_and_a_suspended_persons_token_are_unknown(client: Client) -> None:
    person = a_person()
    expired, revoked, orphaned = (
        a_token(person, Grant.AUDIT_READ, label=label) for label in ("one", "two", "three")
    )
    now = clock.now()
    Credential.objects.filter(label="one").update(expires_at=now)
    Credential.objects.filter(label="two").update(revoked_at=now)
    for value in (expired, revoked):
        assert client.get(WHOAMI, headers=bearer(value)).json()["error"] == "invalid_token"
    assert client.get(WHOAMI, headers=bearer(orphaned)).status_code == 200
    Person.objects.update(stage="suspended")
    assert client.get(WHOAMI, headers=bearer(orphaned)).status_code == 401


# -- nobody, and not enough -----------------------------------------------------------------------


@pytest.mark.covers("ORG-111", "ORG-114")
def test_nobody_is_401_and_too_little_is_403_naming_the_grant(client: Client) -> None:
    nobody = client.get(WHOAMI)
    assert (nobody.status_code, nobody.json()["error"]) == (401, "unauthenticated")
    assert nobody["WWW-Authenticate"].startswith("Bearer")
    little = a_token(a_person(grants=[Grant.STATE_READ]), Grant.STATE_READ)
    refused = client.get(WHOAMI, headers=bearer(little))
    assert refused.status_code == 403
    assert refused.json()["detail"]["grants"] == ["audit:read"]


def test_a_page_leads_to_sign_in_and_htmx_is_told_to_go_there(client: Client) -> None:
    assert client.get("/work/board")["Location"] == "/sign-in?next=/work/board"
    fragment = client.get(
        "/ui/rows", headers={"hx-request": "true", "hx-current-url": f"{ORIGIN}/inbox?scope=all"}
    )
    assert fragment.status_code == 401
    assert fragment["HX-Redirect"] == "/sign-in?next=/inbox%3Fscope%3Dall"


def test_a_form_of_an_ended_session_leads_back_to_its_page(client: Client) -> None:
    answer = client.post("/act/mark_inbox", headers={"referer": f"{ORIGIN}/inbox"})
    assert (answer.status_code, answer["Location"]) == (303, "/sign-in?next=/inbox")


@pytest.mark.covers("ORG-114")
def test_probes_and_webhooks_are_open(client: Client) -> None:
    assert client.get("/health").status_code == 200
    answer = client.post(
        "/webhooks/x",
        headers={"origin": "https://vendor.example", "authorization": "Bearer theirs"},
    )
    assert answer.content == b"taken"
    assert client.get("/healthy").status_code == 303


def test_when_the_database_cannot_say_who_it_is_the_answer_is_503(
    as_ana: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: object) -> None:
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(sessions, "record_of", away)
    answer = as_ana.get(WHOAMI)
    assert answer.status_code == 503
    assert answer.json()["error"] == "unavailable"
    assert int(answer["Retry-After"]) > 0


@pytest.mark.covers("ORG-111")
def test_the_ceiling_of_the_deployment_cuts_every_actor(as_ana: Client, settings: Settings) -> None:
    settings.CREWLET_GRANT_CEILING = ["state:read", "audit:read"]
    person = as_ana.get(WHOAMI, headers=JSON).json()
    assert person["grants"] == ["audit:read", "state:read"]
    machine = as_ana.get(WHOAMI, headers={**JSON, **bearer(CI_TOKEN)}).json()
    assert machine["grants"] == ["audit:read", "state:read"]


# -- cross-site -----------------------------------------------------------------------------------


@pytest.mark.covers("ORG-123")
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://testserver.evil.example"]
)
def test_a_foreign_origin_writes_nothing_by_cookie_or_token(as_ana: Client, origin: str) -> None:
    headers = {"origin": origin, "accept": "application/json"}
    for more in ({}, bearer(CI_TOKEN)):
        refused = as_ana.post(WHOAMI, headers={**headers, **more})
        assert (refused.status_code, refused.json()["error"]) == (403, "csrf_origin")


@pytest.mark.covers("ORG-123")
def test_a_cookie_write_without_an_origin_is_refused_and_a_tokens_is_not(ana: Person) -> None:
    cookie = Client()
    signed_in(cookie, ana)
    refused = cookie.post(WHOAMI)
    assert (refused.status_code, refused.json()["error"]) == (403, "csrf_origin")
    assert cookie.get(WHOAMI).status_code == 200
    assert cookie.post(WHOAMI, headers={"origin": ORIGIN}).status_code == 200
    assert cookie.post(WHOAMI, headers=bearer(CI_TOKEN)).status_code == 200


def test_signing_in_from_another_site_is_refused(ana: Person) -> None:
    stranger = Client(headers={"origin": "https://evil.example", "accept": "text/html"})
    refused = stranger.post("/sign-in", {"login": ana.login, "password": "x"})
    assert refused.status_code == 403
    assert b"evil.example" in refused.content


def test_behind_https_a_page_that_came_over_http_is_foreign(
    ana: Person, settings: Settings
) -> None:
    client = signed_in(browser(), ana)
    settings.CREWLET = read({"CREWLET_PUBLIC_URL": "https://testserver"})
    for origin, status in (("http://testserver", 403), ("https://testserver", 200)):
        assert client.post(WHOAMI, headers={**JSON, "origin": origin}).status_code == status


# -- the request id -------------------------------------------------------------------------------


def test_every_answer_carries_a_request_id_and_a_sane_one_is_kept(client: Client) -> None:
    assert client.get("/health", headers={"x-request-id": "abc-1"})["X-Request-ID"] == "abc-1"
    made = client.get("/health", headers={"x-request-id": "a b\tc" * 40})["X-Request-ID"]
    assert len(made) == 32
    refused = client.get(WHOAMI, headers={"x-request-id": "abc-2"})
    assert (refused["X-Request-ID"], refused.json()["request_id"]) == ("abc-2", "abc-2")


# -- sockets --------------------------------------------------------------------------------------


def scope_of(client: Client, **headers: str) -> dict[str, Any]:
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    pairs = {"host": "testserver", "cookie": cookies, **headers}
    return {"headers": [(name.encode(), value.encode()) for name, value in pairs.items() if value]}


def test_a_socket_takes_a_cookie_with_our_origin_or_a_bearer_header(as_ana: Client) -> None:
    person = WAYS["socket"](scope_of(as_ana, origin=ORIGIN))
    assert person is not None
    assert person.login == "ana.silva"
    machine = actor_of_scope(scope_of(Client(), authorization=f"Bearer {CI_TOKEN}"))
    assert machine is not None
    assert machine.login == "token:ci"
    assert actor_of_scope(scope_of(Client(), origin=ORIGIN)) is None


@pytest.mark.parametrize("origin", ["", "https://evil.example"])
def test_a_socket_with_a_cookie_from_elsewhere_is_refused(as_ana: Client, origin: str) -> None:
    with pytest.raises(Forbidden) as refused:
        actor_of_scope(scope_of(as_ana, origin=origin))
    assert refused.value.code is ErrorCode.CSRF_ORIGIN


def test_a_socket_asked_again_after_the_session_ended_is_nobody(
    as_ana: Client, ana: Person
) -> None:
    scope = scope_of(as_ana, origin=ORIGIN)
    assert actor_of_scope(scope) is not None
    sessions.end_all(ana, by="test")
    assert actor_of_scope(scope) is None
    with pytest.raises(CrewletError):
        actor_of_scope(scope_of(as_ana, authorization="Bearer wrong"))


# -- whose name -----------------------------------------------------------------------------------


def test_who_holds_a_seat_acts_under_its_handle_with_the_login_beside_it(ana: Person) -> None:
    assert session_actor(ana).author == "ana.silva"
    ana.seat = a_seat("ana")
    actor = session_actor(ana)
    assert (actor.author, actor.credential) == ("ana", "session:ana.silva")
    assert actor.seat_id == ana.seat.id


def test_a_seat_that_left_the_chart_or_is_an_agents_speaks_for_nobody(ana: Person) -> None:
    gone = a_seat("gone")
    Seat.objects.filter(id=gone.id).update(removed_at=clock.now())
    gone.refresh_from_db()
    for seat in (gone, a_seat("bot", SeatKind.AGENT)):
        ana.seat = seat
        actor = session_actor(ana)
        assert (actor.author, actor.seat_id) == ("ana.silva", None)


def test_an_agent_seat_acts_in_its_turn_and_holds_no_operators_grant() -> None:
    turn = TurnRef(turn_id=new_id(), work_key="w")
    actor = seat_actor(a_seat("kofi", SeatKind.AGENT), turn)
    assert (actor.kind, actor.author, actor.turn) == (ActorKind.SEAT, "kofi", turn)
    assert actor.credential == f"turn:{turn.turn_id}"
    assert actor.grants == {Grant.STATE_READ, Grant.WORK_WRITE, Grant.KNOWLEDGE_WRITE}


def test_a_grant_that_a_newer_build_wrote_counts_for_nothing(ana: Person) -> None:
    ana.grants = ["state:read", "moon:land"]
    assert session_actor(ana).grants == {Grant.STATE_READ}
