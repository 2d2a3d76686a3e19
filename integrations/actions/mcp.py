"""The verb over servers of tools: ask one anew."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from crewlet.kernel import clock, live
from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import NotFound
from integrations.mcp.config import Reach, every
from integrations.mcp.store import TOPIC
from integrations.models.mcp import MCPServer
from orgs import epochs

ServerName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ServerToRefresh(Args):
    """Which server is to be asked for its tools."""

    server: ServerName = Field(description="The server's name under mcp_servers.")


def _chosen(actor: Actor, args: ServerToRefresh) -> list[Reach]:
    snapshot = epochs.active()
    names = [entry.name for entry in snapshot.document.mcp_servers]
    if args.server not in names:
        known = ", ".join(names) or "none"
        raise NotFound(f"There is no tool server '{args.server}'. The company has: {known}.")
    return [reach for reach in every(snapshot) if reach.server == args.server]


@action(
    "refresh_mcp_server",
    args=ServerToRefresh,
    doors=Doors.PEOPLE,
    grant=Grant.CONFIG_WRITE,
    rules=("not_agent",),
    fetch=_chosen,
    idempotent=True,
    label="Asked {server} for its tools",
)
def refresh_mcp_server(actor: Actor, args: ServerToRefresh, chosen: list[Reach]) -> Result:
    """Asks a worker to start a tool server and read its tools anew, for every seat that has it. How
    it stands shows in Settings, MCP servers within seconds; asking again meanwhile changes
    nothing. Running turns keep the tools that they have taken up."""
    now = clock.now()
    for reach in chosen:
        MCPServer.objects.update_or_create(
            name=reach.server,
            seat_id=reach.seat_id,  # type: ignore[misc]  # the stubs know no nullable key
            defaults={"asked_at": now, "asked_by": actor.author},
            create_defaults={"asked_at": now, "asked_by": actor.author, "changed_at": now},
        )
    live.changed(TOPIC)
    times = f" for {len(chosen)} seats" if len(chosen) > 1 else ""
    if not chosen:
        return Result(
            f"Nobody has {args.server}: give a seat or a unit its variables under mcp_env.",
            data={"server": args.server, "asked": 0},
        )
    return Result(
        f"{args.server} is being asked{times}.",
        data={"server": args.server, "asked": len(chosen)},
    )
