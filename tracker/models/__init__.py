"""Tables of the tracker. Import from the submodules; nothing is re-exported."""

from __future__ import annotations

from tracker.models import comments, files, history, items, projects, spend  # noqa: F401
