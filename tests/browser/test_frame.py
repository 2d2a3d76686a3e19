"""The frame in a browser: the star, the rail's width, rows taken together, acts of the palette."""

from __future__ import annotations

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.browser.conftest import Site
from tests.browser.visit import settle
from tests.support.until import until
from tracker.models.comments import Comment
from tracker.models.items import WorkItem

WIDTH = "() => Math.round(document.querySelector('#peek').getBoundingClientRect().width)"
LIST = "() => document.querySelector('#main').getBoundingClientRect().width"
# Counts what is drawn again in the list and in the rail from now on.
WATCH = """() => { window.__redrawn = 0;
  for (const place of ['#main', '.peek-b']) {
    new MutationObserver((all) => { window.__redrawn += all.length; })
      .observe(document.querySelector(place), { childList: true, subtree: true });
  } }"""


def peeking(site: Site, width: int = 1600) -> Page:
    """Opens the list of work with the first item in the rail."""
    page = site.open("/work", width)
    page.locator(".grid td:first-child a").first.click()
    expect(page.locator("#peek h2")).to_be_visible()
    return page


@pytest.mark.covers("UI-8")
def test_the_rail_is_dragged_and_set_by_keys_and_remembers(site: Site) -> None:
    """330 to 640, and nothing is drawn again."""
    page = peeking(site)
    assert page.evaluate(WIDTH) == 420
    page.evaluate(WATCH)
    box = page.locator("#peek-grip").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + 200
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    page.mouse.up()
    assert page.evaluate(WIDTH) == 480
    page.keyboard.press("ArrowRight")
    assert page.evaluate(WIDTH) == 464
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#peek-grip")).to_have_attribute("aria-valuenow", "480")
    assert page.evaluate("window.__redrawn") == 0
    page.reload()
    settle(page)
    assert page.evaluate(WIDTH) == 480, "this browser remembers"
    page.locator("#peek-grip").focus()
    page.keyboard.press("Home")
    assert page.evaluate(WIDTH) == 330
    page.keyboard.press("End")
    assert page.evaluate(WIDTH) == 640


@pytest.mark.covers("UI-8")
def test_a_wide_rail_leaves_the_list_its_width(site: Site) -> None:
    """However wide it was made, a column keeps 444 px for the list."""
    page = peeking(site, 1200)
    page.locator("#peek-grip").focus()
    page.keyboard.press("End")
    assert page.evaluate(LIST) >= 444
    assert page.evaluate(WIDTH) < 640


@pytest.mark.covers("UI-12")
def test_rows_are_taken_together_and_survive_a_redraw(site: Site) -> None:
    page = site.open("/work")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    rows = page.locator(".grid td:first-child a")
    bar = page.locator("#picked")
    expect(bar).to_be_hidden()
    page.keyboard.press("x")
    expect(bar).to_be_hidden()
    for at in (0, 1):
        rows.nth(at).focus()
        page.keyboard.press("x")
    expect(bar).to_contain_text("2 selected")
    keys = [(rows.nth(at).get_attribute("data-peek") or "").partition(":")[2] for at in (0, 1)]
    page.evaluate("async () => (await import('/static/js/live.js')).everything()")
    expect(page.locator("tr[data-picked]")).to_have_count(2)
    bar.get_by_text("Copy keys").click()
    expect(page.locator("#toasts")).to_contain_text("2 keys copied")
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(keys)
    rows.nth(1).focus()
    page.keyboard.press("x")
    expect(bar).to_contain_text("1 selected")
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(page.locator("[data-picked]")).to_have_count(0)


@pytest.mark.covers("UI-7", "UI-1")
def test_a_star_is_pressed_and_the_sidebar_follows(site: Site) -> None:
    """Confirmed, without a reload."""
    page = site.open("/agents/seats/agent-swe")
    page.evaluate("window.__same = true")
    star = page.locator("#bar-star button")
    expect(star).to_have_attribute("aria-pressed", "false")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    kept = page.locator("#side-nav nav[aria-label=Starred] a")
    expect(kept).to_have_attribute("href", "/agents/seats/agent-swe")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "false")
    expect(kept).to_have_count(0)
    assert page.evaluate("window.__same"), "the page was never left"


