"""Servers of tools as people see them: the page, REST, the command, the alarm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from crewlet.kernel import clock
from crewlet.kernel.actors import engine_actor
from integrations.mcp.pool import POOL
from integrations.mcp.standing import ask_wanted, server_down
from orgs import epochs
from orgs.models.people import Person
from orgs.revisions import apply_document
from tests.api.conftest import Program, ana, company
from tests.integrations.mcp.test_turns import a_server
from tests.support.people import signed_in

__all__ = ["ana", "company"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def servers(company: None) -> Iterator[None]:
    document = epochs.active().document.model_dump(mode="json", exclude_unset=True)
    wipe = {"wipe": {"destructiveHint": False}}
    document["mcp_servers"] = [
        a_server(tool_prefix="b.", tool_annotations=wipe),
        a_server("ghost", "refuses"),
        a_server("own", shared=False),
    ]
    apply_document(engine_actor("tests"), document, summary="Servers of tools")
    yield
    POOL.stop()


@pytest.mark.covers("TURN-33", "TURN-35", "INT-82", "INT-83")
def test_a_server_is_asked_at_a_press_and_shows_what_it_offers(ana: Program) -> None:
    founder = signed_in(Client(), Person.objects.get(login="ana.silva"))
    page = founder.get("/settings/mcp-servers").content.decode()
    assert page.count("not used yet") == 2
    assert "no seat or unit gives it variables" in page
    for name in ("box", "ghost"):
        asked = ana.post("/act/refresh_mcp_server", {"server": name})
        assert asked.status_code == 200, asked.content
    assert "It is being asked." in founder.get("/settings/mcp-servers").content.decode()
    assert server_down() is None
    assert ask_wanted(clock.now()) == 2
    assert ask_wanted(clock.now()) == 0
    assert POOL.running() == [], "what was started to be asked is ended again"
    page = founder.get("/settings/mcp-servers").content.decode()
    assert "no licence for nobody" in page
    assert "destroys nothing (yours)" in page
    told = ana.get("/tools").json()
    assert [(one["name"], one["state"]) for one in told["servers"]] == [
        ("box", "ready"), ("ghost", "failed"), ("own", "unset"),
    ]  # fmt: skip
    tools = {tool["server_name"]: tool for tool in told["tools"]}
    wipe = tools["wipe"]
    assert (wipe["source"], wipe["destructive"], wipe["overridden"], wipe["delivers"]) == (
        "mcp:box", "no", ["destructive"], True,
    )  # fmt: skip
    assert tools["echo"]["read_only"] == "yes" and tools["echo"]["destructive"] == "unknown"
    assert not tools["echo"]["delivers"] and tools["echo"]["arguments"] == 1
    assert tools["comment_on_work_item"]["source"] == "builtin"
    finding = server_down()
    assert finding is not None and "1 of 2 tool servers do not answer: ghost" in finding.measurement


def test_the_command_lists_and_refreshes() -> None:
    out = StringIO()
    call_command("tools", "refresh", "box", stdout=out)
    assert out.getvalue().startswith("box: ready, 11 tools")
    out = StringIO()
    call_command("tools", "list", "--json", stdout=out)
    sources = {tool["source"] for tool in json.loads(out.getvalue())["tools"]}
    assert sources == {"builtin", "mcp:box"}
    with pytest.raises(SystemExit):
        call_command("tools", "refresh", "nowhere", stderr=StringIO())


def test_a_server_that_the_company_has_not_cannot_be_asked(ana: Program) -> None:
    answer = ana.post("/act/refresh_mcp_server", {"server": "nowhere"})
    assert answer.status_code == 404
    assert "The company has: box, ghost, own." in answer.json()["message"]
