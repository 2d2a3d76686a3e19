"""Addresses of the runtime's pages."""

from __future__ import annotations

from django.urls import path

from agents.views import pages

_TURN = "ui/turns/<uuid:turn_id>/"
urlpatterns = [
    path("agents", pages.agents, name="agents"),
    path("agents/seats/<slug:handle>", pages.seat, name="seat"),
    path("live", pages.live, name="live"),
    path("live/turns/<uuid:turn_id>", pages.turn, name="turn"),
    path("ui/agents/chart", pages.agents_chart, name="ui-agents-chart"),
    path("ui/agents/strip", pages.agents_strip, name="ui-agents-strip"),
    path("ui/seats/<slug:handle>", pages.seat_body, name="ui-seat"),
    path("ui/live/now", pages.live_now, name="ui-live-now"),
    path("ui/live/recent", pages.live_recent, name="ui-live-recent"),
    path(
        f"{_TURN}rounds/<slug:phase>/<int:iteration>/<int:number>",
        pages.turn_round,
        name="ui-round",
    ),
    path(f"{_TURN}<slug:part>", pages.turn_part, name="ui-turn-part"),
]
