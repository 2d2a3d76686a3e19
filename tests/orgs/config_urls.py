"""Signing in and the API of the company, without the pages above it."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("orgs.api.urls")),
    path("", include("orgs.people.urls")),
]
