"""Addresses of the runtime's pages."""

from __future__ import annotations

from django.urls import path

from agents.views import live, live_lists, pages, roster, seat, spend

_TURN = "ui/turns/<uuid:turn_id>/"
urlpatterns = [
    path("agents", pages.agents, name="agents"),
    path("agents/roster", roster.roster, name="roster"),
    path("agents/teams", roster.teams, name="teams"),
    path("agents/teams/<slug:unit>", roster.team, name="team"),
    path("agents/seats/<slug:handle>", seat.seat, name="seat"),
    path("live", live.live, name="live"),
    path("live/turns", live.turns, name="live-turns"),
    path("live/runs", live_lists.runs, name="live-runs"),
    path("live/a2a", live_lists.colleagues, name="live-a2a"),
    path("live/events", live.events, name="live-events"),
    path("live/events/<uuid:event_id>", live.event, name="live-event"),
    path("live/traces/<slug:trace_id>", live.trace, name="live-trace"),
    path("live/turns/<uuid:turn_id>", pages.turn, name="turn"),
    path("spend", spend.overview, name="spend"),
    path("spend/budgets", spend.budgets, name="spend-budgets"),
    path("ui/spend/overview", spend.overview_body, name="ui-spend-overview"),
    path("ui/spend/budgets", spend.budgets_body, name="ui-spend-budgets"),
    path("ui/agents/chart", pages.agents_chart, name="ui-agents-chart"),
    path("ui/agents/strip", pages.agents_strip, name="ui-agents-strip"),
    path("ui/seats/<slug:handle>", seat.seat_body, name="ui-seat"),
    path("ui/live/now", live.live_now, name="ui-live-now"),
    path("ui/live/runs", live_lists.runs_body, name="ui-live-runs"),
    path("ui/live/a2a", live_lists.colleagues_body, name="ui-live-a2a"),
    path("ui/live/news", live.live_news, name="ui-live-news"),
    path("ui/live/phases", live.live_phases, name="ui-live-phases"),
    path(
        f"{_TURN}rounds/<slug:phase>/<int:iteration>/<int:number>",
        pages.turn_round,
        name="ui-round",
    ),
    path(f"{_TURN}<slug:part>", pages.turn_part, name="ui-turn-part"),
]
