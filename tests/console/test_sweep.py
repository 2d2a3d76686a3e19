"""The sweep of the browser ring visits every page there is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.urls import resolve

from tests.browser.test_pages import paths
from tests.console.routes import pages

# Pages that the sweep leaves out, and why.
LEFT_OUT = {
    "settings": "answers with the way to its first section",
}


class Anything:
    """A stage on which everything that a path may name is there."""

    unit = "engineering"
    event = revision = uuid4()

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(id=uuid4(), key="ENG-1")


@pytest.mark.covers("UI-100")
def test_the_sweep_visits_every_page_of_the_site() -> None:
    """A new page is in the sweep of faults, or its reason to stay out is here."""
    site: Any = SimpleNamespace(stage=Anything())
    visited = {resolve(path.partition("?")[0]).url_name for path in paths(site)}
    known = {route.name for route in pages() if route.name}
    missing = known - visited - set(LEFT_OUT)
    assert not missing, f"add them to paths() of tests/browser/test_pages.py: {sorted(missing)}"
    assert set(LEFT_OUT) <= known, "a page that is gone needs no reason"
