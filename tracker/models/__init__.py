"""Tables of the tracker. Import from the submodules; nothing is re-exported."""

from __future__ import annotations

from tracker.models import (  # noqa: F401
    comments,
    files,
    history,
    items,
    projects,
    removal,
    spend,
    tags,
)
