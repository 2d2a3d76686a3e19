"""Addresses of the frame."""

from __future__ import annotations

from django.urls import path

from crewlet.console import views

urlpatterns = [
    path("", views.home, name="home"),
    path("home", views.home),
    path("settings", views.settings, name="settings"),
    path("kit", views.kit, name="kit"),
    path("ui/home/line", views.home_line, name="ui-home-line"),
    path("ui/home/<slug:key>", views.home_panel, name="ui-home-panel"),
    path("ui/sidebar", views.sidebar, name="ui-sidebar"),
    path("ui/health", views.health, name="ui-health"),
    path("ui/palette", views.palette, name="ui-palette"),
]
