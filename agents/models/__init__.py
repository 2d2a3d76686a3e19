"""Tables of the runtime. Import from the submodules; nothing is re-exported."""

from __future__ import annotations

from agents.models import budgets, colleagues, mail, memory, seats, turns  # noqa: F401
