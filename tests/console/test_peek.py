"""The rail beside a page: drawn with it, alone, and with a failure of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from crewlet.console.registries import Peek
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import NotFound
from crewlet.kernel.registry import Registry
from tests.console.conftest import Draw


@pytest.fixture(autouse=True)
def lamps(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kind to peek at: lamps, of which there is one."""

    def context(actor: Actor, ident: str) -> Mapping[str, Any]:
        if ident != "red/1":
            raise NotFound(f"There is no lamp {ident}.")
        return {"title": "The red lamp", "text": f"Seen by {actor.name}"}

    peeks: Registry[Peek] = Registry("peeks of a test")
    peeks.register("lamp", Peek("ui/blank.html", context, lambda ident: f"/lamps/{ident}"))
    monkeypatch.setattr("crewlet.console.peek.PEEKS", peeks)


@pytest.mark.covers("UI-8")
def test_an_address_with_a_peek_draws_the_page_and_the_rail(draw: Draw) -> None:
    html = draw("/kit?sort=seat&peek=lamp:red/1").content.decode()
    assert "<h1>Kit</h1>" in html
    assert "The red lamp" in html
    assert 'href="/lamps/red/1"' in html
    assert 'href="/kit?sort=seat" data-do="peek-close"' in html, "without a script it closes too"
    assert 'data-ref="lamp:red/1"' in html


def test_without_one_the_rail_is_there_but_hidden(draw: Draw) -> None:
    html = draw("/kit").content.decode()
    assert 'id="peek" aria-label="Peek" hidden' in html


@pytest.mark.covers("UI-8")
def test_the_rail_alone_is_what_the_page_draws_in_it(draw: Draw) -> None:
    part = draw("/ui/peek/lamp/red/1").content.decode().strip()
    assert part.startswith('<div class="peek-in" id="peek-in"')
    assert part in draw("/kit?peek=lamp:red/1").content.decode()


@pytest.mark.covers("UI-59")
@pytest.mark.parametrize("ref", ["lamp:blue", "page:1", "lamp", "lamp:", ":", "<b>:x"])
def test_what_is_not_there_fails_in_the_rail_and_the_page_stands(draw: Draw, ref: str) -> None:
    response = draw(f"/kit?peek={ref}")
    html = response.content.decode()
    assert response.status_code == 200
    assert "<h1>Kit</h1>" in html
    assert "This part could not be read" in html
    assert "Try again" in html
    assert "<b>:x" not in html


def test_the_fragment_of_what_is_not_there_is_not_found(draw: Draw) -> None:
    with pytest.raises(NotFound, match="no lamp blue"):
        draw("/ui/peek/lamp/blue")
    with pytest.raises(NotFound, match="page:1"):
        draw("/ui/peek/page/1")
