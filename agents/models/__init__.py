"""Tables of the runtime. Import from the submodules; nothing is re-exported."""

from __future__ import annotations

from agents.models import (  # noqa: F401
    budgets,
    colleagues,
    conversations,
    mail,
    memory,
    providers,
    seats,
    turns,
)
