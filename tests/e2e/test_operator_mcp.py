"""A person's own assistant at the operator MCP: the protocol's own client, a real web process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ReadResourceResult, TextResourceContents

from crewlet.kernel import clock
from crewlet.kernel.models import AuditEntry
from orgs.models.people import Credential, Person
from orgs.people.codes import digest_of
from tests.e2e.company import Nobody, found, token_of
from tests.support.processes import Process
from tracker.models.items import WorkItem

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
OLD_HANDSHAKE, NEW_EXCHANGE = "legacy", "auto"


@pytest.fixture
def rita(web: Process) -> Person:
    return found(Nobody())


@pytest.fixture
def token(rita: Person) -> str:
    """Rita's token for her assistant: it reads and works, and manages nobody."""
    return token_of(rita, label="assistant")


def with_client(
    web: Process, token: str, talk: Callable[[Client], Awaitable[Any]], mode: str = NEW_EXCHANGE
) -> Any:
    """Runs a talk of the protocol's client with the web process."""

    async def run() -> Any:
        headers = {"authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
            transport = streamable_http_client(f"{web.url}/operator/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await talk(client)

    return asyncio.run(run())


def rpc(web: Process, token: str, method: str, **params: Any) -> httpx.Response:
    """One raw message."""
    return httpx.post(
        f"{web.url}/operator/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
        headers={
            "authorization": f"Bearer {token}",
            "accept": "application/json, text/event-stream",
        },
        timeout=20,
    )


def _text(read: ReadResourceResult) -> str:
    content = read.contents[0]
    assert isinstance(content, TextResourceContents)
    return content.text


@pytest.mark.covers("INT-85")
@pytest.mark.parametrize("mode", [OLD_HANDSHAKE, NEW_EXCHANGE])
def test_an_assistant_files_an_item_once_as_its_person(
    web: Process, rita: Person, token: str, mode: str
) -> None:
    """By the old handshake and by the new single exchange alike."""
    args = {"title": "Order rye", "project": "BAKE", "op_id": "from-the-assistant"}

    async def talk(client: Client) -> list[CallToolResult]:
        return [await client.call_tool("create_work_item", args) for _ in range(2)]

    first, again = with_client(web, token, talk, mode)
    assert not first.is_error, first
    assert (first.structured_content["replayed"], again.structured_content["replayed"]) == (
        False,
        True,
    )
    assert first.structured_content["data"] == again.structured_content["data"]
    item = WorkItem.objects.get(title="Order rye")
    assert item.reporter is not None
    assert (item.reporter.handle, item.reporter_author) == ("rita", "rita")
    entry = AuditEntry.objects.get(action="create_work_item")
    assert (entry.actor, entry.door, entry.refs) == ("rita", "mcp", [f"item:{item.key}"])
    assert "assistant" in entry.credential


@pytest.mark.covers("INT-85")
def test_an_assistant_sees_the_tools_its_person_may_use_and_what_they_do(
    web: Process, token: str
) -> None:
    """A tool beyond the token's grants is not offered and refused by name."""

    async def talk(client: Client) -> tuple[dict[str, Any], CallToolResult]:
        listed = await client.list_tools()
        refused = await client.call_tool("create_person", {"login": "x.y", "name": "X"})
        return {tool.name: tool for tool in listed.tools}, refused

    tools, refused = with_client(web, token, talk)
    assert {"create_work_item", "comment_on_work_item", "list_work_items", "mark_inbox"} <= set(
        tools
    )
    assert "create_person" not in tools
    assert refused.is_error
    assert refused.structured_content["error"] == "forbidden"
    assert "people:manage" in refused.content[0].text
    reads, writes = tools["list_work_items"], tools["create_work_item"]
    assert reads.annotations.read_only_hint is True
    assert "op_id" not in reads.input_schema["properties"]
    assert writes.annotations.read_only_hint is False
    assert "op_id" in writes.input_schema["properties"]
    assert writes.input_schema["required"] == ["title"]


def test_a_refused_call_names_the_field_and_an_unknown_tool_the_nearest(
    web: Process, token: str
) -> None:
    async def talk(client: Client) -> tuple[CallToolResult, str]:
        bad = await client.call_tool("create_work_item", {"title": "X", "priority": "soon"})
        with pytest.raises(MCPError) as error:
            await client.call_tool("create_work_itm", {})
        return bad, error.value.error.message

    bad, unknown = with_client(web, token, talk)
    assert bad.is_error
    assert bad.structured_content["detail"]["field"].startswith("priority")
    assert "create_work_item" in unknown
    assert not WorkItem.objects.filter(title="X").exists()


def test_an_assistant_reads_the_chart_and_an_item(web: Process, token: str) -> None:
    async def talk(client: Client) -> tuple[list[str], list[str], str, str, str]:
        made = await client.call_tool(
            "create_work_item", {"title": "Sift", "project": "BAKE", "op_id": "sift"}
        )
        key = made.structured_content["data"]["key"]
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        chart = await client.read_resource("crewlet://chart")
        item = await client.read_resource(f"crewlet://item/{key}")
        with pytest.raises(MCPError) as error:
            await client.read_resource("crewlet://item/BAKE-999")
        return (
            [resource.uri for resource in listed.resources],
            [template.uri_template for template in templates.resource_templates],
            _text(chart),
            _text(item),
            error.value.error.message,
        )

    uris, templates, chart, item, missing = with_client(web, token, talk)
    assert {"crewlet://chart", "crewlet://projects"} <= set(uris)
    assert "crewlet://item/{key}" in templates
    assert json.loads(chart)["name"] == "Harbour Bakery"
    assert json.loads(item)["item"]["title"] == "Sift"
    assert "BAKE-999" in missing


@pytest.mark.covers("INT-85")
def test_each_request_is_decided_by_its_own_credential(web: Process, token: str) -> None:
    """Nothing of an earlier request opens the door for a later one."""
    assert rpc(web, token, "ping").json()["result"] == {}
    Credential.objects.filter(digest=digest_of(token)).update(revoked_at=clock.now())
    refused = rpc(web, token, "ping")
    assert refused.status_code == 401
    assert refused.json()["error"] == "invalid_token"
    stranger = httpx.post(f"{web.url}/operator/mcp", json={}, timeout=20)
    assert stranger.status_code == 401


@pytest.mark.covers("INT-85")
def test_the_address_takes_posts_only_and_says_so(web: Process, token: str) -> None:
    """No stream is kept open, and a body that is no message is named as such."""
    headers = {"authorization": f"Bearer {token}"}
    for method in ("GET", "DELETE", "PUT"):
        answer = httpx.request(method, f"{web.url}/operator/mcp", headers=headers, timeout=20)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST"), method
        assert answer.json()["error"] == "method_not_allowed"
    broken = httpx.post(
        f"{web.url}/operator/mcp",
        content=b'{"jsonrpc": ',
        headers={
            **headers,
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        },
        timeout=20,
    )
    assert broken.status_code == 400
    assert broken.json()["error"]["code"] == -32700
    unknown = rpc(web, token, "tools/rename").json()
    assert unknown["error"]["code"] == -32601
