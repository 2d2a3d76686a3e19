"""The addresses of this app under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from integrations.api.tools import ToolsView

urlpatterns = [path("tools", ToolsView.as_view(), name="tools")]
