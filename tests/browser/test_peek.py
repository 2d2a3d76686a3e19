"""The rail beside a page, the palette's memory and the keys, in a browser.

The kinds that stand in a rail are other apps' own, so the rail's answers are given here.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Site
from tests.browser.visit import settle

# Marks the links of the list as links to something that can be peeked at.
MARK = """() => document.querySelectorAll('main .grid td:first-child a').forEach((link, index) => {
  link.dataset.peek = `lamp:${index + 1}`; })"""
CURRENT = "() => document.querySelectorAll('main .grid tr[aria-current=true]').length"
LIVE_BINDINGS = """async () => {
  const { KEYS } = await import('/static/js/keys.js');
  const rows = KEYS.flatMap(([, each]) => each);
  const live = rows.filter((row) => row.run && (!row.when || row.when()));
  const presses = live.map((row) => row.keys);
  return presses.filter((press, index) => presses.indexOf(press) !== index);
}"""


def answer(route: Route) -> None:
    """Draws a lamp, but for the third, which is broken."""
    ident = route.request.url.rsplit("/", 1)[1]
    if ident == "3":
        body = '<div class="blank"><b>No</b><p>The third lamp is out.</p></div>'
        route.fulfill(status=404, content_type="text/html", body=body)
        return
    body = (
        f'<div class="peek-in" id="peek-in" data-live="" data-src="/ui/peek/lamp/{ident}">'
        f"<h2>Lamp {ident}</h2></div>"
    )
    route.fulfill(content_type="text/html", body=body)


def list_of_lamps(site: Site, width: int = 1440) -> Page:
    """Opens the list of work with every row marked."""
    page = site.open("/work", width)
    page.route("**/ui/peek/**", answer)
    page.evaluate(MARK)
    return page


@pytest.mark.covers("UI-8", "UI-28")
def test_a_click_peeks_steps_replace_and_back_closes(site: Site) -> None:
    page = list_of_lamps(site)
    page.locator(".grid td:first-child a").first.click()
    expect(page.locator("#peek h2")).to_have_text("Lamp 1")
    assert "peek=lamp%3A1" in page.url
    assert page.evaluate(CURRENT) == 1
    page.keyboard.press("]")
    expect(page.locator("#peek h2")).to_have_text("Lamp 2")
    page.keyboard.press("[")
    expect(page.locator("#peek h2")).to_have_text("Lamp 1")
    page.go_back()
    expect(page.locator("#peek")).to_be_hidden()
    assert page.url.endswith("/work"), "steps replaced the entry that opening pushed"
    assert page.evaluate(CURRENT) == 0


@pytest.mark.covers("UI-8")
def test_escape_closes_the_rail_and_the_focus_stays_on_the_row(site: Site) -> None:
    page = list_of_lamps(site)
    page.locator(".grid td:first-child a").nth(1).focus()
    page.keyboard.press("Space")
    expect(page.locator("#peek h2")).to_have_text("Lamp 2")
    page.keyboard.press("Escape")
    expect(page.locator("#peek")).to_be_hidden()
    assert "peek" not in page.url
    assert page.evaluate("document.activeElement.dataset.peek") == "lamp:2"


@pytest.mark.covers("UI-8")
def test_a_modified_click_opens_the_page_instead(site: Site) -> None:
    page = list_of_lamps(site)
    with page.context.expect_page() as opened:
        page.locator(".grid td:first-child a").first.click(modifiers=["Control"])
    assert "/work/" in opened.value.url
    expect(page.locator("#peek")).to_be_hidden()


@pytest.mark.covers("UI-59")
def test_a_rail_that_fails_says_so_with_a_way_to_try_again(site: Site) -> None:
    page = list_of_lamps(site)
    page.locator(".grid td:first-child a").nth(2).click()
    expect(page.locator("#peek")).to_contain_text("The third lamp is out.")
    with page.expect_request("**/ui/peek/lamp/3"):
        page.locator("#peek [data-do=retry]").click()
    expect(page.locator(".grid td").first).to_be_visible()


@pytest.mark.covers("UI-8")
def test_the_list_keeps_its_width_or_the_rail_lies_over_it(site: Site) -> None:
    page = list_of_lamps(site, 1160)
    page.locator(".grid td:first-child a").first.click()
    expect(page.locator("#peek h2")).to_be_visible()
    box = page.locator("#main").bounding_box()
    assert box
    assert box["width"] >= 444
    page.set_viewport_size({"width": 1024, "height": 900})
    before = page.locator("#main").bounding_box()
    page.keyboard.press("Escape")
    expect(page.locator("#peek")).to_be_hidden()
    assert page.locator("#main").bounding_box() == before, "a drawer takes nothing from the list"


@pytest.mark.covers("UI-59")
def test_a_part_that_fails_says_so_and_comes_back(site: Site) -> None:
    """Over what was last known, and the rest of the page stands."""
    page = site.open("/agents")
    region = page.locator("main [data-live][id]").first
    name = region.get_attribute("id")
    source = region.get_attribute("data-src") or ""
    page.route(f"**{source}", lambda route: route.fulfill(status=503, body="<p></p>"))
    page.evaluate("async (id) => (await import('/static/js/live.js')).refetch(id)", name)
    failed = page.locator(f"#{name} [data-failed]")
    expect(failed).to_contain_text("could not be read again")
    expect(page.locator("#side-nav")).to_be_visible()
    page.unroute(f"**{source}")
    failed.locator("[data-do=retry]").click()
    expect(failed).to_have_count(0)


@pytest.mark.covers("UI-12")
def test_no_press_has_two_live_bindings(site: Site) -> None:
    page = site.open("/work")
    for path in ("/work", "/work/ENG", "/agents", f"/work/{site.stage.asked.key}", "/settings/you"):
        page.goto(path)
        settle(page)
        assert page.evaluate(LIVE_BINDINGS) == [], path


@pytest.mark.covers("UI-12")
def test_digits_open_tabs(site: Site) -> None:
    page = site.open("/agents")
    tabs = page.locator(".tabs a")
    if tabs.count() < 2:
        page.goto("/work/ENG")
        settle(page)
    second = tabs.nth(1).get_attribute("href") or ""
    with page.expect_navigation():
        page.keyboard.press("2")
    assert page.url.endswith(second)


@pytest.mark.covers("UI-13")
def test_the_empty_palette_remembers_where_the_reader_was(site: Site) -> None:
    page = site.open("/agents")
    page.goto("/inbox")
    settle(page)
    page.keyboard.press("Control+k")
    recent = page.locator("#po-recent-0")
    expect(recent).to_contain_text("Agents")
    with page.expect_navigation():
        recent.click()
    assert page.url.endswith("/agents")


@pytest.mark.covers("UI-13")
def test_the_palette_says_when_it_is_refused_and_when_a_word_is_short(site: Site) -> None:
    page = site.open("/inbox")
    page.keyboard.press("Control+k")
    page.fill("#pal-q", "e")
    expect(page.locator("#pal-list")).to_contain_text("at least two letters")
    page.route(
        "**/ui/palette?*",
        lambda route: route.fulfill(status=403, body="<p>You may not search here.</p>"),
    )
    page.fill("#pal-q", "edith")
    expect(page.locator("#pal-list")).to_contain_text("You may not search here.")


@pytest.mark.covers("UI-13")
def test_an_act_of_the_palette_acts(site: Site) -> None:
    page = site.open("/inbox")
    page.keyboard.press("Control+k")
    page.fill("#pal-q", ">dark")
    expect(page.locator("[data-run=theme-dark]")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#palette")).to_be_hidden()
