"""Addresses of the frame."""

from __future__ import annotations

from django.urls import path

from crewlet.console import palette, peek, settings_pages, stars, views

urlpatterns = [
    path("", views.home, name="home"),
    path("home", views.home),
    path("settings", settings_pages.settings, name="settings"),
    path("settings/<slug:key>", settings_pages.settings_section, name="settings-section"),
    path("ui/settings/<slug:key>", settings_pages.settings_body, name="ui-settings-section"),
    path("kit", views.kit, name="kit"),
    path("ui/home/line", views.home_line, name="ui-home-line"),
    path("ui/home/<slug:key>", views.home_panel, name="ui-home-panel"),
    path("ui/sidebar", views.sidebar, name="ui-sidebar"),
    path("ui/health", views.health, name="ui-health"),
    path("ui/peek/<slug:kind>/<path:ident>", peek.peek, name="ui-peek"),
    path("ui/star/<slug:kind>/<path:ident>", stars.star, name="ui-star"),
    path("ui/palette", palette.palette, name="ui-palette"),
]
