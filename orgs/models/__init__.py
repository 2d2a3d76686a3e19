"""Tables of the organization. Import from the submodules; nothing is re-exported."""

from __future__ import annotations

from orgs.models import company, notices, outbound, people, preferences, seats  # noqa: F401
