"""Addresses of the company below /api/v1/."""

from __future__ import annotations

from django.urls import path

from orgs.api.config import (
    ConfigView,
    RevisionDiffView,
    RevisionsView,
    RevisionView,
    SchemaView,
)
from orgs.api.org import OrgView

company_routes = [
    path("org", OrgView.as_view(), name="api-org"),
    path("config", ConfigView.as_view(), name="api-config"),
    path("config/revisions", RevisionsView.as_view(), name="api-config-revisions"),
    path("config/revisions/<uuid:revision_id>", RevisionView.as_view(), name="api-config-revision"),
    path(
        "config/revisions/<uuid:revision_id>/diff",
        RevisionDiffView.as_view(),
        name="api-config-revision-diff",
    ),
    path("config/schema", SchemaView.as_view(), name="api-config-schema"),
]
