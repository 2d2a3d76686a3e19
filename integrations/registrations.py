"""Everything this app plugs into the registries, in one place."""

from __future__ import annotations


def register() -> None:
    """Fills the registries; called once while the apps start."""
    from agents.dispatch import duties
    from agents.seats.resources import RESOURCES
    from agents.tools.discovery import TOOL_SERVERS
    from agents.tools.registry import TOOL_SOURCES
    from crewlet.doors.mcp import RESOURCES as MCP_RESOURCES
    from crewlet.doors.mcp import McpResource
    from crewlet.ops.checks import ALARMS
    from crewlet.ops.reference.pages import STATES
    from integrations.actions import mcp as mcp_actions  # noqa: F401
    from integrations.mcp import source, standing
    from integrations.models.mcp import ServerState
    from integrations.views import settings_mcp

    TOOL_SOURCES.register("mcp", source.tools)
    TOOL_SERVERS.register("mcp", source.Servers())
    RESOURCES.register("mcp", source.Children())
    ALARMS.register("mcp_server_down", standing.server_down)
    duties.register(duties.Duty("mcp_servers", 2.0, standing.ask_wanted))
    MCP_RESOURCES.register(
        "tools",
        McpResource(
            "The tools",
            "The tool servers of the company, how each stands, and every tool with its hints.",
            lambda actor, key: standing.everything(),
        ),
    )
    STATES.register("mcp_server", ServerState)
    settings_mcp.register_servers()
