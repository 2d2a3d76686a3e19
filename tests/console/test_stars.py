"""The star in the bar: on every page of an object, for people, live in the sidebar."""

from __future__ import annotations

import pytest
from django.test import Client

from crewlet.console.registries import OBJECT_PAGES
from crewlet.kernel.refs import REF_KINDS, label_of, url_of
from orgs import epochs
from orgs.models.people import Person
from tests.console.conftest import Draw
from tests.console.routes import pages

# What varies in these addresses is a section of the workspace, or a thread through many objects.
NO_OBJECT = {"settings-section", "me-section", "live-trace"}


@pytest.mark.covers("UI-7")
def test_every_page_of_an_object_says_which_object_it_is() -> None:
    about = {route.name: route.varies for route in pages() if route.varies}
    assert set(about) - NO_OBJECT == set(OBJECT_PAGES), "register the page in OBJECT_PAGES"
    for name, page in OBJECT_PAGES.items():
        assert page.part in about[name]
        assert page.kind in REF_KINDS, f"a {page.kind} cannot be starred: it is no kind of ref"


@pytest.mark.covers("UI-7", "UI-1")
def test_a_seat_is_starred_from_its_page_and_stands_in_the_sidebar(browser: Client) -> None:
    """Pressed it says so, and pressed again it is gone."""
    page = browser.get("/agents/seats/agent-swe").content.decode()
    assert 'action="/act/star"' in page
    assert 'aria-pressed="false" aria-label="Star this seat"' in page
    assert "Starred" not in browser.get("/ui/sidebar?path=/").content.decode()
    form = {"ref": "seat:agent-swe", "op_id": "press-1"}
    assert browser.post("/act/star", form).status_code == 303
    beside = browser.get("/ui/sidebar?path=/").content.decode()
    assert 'aria-label="Starred"' in beside
    assert 'href="/agents/seats/agent-swe"' in beside
    star = browser.get("/ui/star/seat/agent-swe").content.decode()
    assert 'action="/act/unstar"' in star
    assert 'aria-pressed="true"' in star
    assert browser.post("/act/unstar", form | {"op_id": "press-2"}).status_code == 303
    assert "Starred" not in browser.get("/ui/sidebar?path=/").content.decode()


def test_a_list_has_no_star_and_what_is_not_there_has_none_either(browser: Client) -> None:
    for path in ("/work", "/agents", "/work/ENG-999", "/agents/seats/nobody"):
        assert 'id="bar-star"' not in browser.get(path).content.decode(), path
    assert 'id="bar-star"' in browser.get("/work/eng").content.decode()
    assert browser.get("/ui/star/comet/halley").status_code == 404


@pytest.mark.covers("UI-25")
def test_who_is_no_person_sees_the_star_with_the_reason(draw: Draw) -> None:
    html = draw("/work/ENG-142").content.decode()
    assert 'aria-disabled="true" aria-label="Star this item"' in html
    assert "Stars are kept for people" in html
    assert 'action="/act/star"' not in html


@pytest.mark.covers("UI-1")
def test_the_sidebar_hears_of_its_readers_stars(browser: Client, ana: Person) -> None:
    """The topic that a star tells is one that the group listens to."""
    nav = browser.get("/ui/sidebar?path=/").content.decode()
    assert f"inbox:{ana.login}" in nav.split('data-live="')[1].split('"')[0].split()


def test_seats_units_turns_and_events_are_references(ana: Person) -> None:
    """A reference that names nothing opens nothing and is called by its id."""
    assert (label_of("seat:ana"), url_of("seat:ana")) == ("Ana", "/agents/seats/ana")
    unit = next(iter(epochs.active().chart.units.values()))
    assert (label_of(f"unit:{unit.key}"), url_of(f"unit:{unit.key}")) == (
        unit.name,
        f"/agents/teams/{unit.key}",
    )
    lost = "01990000-0000-7000-8000-00000000dead"
    for ref in ("seat:nobody", "unit:nowhere", "turn:nothing", f"event:{lost}", "event:nothing"):
        kind, ident = ref.split(":")
        assert not REF_KINDS[kind].exists(ident), ref
        assert (label_of(ref), url_of(ref)) == (ident, ""), ref
