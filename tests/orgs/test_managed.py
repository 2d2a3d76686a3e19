"""A company that is kept elsewhere is changed by the credentials that are named alone."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings

from crewlet.kernel.actors import engine_actor
from orgs import epochs
from orgs.models.company import ConfigRevision
from orgs.revisions import apply_document
from tests.orgs.companies import TWO_TEAMS
from tests.support.people import ORIGIN, a_person, signed_in

pytestmark = pytest.mark.django_db(transaction=True)

CONFIG = "/api/v1/config"
CI = "the-token-of-a-program-that-brings-files"
OTHER = "the-token-of-another-program-altogether"


@pytest.fixture(autouse=True)
def managed(settings: Settings) -> None:
    settings.CREWLET = replace(
        settings.CREWLET,
        company_writers=frozenset({"token:ci"}),
        api_tokens={"ci": CI, "other": OTHER},
    )


@pytest.fixture(autouse=True)
def company() -> ConfigRevision:
    apply_document(engine_actor("tests"), TWO_TEAMS, summary="A bakery")
    return ConfigRevision.objects.latest("created_at")


def ask(token: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
    return Client().generic(
        method, CONFIG + path, body if isinstance(body, str) else json.dumps(body or {}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}", "X-Summary": "Why", **headers},
    )  # fmt: skip


@pytest.mark.covers("ORG-44")
def test_another_credential_changes_nothing_by_any_way_not_even_as_a_trial(
    company: ConfigRevision,
) -> None:
    apply_document(engine_actor("tests"), TWO_TEAMS.replace("by six, ", ""), summary="Bread")
    before = (epochs.current(), ConfigRevision.objects.count())
    part = {"type": "rehearsal"}
    ways: list[tuple[str, str, Any, dict[str, str]]] = [
        ("PUT", "", TWO_TEAMS, {}),
        ("PUT", "?dry_run=true", TWO_TEAMS, {}),
        ("PATCH", "", {"mission": "Cake"}, {}),
        ("PATCH", "?dry_run=true", {"mission": "Cake"}, {}),
        ("PUT", "/llm-providers/spare", part, {"If-None-Match": "*"}),
        ("PUT", "/llm-providers/spare?dry_run=true", part, {"If-None-Match": "*"}),
        ("POST", f"/revisions/{company.id}/revert", None, {}),
    ]
    for method, path, body, headers in ways:
        refused = ask(OTHER, method, path, body, **headers)
        told = refused.json()
        assert (refused.status_code, told["error"]) == (403, "config_managed"), (path, told)
        assert "token:ci" in told["message"]
    assert (epochs.current(), ConfigRevision.objects.count()) == before


@pytest.mark.covers("ORG-44")
def test_the_named_credential_changes_it_and_everybody_may_read_check_and_reload() -> None:
    assert ask(CI, "PATCH", "", {"mission": "Bread"}).status_code == 201
    assert ask(CI, "PUT", "?dry_run=true", TWO_TEAMS).status_code == 200
    assert ask(OTHER, "GET", "").status_code == 200
    assert ask(OTHER, "POST", "/validate", TWO_TEAMS).status_code == 200
    epoch = epochs.current()
    assert ask(OTHER, "POST", "/reload").status_code == 201
    assert epochs.current() != epoch


@pytest.mark.covers("ORG-44")
def test_the_shell_is_a_credential_like_others(tmp_path: Any) -> None:
    file = tmp_path / "company.yaml"
    file.write_text(TWO_TEAMS)
    err = StringIO()
    with pytest.raises(SystemExit):
        call_command("company", "import", str(file), stdout=StringIO(), stderr=err)
    assert "CREWLET_COMPANY_WRITERS" in err.getvalue()


@pytest.mark.covers("ORG-44")
def test_settings_say_why_nothing_can_be_changed_there(company: ConfigRevision) -> None:
    apply_document(engine_actor("tests"), TWO_TEAMS.replace("by six, ", ""), summary="Bread")
    browser = signed_in(Client(headers={"origin": ORIGIN, "accept": "text/html"}), a_person())
    for path in ("/settings/config", f"/settings/config/{company.id}"):
        assert "changed through token:ci alone" in browser.get(path).content.decode(), path
