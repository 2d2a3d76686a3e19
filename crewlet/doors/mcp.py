"""The operator MCP door: `POST /operator/mcp`, for a person's own assistant.

Stateless streamable HTTP: each request stands alone and is decided by its own credential, so a
revoked token is refused at once and any web process may answer. The protocol, old handshake and new
single exchange alike, is the `mcp` library's; this module lends it one request at a time. A tool is
an action that lists the door; a resource is something apps let a person read by `crewlet://`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from asgiref.sync import sync_to_async
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from crewlet.doors.rest import MAX_OPERATION_ID, as_crewlet_error
from crewlet.doors.tool import tool_schema
from crewlet.kernel.actions import ACTIONS, Action, Door, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import CrewletError, ErrorCode, NotFound, Unauthenticated, body
from crewlet.kernel.registry import Registry

ADDRESS = "operator/mcp"
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


@dataclass(frozen=True, slots=True)
class McpResource:
    """Something to read at `crewlet://<name>`, or `crewlet://<name>/{id}` when it `takes` an id.

    `read` gives plain data, raises `NotFound` for what is not there, and checks nothing else: the
    door has already asked for `grant`.
    """

    title: str
    description: str
    read: Callable[[Actor, str], Mapping[str, Any]]
    takes: str = ""
    grant: Grant = Grant.STATE_READ


RESOURCES: Registry[McpResource] = Registry("resources of the operator MCP")


async def operator_mcp(request: HttpRequest) -> HttpResponse:
    """Answers one message of a person's assistant; anything but POST is refused with 405."""
    if request.method != "POST":
        refused = CrewletError(
            "This address keeps no session and no stream: send each message by POST.",
            code=ErrorCode.METHOD_NOT_ALLOWED,
        )
        return _refusal(request, refused, status=405, headers={"Allow": "POST"})
    actor = getattr(request, "actor", None)
    if actor is None:
        raise Unauthenticated("Send a token as `Authorization: Bearer <token>`.")
    try:
        sent = request.body
    except RequestDataTooBig as error:
        known = as_crewlet_error(error) or CrewletError(str(error))
        return _refusal(request, known, status=413, headers={})
    return await _exchange(_server(actor), request, sent)


def _refusal(
    request: HttpRequest, error: CrewletError, *, status: int, headers: Mapping[str, str]
) -> HttpResponse:
    answer = body(error, getattr(request, "request_id", "") or "")
    return JsonResponse(answer, status=status, headers=dict(headers))


async def _exchange(server: Server[Any], request: HttpRequest, sent: bytes) -> HttpResponse:
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
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
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


urlpatterns = [path(ADDRESS, operator_mcp, name="operator-mcp")]
