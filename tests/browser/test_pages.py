"""Every page in both themes at three widths: reachable, named, inside its window, policy kept."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Site
from tests.browser.stage import TRACE
from tests.browser.visit import settle

NARROW, REFLOW = 390, 320

AXE = (Path(__file__).parent / "axe.min.js").read_text("utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN_AXE = """async (tags) => {
  const found = await axe.run(document, {runOnly: {type: 'tag', values: tags}});
  return found.violations.map(v => `${v.id}: ${v.nodes.map(n => n.target.join(' ')).join(' | ')}`);
}"""
LEAST_TARGET = """() => [...document.querySelectorAll('main a, main button, .bar button, .side a')]
  .filter(e => e.offsetParent && !e.closest('p, .prose, .sub, td, li, h2, .seat-l2, dd'))
  .map(e => [e, e.getBoundingClientRect()])
  .filter(([, b]) => b.width && (b.width < 23.5 || b.height < 23.5))
  .map(([e]) => e.outerHTML.slice(0, 90))"""

SIDEWAYS = """() => [
  ...(document.documentElement.scrollWidth > innerWidth ? ['the document'] : []),
  ...[...document.querySelectorAll('main')].filter(e => !e.closest('[data-shape=board]'))
    .filter(e => e.scrollWidth > e.clientWidth + 1).map(() => 'main'),
]"""


def paths(site: Site) -> list[str]:
    """Returns the address of every page."""
    stage = site.stage
    return [
        "/", "/inbox", "/agents", "/agents/seats/agent-swe", "/agents/seats/ana", "/live",
        f"/live/turns/{stage.running.id}", f"/live/turns/{stage.ended.id}", "/work", "/work/ENG",
        "/work/projects", "/work/ENG/files", f"/work/{stage.asked.key}", "/work/new",
        "/work/trash", "/work/ENG/overview", "/work/ENG/history", "/me", "/spend",
        "/spend/budgets", "/agents/roster", "/agents/teams", "/live/turns", "/live/runs",
        "/live/a2a", "/live/events",
        "/settings/you", "/settings/general", "/settings/people", "/settings/config",
        "/settings/nodes", "/settings/audit", "/settings/models", "/settings/mcp-servers",
        "/settings/preferences",
        "/me/asked", f"/agents/teams/{stage.unit}", f"/live/events/{stage.event}",
        f"/live/traces/{TRACE}", "/agents/seats/agent-swe?tab=memory",
        f"/settings/config/{stage.revision}", "/work/search?q=lamp", "/kit", "/account",
    ]  # fmt: skip


def faults_of(site: Site, page: Page, width: int) -> list[str]:
    """Returns what is wrong with the page as it is drawn now; a visit answers every question."""
    found: list[str] = page.evaluate(RUN_AXE, RULES)
    found += [f"refused by the policy: {what}" for what in page.evaluate("window.__refused")]
    found += [f"script error: {error}" for error in site.script_errors]
    found += [f"small target: {what}" for what in page.evaluate(LEAST_TARGET)]
    found += sideways(page)
    if width == NARROW:
        page.set_viewport_size({"width": REFLOW, "height": 844})
        found += sideways(page)
        page.set_viewport_size({"width": NARROW, "height": 844})
    page.emulate_media(reduced_motion="reduce")
    if page.evaluate("document.getAnimations().length"):
        found.append("something moves for who asked for no motion")
    page.emulate_media(reduced_motion="no-preference")
    return found


def sideways(page: Page) -> list[str]:
    """Returns what is wider than the window: the document, or the region that holds the page."""
    return [
        f"{what} scrolls sideways at {page.viewport_size and page.viewport_size['width']}"
        for what in page.evaluate(SIDEWAYS)
    ]


@pytest.mark.covers("UI-9", "UI-23", "UI-100")
@pytest.mark.parametrize("width", [NARROW, 1024, 1440])
@pytest.mark.timeout(300)
def test_no_page_has_a_fault(site: Site, width: int) -> None:
    faults: dict[str, list[str]] = {}
    page = site.open("/?still=1", width)
    page.context.add_init_script(AXE)
    for path in paths(site):
        still = f"{path}{'&' if '?' in path else '?'}still=1"
        page.emulate_media(color_scheme="light")
        answer = page.goto(still, wait_until="domcontentloaded")
        assert answer is not None
        assert answer.status == HTTPStatus.OK, f"{path} answers {answer.status}"
        settle(page)
        faults[f"{path} in light"] = faults_of(site, page, width)
        # The system's theme changes under the open page. No colour may be on its way when it is
        # judged, so it changes without motion.
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        faults[f"{path} in dark"] = faults_of(site, page, width)
    found = [f"{where}: {what}" for where, all_ in faults.items() for what in all_]
    assert not found, "\n".join(found)


def test_pages_read_and_forms_write_without_a_script(site: Site) -> None:
    page = site.context(java_script_enabled=False).new_page()
    for path in paths(site):
        assert page.goto(path, wait_until="domcontentloaded"), path
        assert page.locator("main").inner_text().strip(), path
    page.goto(f"/work/{site.stage.asked.key}")
    page.fill("#com-in", "Written without a script")
    page.click("#composer button[type=submit]")
    assert page.url.endswith(f"/work/{site.stage.asked.key}")
    assert page.get_by_text("Written without a script").count() == 1


def test_an_unknown_address_is_a_page_that_names_it(site: Site) -> None:
    page = site.open("/work/ENG-9999")
    assert "ENG-9999" in page.locator("main").inner_text()
    assert page.locator(".side").count() == 1
