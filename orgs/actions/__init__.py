"""The verbs of the organization."""

from __future__ import annotations
