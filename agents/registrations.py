"""Everything the runtime plugs into the registries, in one place."""

from __future__ import annotations


def register() -> None:
    """Fills the registries; called once while the apps start."""
    from agents import offers
    from agents.actions import (  # noqa: F401
        colleagues,
        mail,
        memory,
        providers,
        seats,
        turns,
    )
    from agents.dispatch import duties
    from agents.dispatch import registrations as dispatch
    from agents.live import topics
    from agents.llm import trials
    from agents.llm.base import StopReason
    from agents.mail import retention
    from agents.memory import diary
    from agents.tools.registry import TOOL_SOURCES, action_tools
    from agents.turn import colleague, machine
    from agents.views import panels, peeks, settings_models, settings_nodes
    from crewlet.kernel import events
    from crewlet.kernel.actions import forget_expired
    from crewlet.ops.alarms import AlarmBook
    from crewlet.ops.reference.pages import STATES

    book = AlarmBook()

    TOOL_SOURCES.register("actions", action_tools)
    diary.register()
    dispatch.register()
    offers.register()
    colleague.register_kinds()
    duties.register(duties.Duty("a2a_channels", 60.0, colleague.sweep))
    duties.register(duties.Duty("diary", 900.0, diary.sweep))
    duties.register(duties.Duty("operations", 900.0, forget_expired))
    duties.register(duties.Duty("mail_retention", 900.0, retention.forget_old))
    duties.register(duties.Duty("event_retention", 900.0, events.forget_old))
    duties.register(duties.Duty("provider_tests", 2.0, trials.run_pending))
    duties.register(duties.Duty("alarms", 10.0, book.run_once))
    topics.register()
    panels.register_panels()
    peeks.register_peeks()
    settings_models.register_models()
    settings_nodes.register_nodes()
    STATES.register("turn", machine.Position)
    STATES.register("turn_outcome", machine.Outcome)
    STATES.register("stop_reason", StopReason)
