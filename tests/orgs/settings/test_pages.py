"""The sections of Settings, as a person reads and uses them without JavaScript."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from crewlet.kernel import clock
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.authority import ALL_GRANTS, Grant
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import AuditEntry
from orgs import epochs
from orgs.models.people import Credential, CredentialKind, Person, PersonStage
from orgs.people.actors import session_actor
from orgs.people.codes import digest_of
from orgs.revisions import apply_document
from tests.agents.play import a_node
from tests.support.people import a_person, browser, signed_in
from tests.tracker.company import COMPANY, create

pytestmark = pytest.mark.django_db(transaction=True)

SECTIONS = ["general", "people", "nodes", "config", "audit", "preferences"]
GUARDED = {
    "people": Grant.PEOPLE_MANAGE,
    "config": Grant.CONFIG_READ,
    "audit": Grant.AUDIT_READ,
    "nodes": Grant.STATE_READ,
}


def page(client: Client, path: str, **query: Any) -> str:
    answer = client.get(path, query)
    assert answer.status_code == 200, answer.content[:400]
    return answer.content.decode()


@pytest.mark.covers("UI-56")
@pytest.mark.parametrize("key", SECTIONS)
def test_each_section_is_a_page(as_ana: Client, key: str) -> None:
    assert f'id="settings-{key}"' in page(as_ana, f"/settings/{key}")


@pytest.mark.covers("UI-4")
@pytest.mark.parametrize(("key", "grant"), list(GUARDED.items()))
def test_a_section_without_its_grant_is_one_sentence_and_reads_nothing(
    company: None, key: str, grant: Grant, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crewlet.console.registries import SETTINGS_SECTIONS, SettingsSection

    def never(*_: Any) -> Any:
        raise AssertionError("the section was read")

    client = signed_in(browser(), a_person(grants=ALL_GRANTS - {grant}))
    monkeypatch.setattr(SettingsSection, "context", never)
    shown = page(client, f"/settings/{key}")
    assert grant.value in shown.split(f'id="settings-{key}"')[1]
    assert SETTINGS_SECTIONS[key].title in shown


@pytest.mark.covers("UI-56")
def test_general_tells_charter_clock_and_ceilings(as_ana: Client) -> None:
    shown = page(as_ana, "/settings/general")
    for words in ("Light where it is needed", "Asia/Tokyo", "No ceiling", 'href="/spend"'):
        assert words in shown


# -- people ---------------------------------------------------------------------------------------


@pytest.mark.covers("ORG-116")
def test_somebody_is_invited_and_the_link_is_shown_once(as_ana: Client) -> None:
    form = {"name": "Mia Berg", "login": "mia.berg", "grants": ["state:read"], "op_id": "one"}
    answer = as_ana.post("/settings/people/invite", form)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    link = re.search(r"http://testserver(/sign-in/link/[\w-]+)", answer.content.decode())
    assert link is not None
    mia = Person.objects.get(login="mia.berg")
    assert (mia.stage, mia.grants) == ("invited", ["state:read"])
    assert link[1].rpartition("/")[2] not in page(as_ana, "/settings/people")
    assert browser().post(link[1]).status_code == 303
    mia.refresh_from_db()
    assert mia.stage == "active"


@pytest.mark.covers("PEER-46")
def test_the_code_of_an_invitation_is_in_no_row(as_ana: Client) -> None:
    form = {"name": "Mia Berg", "login": "mia.berg", "op_id": "one"}
    shown = as_ana.post("/settings/people/invite", form).content.decode()
    code = re.search(r"/sign-in/link/([\w-]+)", shown)
    assert code is not None
    assert Credential.objects.filter(digest=digest_of(code[1])).exists()
    rows = AuditEntry.objects.values_list("summary", "operation", "refs")
    assert code[1] not in str(list(rows))


def test_an_invitation_that_may_not_be_is_refused_with_its_reason(as_ana: Client) -> None:
    answer = as_ana.post("/settings/people/invite", {"name": "X", "login": "nodot"})
    assert answer.status_code == 400
    assert "at least one dot" in answer.content.decode()
    assert not Person.objects.filter(login="nodot").exists()


def test_who_lacks_the_right_cannot_invite_by_the_address(as_guest: Client) -> None:
    answer = as_guest.post("/settings/people/invite", {"name": "X", "login": "x.y"})
    assert answer.status_code == 403
    assert not Person.objects.filter(login="x.y").exists()


@pytest.mark.covers("ORG-118")
def test_a_token_is_made_shown_once_and_revoked(as_ana: Client) -> None:
    form = {"label": "ci", "grants": ["state:read"], "days": "30", "login": ""}
    shown = as_ana.post("/settings/people/token", form).content.decode()
    value = re.search(r"crw_[\w-]+", shown)
    assert value is not None
    assert Client().get("/api/v1/me", headers={"authorization": f"Bearer {value[0]}"}).json()[
        "grants"
    ] == ["state:read"]
    listed = page(as_ana, "/settings/people")
    assert ">ci<" in listed
    assert value[0] not in listed
    gone = {"label": "ci", "login": "", "next": "/settings/people"}
    assert as_ana.post("/act/revoke_token", gone).status_code == 303
    assert not Credential.objects.filter(kind=CredentialKind.TOKEN, revoked_at=None).exists()


@pytest.mark.covers("UI-25", "ORG-112")
def test_what_cannot_be_done_to_a_person_is_drawn_with_its_reason(as_ana: Client) -> None:
    a_person("kim.cho", grants=[Grant.STATE_READ], stage=PersonStage.SUSPENDED)
    shown = page(as_ana, "/settings/people")
    ana, kim = (shown.split(f'id="person-{who}"')[1].split("</tr>")[0]
                for who in ("ana.silva", "kim.cho"))  # fmt: skip
    assert "Nobody suspends themselves." in ana
    assert 'aria-disabled="true"' in ana
    assert "Activate this person first." in kim
    assert "/act/activate_person" in kim


@pytest.mark.covers("ORG-115")
def test_a_person_is_suspended_and_comes_back(as_ana: Client) -> None:
    kim = a_person("kim.cho", grants=[Grant.STATE_READ])
    as_kim = signed_in(browser(), kim)
    form = {"login": "kim.cho", "next": "/settings/people"}
    assert as_ana.post("/act/suspend_person", form).status_code == 303
    assert as_kim.get("/settings/general").status_code == 303
    assert as_ana.post("/act/activate_person", form).status_code == 303
    kim.refresh_from_db()
    assert kim.stage == "active"


# -- configuration --------------------------------------------------------------------------------


@pytest.mark.covers("UI-56")
def test_the_history_marks_what_runs_and_a_revision_tells_what_it_changed(as_ana: Client) -> None:
    changed = COMPANY.replace("goal: Firmware", "goal: Firmware that lasts")
    apply_document(engine_actor("tests"), changed, summary="Firmware lasts")
    shown = page(as_ana, "/settings/config")
    assert "Firmware lasts" in shown
    assert "That is all of it, 2" in shown
    revision = page(as_ana, f"/settings/config/{epochs.active().revision_id}")
    assert "seat agent-swe" in revision
    assert "Firmware that lasts" in revision
    assert "This revision runs now." in revision


def test_an_earlier_revision_is_brought_back_by_its_page(as_ana: Client) -> None:
    before = epochs.active().revision_id
    changed = COMPANY.replace("name: Lantern Works", "name: Candle Works")
    apply_document(engine_actor("tests"), changed, summary="Candles")
    assert "/act/activate_revision" in page(as_ana, f"/settings/config/{before}")
    form = {"revision": str(before), "summary": "", "next": "/settings/config"}
    assert as_ana.post("/act/activate_revision", form).status_code == 303
    assert epochs.active().document.name == "Lantern Works"


def test_a_revision_that_is_not_there_is_not_found(as_ana: Client, as_guest: Client) -> None:
    assert as_ana.get(f"/settings/config/{new_id()}").status_code == 404
    assert as_guest.get(f"/settings/config/{epochs.active().revision_id}").status_code == 403
    assert as_ana.get("/settings/config", {"before": "x"}).status_code == 400


# -- engine ---------------------------------------------------------------------------------------


@pytest.mark.covers("UI-56", "UI-25")
def test_the_nodes_tell_what_they_carry_and_why_they_cannot_be_drained(
    as_ana: Client, as_guest: Client
) -> None:
    assert "No node is running" in page(as_ana, "/settings/nodes")
    incarnation = a_node("one")
    assert incarnation in page(as_ana, "/settings/nodes")
    assert "takes the grant fleet:operate" in page(as_guest, "/settings/nodes")


@pytest.mark.covers("ORG-124")
def test_the_audit_is_filtered_by_its_address_and_pages(as_ana: Client, ana: Person) -> None:
    actor = session_actor(ana)
    for login in ("mia.berg", "mia.berg"):
        perform(actor, "create_person", {"login": login, "name": "New"}, op_id=None, door=Door.FORM)
    everything = page(as_ana, "/settings/audit")
    assert "session:ana.silva" in everything
    assert "Refused, conflict" in everything
    assert "Refused, conflict" not in page(as_ana, "/settings/audit", refused="false")
    empty = page(as_ana, "/settings/audit", actor="nobody")
    assert "Nothing matches" in empty
    assert ">Clear<" in empty
    assert as_ana.get("/settings/audit", {"door": "window"}).status_code == 400


def test_an_entry_without_an_author_says_not_recorded(as_ana: Client) -> None:
    AuditEntry.objects.create(
        at=clock.now(), actor="", actor_kind="engine", action="star", door="rest", summary="Old"
    )
    assert "Not recorded" in page(as_ana, "/settings/audit")


def test_a_long_audit_has_an_older_page(as_ana: Client) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry(at=clock.now(), actor="ana", actor_kind="person", action="star", door="rest",
                   summary=f"Row {n}")
        for n in range(60)
    )  # fmt: skip
    shown = page(as_ana, "/settings/audit")
    older = re.search(r'href="(/settings/audit\?cursor=[^"]+)"', shown)
    assert older is not None
    assert "That is all of it." in page(as_ana, older[1])


@pytest.mark.covers("UI-6")
def test_the_preferences_form_shows_what_was_chosen(as_ana: Client) -> None:
    as_ana.post("/act/set_preferences", {"theme": "dark", "timezone": "Asia/Tokyo"})
    shown = page(as_ana, "/settings/preferences")
    assert '<option value="dark" selected>' in shown
    assert "<option selected>Asia/Tokyo</option>" in shown


def test_a_star_stands_in_the_sidebar_and_opens_its_thing(as_ana: Client, ana: Person) -> None:
    item = create(session_actor(ana), "Fix the switch", project="ENG")
    assert 'aria-label="Starred"' not in page(as_ana, "/settings/general")
    as_ana.post("/act/star", {"ref": f"item:{item.key}"})
    starred = page(as_ana, "/settings/general").split('aria-label="Starred"')[1].split("</nav>")[0]
    assert f'href="/work/{item.key}"' in starred
    assert "Fix the switch" in starred


def page_of(client: Client) -> str:
    """The audit, whose rows show instants."""
    return page(client, "/settings/audit")


@pytest.mark.covers("UI-6")
def test_what_a_person_prefers_shows_on_every_page_they_open(as_ana: Client, ana: Person) -> None:
    """Theme, density, keys, clock and dates; the company's own again when taken back."""
    before = datetime(2024, 3, 5, 23, 30, tzinfo=UTC)
    AuditEntry.objects.create(
        id=new_id(), at=before, actor="ana", actor_kind="person", action="star", door="form",
        refs=[], summary="Looked up", operation="o",
    )  # fmt: skip
    chosen = {
        "theme": "dark", "density": "compact", "timezone": "America/New_York", "date_style": "iso",
        "single_keys": "false",
    }  # fmt: skip
    shown = page_of(as_ana)
    assert 'data-theme="system"' in shown
    assert "data-keys" not in shown.partition("<body")[0]
    assert ">6 Mar 2024</time>" in shown, "the company is in Tokyo"
    assert as_ana.post("/act/set_preferences", chosen).status_code in (204, 303)
    shown = page_of(as_ana)
    assert 'data-theme="dark" data-density="compact" data-keys="off"' in shown
    assert ">2024-03-05</time>" in shown, "New York is a day behind"
    back = {"theme": "system", "density": "cosy", "timezone": "company", "single_keys": "true"}
    as_ana.post("/act/set_preferences", back)
    assert 'data-theme="system" data-density="cosy">' in page_of(as_ana)
