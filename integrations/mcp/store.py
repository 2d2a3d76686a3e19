"""What servers answered, kept: so that a turn knows its tools without asking anybody."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from crewlet.kernel import clock, live
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.redact import clean
from integrations.mcp.config import Key, Reach
from integrations.mcp.naming import hints_of
from integrations.models.mcp import MCPServer, MCPTool, ServerState

TOPIC = "health"


def tools_of(keys: Iterable[Key]) -> dict[Key, list[MCPTool]]:
    """Returns the tools that are known of each server, by name; one query."""
    wanted = list(keys)
    rows = MCPTool.objects.filter(_these(wanted)).select_related("server").order_by("name")
    found: dict[Key, list[MCPTool]] = {key: [] for key in wanted}
    for row in rows:
        found[row.server.seat_id, row.server.name].append(row)
    return found


def failures_of(keys: Iterable[Key]) -> dict[Key, str]:
    """Returns why servers that failed when last asked did; one query."""
    rows = MCPServer.objects.filter(_servers(list(keys)), state=ServerState.FAILED)
    return {(row.seat_id, row.name): row.error for row in rows}


def listed(reach: Reach, tools: Iterable[dict[str, Any]], warning: str) -> None:
    """Keeps what a server listed now; a tool that it has no more is forgotten."""
    now = clock.now()
    with transaction.atomic():
        server = _locked(reach)
        if server.state != ServerState.READY:
            server.state, server.changed_at = ServerState.READY, now
        server.error, server.warning, server.listed_at = "", warning, now
        server.asked_at = None
        server.save()
        made = [_tool(server, tool) for tool in tools]
        server.tools.exclude(name__in=[tool.name for tool in made]).delete()
        MCPTool.objects.bulk_create(
            made,
            update_conflicts=True,
            unique_fields=["server", "name"],
            update_fields=["title", "description", "schema", "hints"],
        )
        live.changed(TOPIC)


def failed(reach: Reach, why: str) -> None:
    """Keeps that a server could not be asked, and tells it once."""
    now = clock.now()
    with transaction.atomic():
        server = _locked(reach)
        news = server.state != ServerState.FAILED
        if news:
            server.state, server.changed_at = ServerState.FAILED, now
        server.error, server.asked_at = why, None
        server.save()
        if news:
            publish(
                EventType.MCP_SERVER_FAILED,
                summary=f"The tool server {reach.server} does not answer",
                actor="engine:mcp",
                seat_id=reach.seat_id,
                failed=True,
                payload={"server": reach.server, "error": why},
                topics=("agents",),
            )
        live.changed(TOPIC)


def wanted_anew() -> set[Key]:
    """Returns the servers that a person wants asked."""
    rows = MCPServer.objects.filter(asked_at__isnull=False).values_list("seat_id", "name")
    return set(rows)


def _locked(reach: Reach) -> MCPServer:
    server, _ = MCPServer.objects.select_for_update(no_key=True, of=("self",)).get_or_create(
        name=reach.server,
        seat_id=reach.seat_id,  # type: ignore[misc]  # the stubs know no nullable key
        defaults={"changed_at": clock.now()},
    )
    return server


def _tool(server: MCPServer, sent: dict[str, Any]) -> MCPTool:
    annotations = sent.get("annotations")
    told = annotations.get("title") if isinstance(annotations, dict) else ""
    schema = sent.get("inputSchema")
    return MCPTool(
        server=server,
        name=clean(sent["name"])[:400],
        title=clean(str(sent.get("title") or told or ""))[:400],
        description=clean(str(sent.get("description") or "")),
        schema=schema if isinstance(schema, dict) else {"type": "object"},
        hints=hints_of(annotations),
    )


def _servers(keys: list[Key]) -> Q:
    return _any(Q(name=name, **_seat("seat", seat)) for seat, name in keys)


def _these(keys: list[Key]) -> Q:
    return _any(Q(server__name=name, **_seat("server__seat", seat)) for seat, name in keys)


def _seat(field: str, seat: UUID | None) -> dict[str, Any]:
    return {f"{field}__isnull": True} if seat is None else {f"{field}_id": seat}


def _any(parts: Iterable[Q]) -> Q:
    found = Q(pk__in=[])
    for part in parts:
        found |= part
    return found


def forget_asking(keys: Iterable[Key]) -> None:
    """Drops the wish to ask servers that the company does not have any more."""
    wanted = list(keys)
    if wanted:
        MCPServer.objects.filter(_servers(wanted)).update(asked_at=None)
