"""A part that fails says so in its own place, and what the parts of Home say agrees."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.http import QueryDict

from crewlet.console import frame as frame_module
from crewlet.console import palette, views
from crewlet.console.readings import once, one_reading
from crewlet.console.registries import (
    HomePanel,
    NavRow,
    PaletteRow,
    PaletteSource,
    SidebarGroup,
)
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Unavailable
from crewlet.kernel.registry import Registry
from tests.console.conftest import HEALTH, Draw


def refusing(*asked: Any) -> Any:
    raise Unavailable("The shelf is being tidied.")


def broken(*asked: Any) -> Any:
    raise KeyError("a fault of ours")


@pytest.mark.covers("UI-59")
def test_a_sidebar_group_that_fails_says_so_and_the_others_stand(
    draw: Draw, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A refusal in its words, a fault of ours in the log and not on screen."""
    row = {"chip": "ENG", "label": "Engineering", "url": "/work/ENG", "figure": 3, "words": "open"}
    groups: Registry[SidebarGroup] = Registry("groups of a test")
    groups.register("shelf", SidebarGroup("Shelf", 10, refusing))
    groups.register("fault", SidebarGroup("Fault", 20, broken))
    groups.register("projects", SidebarGroup("Projects", 30, lambda actor: [row]))
    monkeypatch.setattr(frame_module, "GROUPS", groups)
    nav: Registry[NavRow] = Registry("rows of a test")
    nav.register("live", NavRow("Live", "activity", "/live", 10, broken))
    monkeypatch.setattr(frame_module, "NAV", nav)
    answer = draw("/kit")
    html = answer.content.decode()
    assert answer.status_code == 200
    assert "The shelf is being tidied. (<code>unavailable</code>)" in html
    assert "(<code>internal</code>)" in html
    assert "a fault of ours" not in html
    assert html.count('data-do="retry"') == 2
    assert 'href="/work/ENG"' in html
    assert 'href="/live"' in html
    assert [record.part for record in caplog.records if record.message == "part_failed"] == [  # type: ignore[attr-defined]
        "nav:live", "sidebar:fault",
    ]  # fmt: skip


def test_a_lost_database_is_not_the_failure_of_one_part(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(actor: Actor) -> Any:
        raise OperationalError("the server closed the connection")

    groups: Registry[SidebarGroup] = Registry("groups of a test")
    groups.register("shelf", SidebarGroup("Shelf", 10, away))
    monkeypatch.setattr(frame_module, "GROUPS", groups)
    with pytest.raises(OperationalError):
        draw("/kit")


@pytest.mark.covers("UI-59")
def test_a_palette_source_that_breaks_says_so_and_can_be_asked_again(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources: Registry[PaletteSource] = Registry("sources of a test")
    sources.register("items", PaletteSource("Items", 10, broken, "#"))
    sources.register(
        "agents",
        PaletteSource("Agents", 20, lambda actor, text: [PaletteRow("Edith", "/e", "bot")], "@"),
    )
    monkeypatch.setattr(palette, "PALETTE_SOURCES", sources)
    html = draw("/ui/palette?q=ed").content.decode()
    assert "<code>internal</code>" in html
    assert html.count("data-again") == 1
    assert "Try again" in html
    assert 'data-href="/e"' in html


@pytest.mark.covers("UI-59")
def test_a_panel_of_home_that_fails_leaves_the_others(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its own region, so that trying again reads it alone."""

    def fine(actor: Actor, query: QueryDict) -> dict[str, Any]:
        return {"title": "All is well"}

    panels: Registry[HomePanel] = Registry("panels of a test")
    panels.register("shelf", HomePanel("ui/blank.html", refusing, 10, "work"))
    panels.register("fine", HomePanel("ui/blank.html", fine, 20, "work"))
    monkeypatch.setattr(views, "HOME_PANELS", panels)
    html = draw("/").content.decode()
    shelf = html.split('id="home-shelf"')[1].split("</section>")[0]
    assert 'data-src="/ui/home/shelf"' in shelf
    assert "The shelf is being tidied." in shelf
    assert "Try again" in shelf
    assert "All is well" in html


@pytest.mark.covers("UI-40")
def test_trouble_of_the_engine_is_the_sentence_of_home_and_the_rest_stands(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = draw("/ui/home/line").content.decode()
    assert "agents are working" in said
    trouble = {
        **HEALTH,
        "state": "stop",
        "title": "No worker",
        "detail": "Mail waits.",
        "activity": "stopped",
    }
    monkeypatch.setattr(frame_module.Frame, "health", trouble)
    html = draw("/").content.decode()
    line = html.split('class="say">')[1].split("</p>")[0]
    assert line == "No worker. Mail waits."
    assert '<h2>Working</h2><p class="big num">4' in html


@pytest.mark.covers("UI-40")
def test_the_sentence_and_the_tile_of_home_come_from_one_read(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that starts in between cannot make them disagree."""
    from agents.views import home, panels
    from tests.console import samples

    reads = []

    def counted(actor: Actor) -> list[dict[str, Any]]:
        reads.append(actor)
        rows = samples.seat_rows()
        return rows if len(reads) == 1 else [row | {"activity": "idle"} for row in rows]

    monkeypatch.setattr(home, "seat_rows", counted)
    monkeypatch.setattr(panels, "seat_rows", counted)
    html = draw("/").content.decode()
    assert "Four agents are working" in html
    assert '<h2>Working</h2><p class="big num">4' in html
    assert len(reads) == 1


def test_a_reading_ends_with_its_page() -> None:
    answers = iter((1, 2, 3, 4))
    with one_reading():
        assert [once("a", lambda: next(answers)) for _ in range(2)] == [1, 1]
    with one_reading():
        assert once("a", lambda: next(answers)) == 2
    assert [once("a", lambda: next(answers)) for _ in range(2)] == [3, 4]
