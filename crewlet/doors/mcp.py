"""The operator MCP door: `POST /operator/mcp`, for a person's own assistant.

Stateless streamable HTTP: each request stands alone and is decided by its own credential, so a
revoked token is refused at once and any web process may answer. The protocol, old handshake and new
single exchange alike, is the `mcp` library's: `crewlet.doors.mcp_exchange` lends it one request at
a time. A tool is an action that lists the door; a resource is something apps let a person read by
`crewlet://`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from crewlet.doors.rest import as_crewlet_error
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import CrewletError, ErrorCode, Unauthenticated, body
from crewlet.kernel.registry import Registry

ADDRESS = "operator/mcp"
EXCHANGE = "crewlet.doors.mcp_exchange"


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
    # In a thread: the first request of a process loads the library, which takes about a second.
    module = await asyncio.to_thread(import_module, EXCHANGE)
    answer: HttpResponse = await module.exchange(actor, request, sent)
    return answer


def _refusal(
    request: HttpRequest, error: CrewletError, *, status: int, headers: Mapping[str, str]
) -> HttpResponse:
    answer = body(error, getattr(request, "request_id", "") or "")
    return JsonResponse(answer, status=status, headers=dict(headers))


urlpatterns = [path(ADDRESS, operator_mcp, name="operator-mcp")]
