"""Addresses of the company below /api/v1/."""

from __future__ import annotations

from django.urls import path, re_path

from orgs.api.config import (
    ConfigView,
    RevisionDiffView,
    RevisionsView,
    RevisionView,
    SchemaView,
)
from orgs.api.config_parts import (
    EntityView,
    ReferencesView,
    ReloadView,
    RevertView,
    ValidateView,
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
    path(
        "config/revisions/<uuid:revision_id>/revert",
        RevertView.as_view(),
        name="api-config-revert",
    ),
    path("config/reload", ReloadView.as_view(), name="api-config-reload"),
    path("config/validate", ValidateView.as_view(), name="api-config-validate"),
    path("config/references", ReferencesView.as_view(), name="api-config-references"),
    re_path(
        r"^config/(?P<kind>roles|units|llm-providers|mcp-servers)/(?P<address>[^/]+)$",
        EntityView.as_view(),
        name="api-config-entity",
    ),
    path("config/schema", SchemaView.as_view(), name="api-config-schema"),
]
