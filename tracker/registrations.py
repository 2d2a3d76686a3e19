"""What this app adds to the registries."""

from __future__ import annotations


def register() -> None:
    """Touches every registry this app fills."""
    from agents.dispatch import duties
    from agents.live.snapshot import OPEN_WORK, WAITS
    from agents.mail import triggers
    from agents.turn.delivery import SURFACES, Surface
    from crewlet.files.collector import collect_due
    from crewlet.files.store import REFERENCES
    from crewlet.kernel.live import TOPICS
    from crewlet.kernel.refs import REF_KINDS, RefKind
    from crewlet.ops.reference.pages import STATES
    from crewlet.search.find import SOURCES as SEARCHED
    from orgs.inbox import SOURCES, InboxSource
    from tracker import inbox, receivers, seen  # noqa: F401
    from tracker.actions import (  # noqa: F401
        comment,
        create,
        place,
        projects,
        purge,
        reads,
        removal,
        update,
    )
    from tracker.actions import files as file_actions  # noqa: F401
    from tracker.actions import search as search_actions  # noqa: F401
    from tracker.indexing import SOURCE
    from tracker.letters import TRIGGER
    from tracker.queries import workload
    from tracker.queries.files import claims
    from tracker.resources import register_resources
    from tracker.statuses import Status
    from tracker.views.home import register_home
    from tracker.views.panels import register_panels

    SURFACES.register(
        "work", Surface("the work item", remedy="comment_on_work_item or update_work_item")
    )
    triggers.register(TRIGGER)
    REF_KINDS.register(
        "item", RefKind(label=seen.item_label, url=seen.item_url, exists=seen.item_exists)
    )
    REF_KINDS.register(
        "project",
        RefKind(label=seen.project_label, url=seen.project_url, exists=seen.project_exists),
    )
    for topic in ("item", "project", "work"):
        TOPICS.register(topic, seen.may_hear)
    SOURCES.register("asks", InboxSource("asks", inbox.waiting_asks, inbox.count_asks))
    WAITS.register("asks", inbox.waits_by_seat)
    OPEN_WORK.register("items", workload.open_by_assignee)
    STATES.register("item_status", Status)
    REFERENCES.register("tracker", claims)
    SEARCHED.register("item", SOURCE)
    duties.register(duties.Duty("files", 3600.0, collect_due))
    register_panels()
    register_home()
    register_resources()
