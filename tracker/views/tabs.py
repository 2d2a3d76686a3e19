"""The tabs of a project's pages."""

from __future__ import annotations

from typing import Any


def project_tabs(key: str, here: str, items: int | None = None) -> list[dict[str, Any]]:
    """Returns the sections of a project; `here` is the one that is drawn."""
    sections = (
        ("items", "Items", f"/work/{key}"),
        ("overview", "Overview", f"/work/{key}/overview"),
        ("files", "Files", f"/work/{key}/files"),
        ("history", "History", f"/work/{key}/history"),
    )
    return [
        {
            "label": label,
            "url": url,
            "here": name == here,
            "count": items if name == "items" else None,
        }
        for name, label, url in sections
    ]
