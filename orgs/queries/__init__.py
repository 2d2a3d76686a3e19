"""What the organization is asked; nothing here writes."""

from __future__ import annotations
