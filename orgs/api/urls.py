"""Addresses of this app below /api/v1/."""

from __future__ import annotations

from orgs.api.audit import audit_routes
from orgs.api.me import me_routes
from orgs.api.routes import company_routes
from orgs.api.setup import setup_routes

urlpatterns = [*company_routes, *audit_routes, *me_routes, *setup_routes]
