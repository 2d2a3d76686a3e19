"""Addresses of the runtime below /api/v1/."""

from __future__ import annotations

from django.urls import path

from agents.api import views

urlpatterns = [
    path("agents", views.AgentsView.as_view(), name="api-agents"),
    path("agents/<slug:handle>", views.AgentView.as_view(), name="api-agent"),
    path("agents/<slug:handle>/pause", views.PauseView.as_view(), name="api-agent-pause"),
    path("agents/<slug:handle>/resume", views.ResumeView.as_view(), name="api-agent-resume"),
    path("turns", views.TurnsView.as_view(), name="api-turns"),
    path("turns/<uuid:turn_id>", views.TurnView.as_view(), name="api-turn"),
    path("events", views.EventsView.as_view(), name="api-events"),
    path("events/<uuid:event_id>", views.EventView.as_view(), name="api-event"),
    path("budgets", views.BudgetsView.as_view(), name="api-budgets"),
    path("stream/snapshot", views.SnapshotView.as_view(), name="api-snapshot"),
]
