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
        waits,
    )
    from agents.dispatch import registrations as dispatch
    from agents.live import topics
    from agents.live import waits as waiting
    from agents.live.snapshot import WAITS
    from agents.llm.base import StopReason
    from agents.memory import diary
    from agents.queries import named
    from agents.queries.waits import by_seat
    from agents.tools.registry import TOOL_SOURCES, action_tools
    from agents.turn import colleague, machine, suspend
    from agents.views import panels, peeks, settings_models, settings_nodes
    from crewlet.kernel.refs import REF_KINDS, RefKind
    from crewlet.ops.reference.pages import STATES
    from orgs.inbox import SOURCES

    TOOL_SOURCES.register("actions", action_tools)
    TOOL_SOURCES.register("turn", suspend.tools)
    diary.register()
    dispatch.register()
    offers.register()
    colleague.register_kinds()
    _register_duties()
    topics.register()
    SOURCES.register("waits", waiting.SOURCE)
    WAITS.register("waits", by_seat)
    REF_KINDS.register("turn", RefKind(named.turn_label, named.turn_url, named.turn_exists))
    REF_KINDS.register("event", RefKind(named.event_label, named.event_url, named.event_exists))
    panels.register_panels()
    peeks.register_peeks()
    settings_models.register_models()
    settings_nodes.register_nodes()
    STATES.register("turn", machine.Position)
    STATES.register("turn_outcome", machine.Outcome)
    STATES.register("stop_reason", StopReason)


def _register_duties() -> None:
    from agents.dispatch import duties
    from agents.llm import trials
    from agents.mail import retention, retired
    from agents.memory import diary, sessions
    from agents.turn import colleague
    from crewlet.kernel import events
    from crewlet.kernel.actions import forget_expired
    from crewlet.ops import alarms
    from orgs import outbound

    duties.register(duties.Duty("a2a_channels", 60.0, colleague.sweep))
    duties.register(duties.Duty("diary", 900.0, diary.sweep))
    duties.register(duties.Duty("conversations", 900.0, sessions.sweep))
    duties.register(duties.Duty("operations", 900.0, forget_expired))
    duties.register(duties.Duty("mail_retention", 900.0, retention.forget_old))
    duties.register(duties.Duty("mailbox_retirement", 60.0, retired.retire))
    duties.register(duties.Duty("event_retention", 900.0, events.forget_old))
    duties.register(duties.Duty("provider_tests", 2.0, trials.run_pending, aside=True))
    duties.register(duties.Duty("outbound_mail", 10.0, outbound.run, aside=True))
    duties.register(duties.Duty("alarms", 10.0, alarms.look))
