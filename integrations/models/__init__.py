"""The tables of what stands outside, by noun."""

from __future__ import annotations

from integrations.models import mcp  # noqa: F401
