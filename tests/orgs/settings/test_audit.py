"""The audit: what was done and refused, filtered and paged, at the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from crewlet.kernel import clock
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.models import AuditEntry
from orgs.models.people import Person
from orgs.people.actors import session_actor

pytestmark = pytest.mark.django_db(transaction=True)
AUDIT = "/api/v1/audit"


def read(client: Client, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(AUDIT, query)
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["entries"]
    return found


@pytest.fixture
def history(ana: Person) -> None:
    """Ana creates two people, and a third whose login is taken."""
    actor = session_actor(ana)
    for login in ("mia.berg", "tom.oak", "mia.berg"):
        perform(actor, "create_person", {"login": login, "name": "New"}, op_id=None, door=Door.FORM)


@pytest.mark.covers("ORG-124")
def test_the_audit_tells_actor_credential_door_and_refusal_newest_first(
    as_ana: Client, history: None
) -> None:
    rows = read(as_ana, action="create_person")
    assert [row["refused"] for row in rows] == ["conflict", "", ""]
    first = rows[-1]
    assert (first["actor"], first["credential"], first["door"]) == (
        "ana",
        "session:ana.silva",
        "form",
    )
    assert first["refs"] == ["person:mia.berg"]


def test_the_audit_is_narrowed_by_each_filter(as_ana: Client, history: None) -> None:
    later = (clock.now() + timedelta(hours=1)).isoformat()
    assert len(read(as_ana, refused="true")) == 1
    assert len(read(as_ana, action="create_person", refused="false")) == 2
    assert len(read(as_ana, actor="ana", action="create_person")) == 3
    assert len(read(as_ana, actor="ana.silva", action="create_person")) == 3
    assert read(as_ana, actor="omar") == []
    assert read(as_ana, door="cli") == []
    assert read(as_ana, since=later) == []
    assert len(read(as_ana, until=later, action="create_person")) == 3


def test_the_audit_is_paged_without_gap_or_double(as_ana: Client, history: None) -> None:
    seen: list[str] = []
    cursor = ""
    while True:
        page = as_ana.get(AUDIT, {"limit": "1", "cursor": cursor}).json()
        seen += [row["id"] for row in page["entries"]]
        cursor = page["next_cursor"] or ""
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == AuditEntry.objects.count()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"door": "window"}, "door"),
        ({"action": "create_persn"}, "action"),
        ({"refused": "maybe"}, "refused"),
        ({"since": "yesterday"}, "since"),
        ({"until": "2026-01-01T10:00:00"}, "until"),
        ({"limit": "0"}, "limit"),
        ({"cursor": "junk"}, "cursor"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused_by_name(
    as_ana: Client, query: dict[str, str], field: str
) -> None:
    answer = as_ana.get(AUDIT, query)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_query"
    assert answer.json()["detail"]["field"] == field


@pytest.mark.covers("ORG-111")
def test_who_may_not_read_the_audit_is_told_which_grant_it_takes(as_guest: Client) -> None:
    answer = as_guest.get(AUDIT)
    assert answer.status_code == 403
    assert "audit:read" in answer.json()["message"]
