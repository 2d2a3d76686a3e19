"""Assembly of every address; each app owns its own below."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from crewlet.doors import form, mcp, rest
from crewlet.ops import views as ops

api: list[URLPattern | URLResolver] = [
    path("schema", SpectacularJSONAPIView.as_view(), name="api-schema"),
    *rest.act_urls(),
    path("", include("orgs.api.urls")),
    path("", include("agents.api.urls")),
    path("", include("tracker.api.urls")),
    path("", include("integrations.api.urls")),
    re_path("", rest.UnknownRouteView.as_view()),
]

urlpatterns = [
    path("health", ops.health, name="health"),
    path("ready", ops.ready, name="ready"),
    path("metrics", ops.metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("api/v1/", include(api)),
    path("", include(form.urlpatterns)),
    path("", include(mcp.urlpatterns)),
    path("", include("crewlet.console.urls")),
    path("", include("orgs.urls")),
    path("", include("agents.urls")),
    path("", include("tracker.urls")),
]

handler400 = "crewlet.console.views.bad_request"
handler403 = "crewlet.console.views.forbidden"
handler404 = "crewlet.console.views.not_found"
handler500 = "crewlet.console.views.broken"
