"""Addresses of this app below /api/v1/."""

from __future__ import annotations

from orgs.api.me import me_routes
from orgs.api.routes import company_routes

urlpatterns = [*company_routes, *me_routes]
