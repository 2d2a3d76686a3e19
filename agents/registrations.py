"""Everything the runtime plugs into the registries, in one place."""

from __future__ import annotations


def register() -> None:
    """Fills the registries; called once while the apps start."""
    from agents.actions import colleagues, mail, memory, seats, turns  # noqa: F401
    from agents.dispatch import duties
    from agents.dispatch import registrations as dispatch
    from agents.live import topics
    from agents.memory import diary
    from agents.tools.registry import TOOL_SOURCES, action_tools
    from agents.turn import colleague
    from agents.views import panels

    TOOL_SOURCES.register("actions", action_tools)
    diary.register()
    dispatch.register()
    colleague.register_kinds()
    duties.register(duties.Duty("a2a_channels", 60.0, colleague.sweep))
    topics.register()
    panels.register_panels()
