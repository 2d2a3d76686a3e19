"""Addresses of the runtime below /api/v1/."""

from __future__ import annotations

from django.urls import path

from agents.api import charge, history, memory, views
from agents.api.colleagues import AsksView
from agents.api.fleet import AlarmsView, FleetView
from agents.api.providers import ProvidersView, ProviderTestView
from agents.api.usage import TokenBreakdownView, TokenSeriesView

urlpatterns = [
    path("agents", views.AgentsView.as_view(), name="api-agents"),
    path("agents/activity", history.ActivityView.as_view(), name="api-activity"),
    path("agents/<slug:handle>", views.AgentView.as_view(), name="api-agent"),
    path("agents/<slug:handle>/memory", memory.MemoryView.as_view(), name="api-agent-memory"),
    path("agents/<slug:handle>/pause", views.PauseView.as_view(), name="api-agent-pause"),
    path("agents/<slug:handle>/resume", views.ResumeView.as_view(), name="api-agent-resume"),
    path("turns", views.TurnsView.as_view(), name="api-turns"),
    path("turns/series", history.TurnsSeriesView.as_view(), name="api-turns-series"),
    path("turns/<uuid:turn_id>", views.TurnView.as_view(), name="api-turn"),
    path("turns/<uuid:turn_id>/events", charge.TurnEventsView.as_view(), name="api-turn-events"),
    path("turns/<uuid:turn_id>/steer", charge.SteerView.as_view(), name="api-turn-steer"),
    path("turns/<uuid:turn_id>/stop", charge.StopView.as_view(), name="api-turn-stop"),
    path("turns/<uuid:turn_id>/rerun", charge.RerunView.as_view(), name="api-turn-rerun"),
    path("waits", charge.WaitsView.as_view(), name="api-waits"),
    path("waits/<uuid:wait_id>/answer", charge.AnswerView.as_view(), name="api-wait-answer"),
    path("waits/<uuid:wait_id>/decision", charge.DecisionView.as_view(), name="api-wait-decision"),
    path("events", views.EventsView.as_view(), name="api-events"),
    path("asks", AsksView.as_view(), name="api-asks"),
    path("phases", history.PhasesView.as_view(), name="api-phases"),
    path("events/series", history.EventsSeriesView.as_view(), name="api-events-series"),
    path("events/<uuid:event_id>", views.EventView.as_view(), name="api-event"),
    path("alarms", AlarmsView.as_view(), name="api-alarms"),
    path("fleet", FleetView.as_view(), name="api-fleet"),
    path("budgets", views.BudgetsView.as_view(), name="api-budgets"),
    path("tokens/breakdown", TokenBreakdownView.as_view(), name="api-token-breakdown"),
    path("tokens/series", TokenSeriesView.as_view(), name="api-token-series"),
    path("providers", ProvidersView.as_view(), name="api-providers"),
    path("providers/<str:key>/test", ProviderTestView.as_view(), name="api-provider-test"),
    path("stream/snapshot", views.SnapshotView.as_view(), name="api-snapshot"),
]
