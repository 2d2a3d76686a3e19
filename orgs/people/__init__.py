"""Who signs in and how a credential becomes an actor."""

from __future__ import annotations