@pytest.mark.covers("UI-15")
def test_the_palette_acts_on_the_open_item_and_waits_for_the_answer(site: Site) -> None:
    """By the row's own press; a refusal stands in the palette, which stays."""
    item = site.stage.todo[2]
    page = site.open(f"/work/{item.key}")
    page.keyboard.press("Control+k")
    page.fill("#pal-q", "zzz")
    expect(page.locator("[data-press='alt+a']")).to_contain_text("exactly one agent")
    page.keyboard.press("Alt+a")
    expect(page.locator(".pal-say")).to_contain_text("exactly one agent")
    expect(page.locator("#palette")).to_be_visible()
    page.fill("#pal-q", "qa")
    expect(page.locator("[data-press='alt+a']")).to_contain_text(f"Assign {item.key} to")
    page.route("**/act/update_work_item", lambda route: route.fulfill(status=503))
    page.keyboard.press("Alt+a")
    expect(page.locator(".pal-say")).to_contain_text("Nobody knows yet")
    expect(page.locator("#palette")).to_be_visible()
    page.unroute("**/act/update_work_item")
    page.keyboard.press("Alt+a")
    expect(page.locator("#palette")).to_be_hidden()
    found = WorkItem.objects.get(pk=item.pk)
    assert found.assignee
    assert found.assignee.handle == "qa"
    page.keyboard.press("Control+k")
    page.fill("#pal-q", "qa is the manual long?")
    expect(page.locator("[data-press='mod+Enter']")).to_contain_text("is the manual long?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#palette")).to_be_hidden()
    assert Comment.objects.filter(item=item, body="is the manual long?").count() == 1


@pytest.mark.covers("UI-15")
def test_an_item_created_from_the_palette_opens(site: Site) -> None:
    page = site.open("/work/ENG")
    page.keyboard.press("Control+k")
    page.fill("#pal-q", "Polish the lens")
    expect(page.locator("[data-press='alt+c']")).to_contain_text("Polish the lens")
    with page.expect_navigation():
        page.keyboard.press("Alt+c")
    made = WorkItem.objects.get(title="Polish the lens")
    assert page.url.endswith(f"/work/{made.key}")
    assert made.project.key == "ENG"


TABS = """() => ({ out: document.querySelectorAll('nav.tabs > a').length,
  wide: [...document.querySelectorAll('nav.tabs')].every(e => e.scrollWidth <= e.clientWidth) })"""


@pytest.mark.covers("UI-7")
def test_tabs_that_do_not_fit_stand_in_more_and_the_current_one_stays(site: Site) -> None:
    page = site.open("/agents/seats/agent-swe?tab=settings", 320)
    before = page.evaluate(TABS)
    assert before["wide"]
    assert before["out"] < 5
    expect(page.locator("nav.tabs > a[aria-current=page]")).to_have_text("Settings")
    page.click("nav.tabs summary")
    page.locator("nav.tabs .menu a").last.click()
    page.wait_for_url("**/agents/seats/agent-swe?tab=*")
    expect(page.locator("nav.tabs > a[aria-current=page]")).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.locator("nav.tabs summary")).to_have_count(0)
    assert page.evaluate(TABS) == {"out": 5, "wide": True}


@pytest.mark.covers("UI-7", "UI-10")
def test_copy_link_takes_the_view_as_it_is_narrowed(site: Site) -> None:
    page = site.open("/live/turns?failed=false&still=1")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click(".bar [aria-label='Copy link']")
    expect(page.locator("#toasts")).to_have_text("Link copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("/live/turns?failed=false&still=1")


@pytest.mark.covers("UI-10")
def test_a_section_is_a_step_back_a_filter_is_none_and_the_scroll_is_kept(site: Site) -> None:
    page = site.open("/live")
    page.set_viewport_size({"width": 1440, "height": 360})
    page.evaluate("document.querySelector('#main').scrollTop = 120")
    # Where the mouse pressed, the page would first be scrolled back to the tabs.
    page.locator("nav.tabs a:has-text('Turns')").evaluate("tab => tab.click()")
    page.wait_for_url("**/live/turns")
    for failed in ("false", "true"):
        page.select_option("#f-failed", failed)
        page.click(".filters button")
        page.wait_for_url(f"**/live/turns?*failed={failed}*")
    page.go_back()
    page.wait_for_url("**/live")
    page.wait_for_function("() => document.querySelector('#main').scrollTop === 120")


@pytest.mark.covers("UI-10")
def test_text_not_sent_yet_is_not_left_behind_unasked(site: Site) -> None:
    page = site.open("/work/new?project=OPS")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.reload()
    assert asked == [], "nothing was written"
    page.fill("#n-title", "Count the boxes")
    page.locator("#side a:has-text('Spend')").click()
    until(lambda: page.evaluate("1") and asked, 5, what="the question")
    assert asked == ["beforeunload"]
    assert page.url.endswith("/work/new?project=OPS")
    page.focus("#n-title")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/work/OPS-*")
    assert len(asked) == 1, "what is filed is no longer unsaved"
