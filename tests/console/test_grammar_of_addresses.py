"""What the console is made of, read from its addresses.

A row of the sidebar is a workspace or a kept object; a section is a path; a tab is `?tab=`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import resolve

from crewlet.console import settings_pages
from crewlet.console.registries import NAV, OBJECT_PAGES, SETTINGS_SECTIONS, SettingsSection
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.registry import Registry
from tests.console.conftest import Draw, open_page
from tests.console.routes import Route, pages

# Pages that no workspace holds: the frame's own, opened from its foot or by name.
OUTSIDE = {"account", "kit"}
# Kept objects are rows of the sidebar, so they have sections of their own.
KEPT = {"project"}
# Pages that are neither a section nor an object: what is done there ends, or joins many objects.
TASKS = {"new-item", "work-search", "live-trace"}


def workspaces() -> dict[str, str]:
    """Returns the first piece of the path of each row, with the row's key; Home has none."""
    return {row.url.strip("/"): key for key, row in NAV.items()}


def workspace_of(route: Route) -> str:
    """Returns the first piece of a page's path."""
    first = route.parts[0] if route.parts else ""
    return "" if first == "home" else first


@pytest.mark.covers("UI-2")
def test_a_row_of_the_sidebar_is_a_plain_address_of_a_page() -> None:
    """A row is a workspace, never a section, a filter or a tab."""
    found = {route.path for route in pages()}
    for key, row in NAV.items():
        assert re.fullmatch(r"/[a-z]*", row.url), f"{key}: a row is one piece of a path"
        assert row.url.strip("/") in found, f"{key}: {row.url} is no page"
    assert len(workspaces()) == len(NAV), "two rows are one workspace"


@pytest.mark.covers("UI-2")
def test_every_page_lies_in_one_workspace() -> None:
    lost = {
        route.path
        for route in pages()
        if workspace_of(route) not in workspaces() and route.name not in OUTSIDE
    }
    assert not lost, f"no row of the sidebar leads to {sorted(lost)}"


@pytest.mark.covers("UI-2")
def test_an_object_is_one_address_and_its_tabs_are_not_paths() -> None:
    """An object's tab is `?tab=`; only a kept object has sections."""
    routes = pages()
    for route in routes:
        if route.name not in OBJECT_PAGES or route.name in KEPT:
            continue
        if OBJECT_PAGES[route.name].kind in KEPT:
            continue
        below = [other.path for other in routes if other.path.startswith(f"{route.path}/")]
        assert not below, f"{route.name}: {below} would be tabs of an object; use ?tab="


@pytest.mark.covers("UI-2")
def test_a_page_is_a_workspace_a_section_an_object_or_a_task_and_never_two() -> None:
    for route in pages():
        is_object = route.name in OBJECT_PAGES
        is_task = route.name in TASKS
        is_workspace = route.path in workspaces() or route.path == "home"
        is_section = not (is_object or is_task or is_workspace) and route.name not in OUTSIDE
        kinds = (is_object, is_task, is_workspace, is_section, route.name in OUTSIDE)
        assert sum(kinds) == 1, f"{route.path} is {kinds}"
        if is_section:
            assert len(route.parts) == 2, f"{route.path}: a section is the second piece of a path"


@pytest.mark.covers("UI-2")
def test_the_sections_of_a_workspace_are_the_tabs_of_its_header(browser: Client) -> None:
    """Each section is a tab on every page of its row, and a tab is never a query."""
    routes = pages()
    for key, row in NAV.items():
        inside = [r for r in routes if workspace_of(r) == row.url.strip("/")]
        known = [r for r in inside if r.name not in OBJECT_PAGES and r.name not in TASKS]
        sections = {f"/{route.path}" for route in known if not route.varies and route.parts}
        if key == "settings" or len(known) == 1:
            continue  # Settings draws a column; a workspace without sections draws no tabs
        tabs = tabs_of(browser, row.url)
        assert sections - {"/home"} <= set(tabs), f"{row.url} draws no tab for a section"
        for tab in tabs:
            assert "?" not in tab, f"{tab} on {row.url}: a section is a path"
            assert resolve(tab).url_name in {route.name for route in known}, tab


@pytest.mark.covers("UI-2")
def test_the_sections_of_a_kept_object_are_paths_below_it(browser: Client) -> None:
    below = {"/work/ENG/files"}
    assert below <= set(tabs_of(browser, "/work/ENG"))
    for tab in tabs_of(browser, "/work/ENG"):
        assert tab.startswith("/work/ENG"), tab


def tabs_of(browser: Client, path: str) -> list[str]:
    """Returns where the tabs of a page's header lead."""
    html = browser.get(path).content.decode()
    _, found, rest = html.partition('<nav class="tabs"')
    return re.findall(r'<a href="([^"]+)"', rest.split("</nav>")[0]) if found else []


@pytest.mark.covers("UI-4")
def test_a_section_of_settings_refuses_before_it_asks_anything(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row stays, with a key; the page is one sentence and a way to sign in."""

    def never(actor: Actor, query: QueryDict) -> Any:
        raise AssertionError("a section was read by who may not read it")

    locked: Registry[SettingsSection] = Registry("sections of a test")
    for key, section in SETTINGS_SECTIONS.items():
        context = section.context if section.grant is None else never
        locked.register(
            key,
            SettingsSection(
                section.title, section.order, section.template, context, section.group,
                section.icon, section.grant, section.topics,
            ),
        )  # fmt: skip
    monkeypatch.setattr(settings_pages, "SETTINGS_SECTIONS", locked)
    stranger = Actor(ActorKind.PERSON, "kim", "Kim Cho")
    guarded = [key for key, section in locked.items() if section.grant is not None]
    assert guarded
    for key in guarded:
        html = open_page(f"/settings/{key}", stranger).content.decode()
        column = html.split('class="set-nav"')[1].split("</nav>")[0]
        assert column.count("<li>") == len(locked), "no row is hidden"
        assert column.count("Not yours to read") == len(guarded)
        assert "This is not yours to read." in html
        assert f"<code>{locked[key].grant}</code>" in html
        assert "Sign in as somebody else" in html
        part = open_page(f"/ui/settings/{key}", stranger).content.decode()
        assert "This is not yours to read." in part
