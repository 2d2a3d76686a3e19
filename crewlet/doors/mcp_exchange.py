"""What the `mcp` library and this system say to each other; `crewlet.doors.mcp` lends it requests.

A module of its own because the library takes longer to import than all of Django: a process that
answers no assistant never loads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from crewlet.doors.mcp import RESOURCES
from crewlet.doors.rest import MAX_OPERATION_ID, as_crewlet_error
from crewlet.doors.tool import tool_schema
from crewlet.kernel.actions import ACTIONS, Action, Door, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import require
from crewlet.kernel.errors import CrewletError, ErrorCode, NotFound

SCHEME = "crewlet://"
OP_ID = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_OPERATION_ID,
    "description": (
        "A new id of your own for this write. Send the same id again to repeat a write whose "
        "answer was lost: it lands once."
    ),
}
INSTRUCTIONS = (
    "You act for one person of the company, with exactly that person's rights, and everything you "
    "change is recorded under their name. Give each write an op_id of its own."
)


async def exchange(actor: Actor, request: HttpRequest, sent: bytes) -> HttpResponse:
    """Lets the library answer one request: what it would send is what Django answers."""
    answer = HttpResponse()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status_code = message["status"]
            del answer["Content-Type"]
            for name, value in message.get("headers", ()):
                answer[name.decode("latin-1")] = value.decode("latin-1")
        elif message["type"] == "http.response.body":
            answer.write(message.get("body", b""))

    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in request.headers.items()
    ]
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
        "scheme": request.scheme, "path": request.path, "raw_path": request.path.encode(),
        "query_string": b"", "root_path": "", "headers": headers, "client": None, "server": None,
    }  # fmt: skip
    manager = StreamableHTTPSessionManager(_server(actor), json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)
    return answer


def _server(actor: Actor) -> Server[Any]:
    return Server(
        "crewlet",
        title="Crewlet",
        instructions=INSTRUCTIONS,
        on_list_tools=partial(_list_tools, actor),
        on_call_tool=partial(_call_tool, actor),
        on_list_resources=partial(_list_resources, actor),
        on_list_resource_templates=partial(_list_templates, actor),
        on_read_resource=partial(_read_resource, actor),
    )


# -- Tools -------------------------------------------------------------------------------------


async def _list_tools(
    actor: Actor, context: Any, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(tools=await sync_to_async(tools_for)(actor))


def tools_for(actor: Actor) -> list[types.Tool]:
    """Returns the tools that this actor's grants admit, sorted by name."""
    return [
        _tool(entry)
        for entry in ACTIONS.all(Door.MCP)
        if entry.grant is None or entry.grant in actor.grants
    ]


def _tool(entry: Action) -> types.Tool:
    schema = tool_schema(entry)
    if not entry.reads:
        schema = {**schema, "properties": {**schema["properties"], "op_id": OP_ID}}
    return types.Tool(
        name=entry.name,
        title=entry.name.replace("_", " ").capitalize(),
        description=entry.description,
        input_schema=schema,
        annotations=types.ToolAnnotations(
            read_only_hint=entry.reads,
            destructive_hint=entry.destructive,
            idempotent_hint=entry.reads or entry.idempotent,
            open_world_hint=entry.open_world,
        ),
    )


async def _call_tool(
    actor: Actor, context: Any, params: types.CallToolRequestParams
) -> types.CallToolResult:
    return await sync_to_async(call_tool)(actor, params.name, params.arguments or {})


def call_tool(actor: Actor, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """Does the action as the actor and returns its outcome, a refusal as a failed result.

    Raises `MCPError` for a tool that does not exist here: that is the caller's mistake about the
    protocol, not the tool's answer.
    """
    try:
        entry = ACTIONS.named(name, Door.MCP)
    except NotFound as error:
        raise MCPError(types.INVALID_PARAMS, error.message) from error
    given = dict(arguments)
    try:
        op_id = None if entry.reads else _operation_id(given)
        outcome = perform(actor, name, given, op_id=op_id, door=Door.MCP)
        result = outcome.unwrap()
    except Exception as error:
        known = as_crewlet_error(error)
        if known is None:
            raise
        return _failed(known)
    answer = {**outcome.to_json(), "replayed": outcome.replayed}
    words = result.message
    if result.data:
        words = f"{words}\n\n{json.dumps(result.data, default=str, ensure_ascii=False)}"
    return types.CallToolResult(
        content=[types.TextContent(text=words)],
        structured_content=json.loads(json.dumps(answer, default=str)),
    )


def _operation_id(given: dict[str, Any]) -> str | None:
    op_id = given.pop("op_id", None)
    if op_id is None:
        return None
    if not isinstance(op_id, str) or not 1 <= len(op_id.strip()) <= MAX_OPERATION_ID:
        raise CrewletError(
            f"op_id is a text of 1 to {MAX_OPERATION_ID} characters: a new one for each write.",
            code=ErrorCode.OP_ID_INVALID,
            field="op_id",
        )
    return op_id.strip()


def _failed(error: CrewletError) -> types.CallToolResult:
    told = {"error": error.code.value, "message": error.message, "detail": error.detail}
    return types.CallToolResult(
        content=[types.TextContent(text=error.message)],
        structured_content=json.loads(json.dumps(told, default=str)),
        is_error=True,
    )


# -- Resources ---------------------------------------------------------------------------------


async def _list_resources(
    actor: Actor, context: Any, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    found = [
        types.Resource(
            name=name, title=entry.title, description=entry.description,
            uri=f"{SCHEME}{name}", mime_type="application/json",
        )
        for name, entry in RESOURCES.items()
        if not entry.takes and entry.grant in actor.grants
    ]  # fmt: skip
    return types.ListResourcesResult(resources=found)


async def _list_templates(
    actor: Actor, context: Any, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    found = [
        types.ResourceTemplate(
            name=name, title=entry.title, description=entry.description,
            uri_template=f"{SCHEME}{name}/{{{entry.takes}}}", mime_type="application/json",
        )
        for name, entry in RESOURCES.items()
        if entry.takes and entry.grant in actor.grants
    ]  # fmt: skip
    return types.ListResourceTemplatesResult(resource_templates=found)


async def _read_resource(
    actor: Actor, context: Any, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    return await sync_to_async(read_resource)(actor, str(params.uri))


def read_resource(actor: Actor, uri: str) -> types.ReadResourceResult:
    """Returns what stands at an address as JSON; raises `MCPError` saying why it cannot be read."""
    name, _, ident = uri.removeprefix(SCHEME).partition("/")
    entry = RESOURCES.get(name) if uri.startswith(SCHEME) else None
    try:
        if entry is None or bool(entry.takes) is not bool(ident):
            known = ", ".join(
                f"{SCHEME}{key}" + (f"/{{{each.takes}}}" if each.takes else "")
                for key, each in RESOURCES.items()
            )
            raise NotFound(f"There is no resource {uri}; there are {known}.")
        require(actor, entry.grant)
        data = entry.read(actor, unquote(ident))
    except CrewletError as error:
        raise MCPError(
            types.INVALID_PARAMS, error.message, {"uri": uri, "error": error.code.value}
        ) from error
    text = json.dumps(data, default=str, ensure_ascii=False)
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type="application/json", text=text)]
    )
