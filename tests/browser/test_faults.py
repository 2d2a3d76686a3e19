"""What is easily got wrong: input methods, dead lines, stale tabs, mixed scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import Site
from tests.browser.visit import settle
from tests.support.until import until
from tests.tracker.company import comment, create, update
from tracker.models.comments import Comment
from tracker.models.items import WorkItem

PICK_THEN_SEND = """(field, mod) => {
  const press = (more) => field.dispatchEvent(new KeyboardEvent('keydown', {
    key: 'Enter', keyCode: 13, bubbles: true, cancelable: true, ctrlKey: mod, ...more }));
  field.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true }));
  press({ isComposing: true, keyCode: 229 });
  field.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true, data: '設計' }));
  press({ keyCode: 229 });
  press({});
}"""


def drag_to(page: Page, key: str, lane: str) -> dict[str, float]:
    """Takes a card up and carries it over a lane; returns where the pointer is."""
    box: Any = page.locator(f"#card-{key}").bounding_box()
    over: Any = page.locator(f".lane[data-lane={lane}]").bounding_box()
    place = {"x": over["x"] + 60, "y": over["y"] + 90}
    page.mouse.move(box["x"] + 60, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 40, steps=4)
    page.mouse.move(place["x"], place["y"], steps=10)
    return place


@pytest.mark.covers("UI-12")
def test_the_enter_that_picks_a_candidate_sends_nothing(site: Site) -> None:
    """An input method: one comment, and the palette goes nowhere before its Enter."""
    item = site.stage.asked
    page = site.open(f"/work/{item.key}")
    before = Comment.objects.count()
    page.fill("#com-in", "設計 is agreed")
    sent: list[str] = []
    page.on("request", lambda made: sent.append(made.url) if made.method == "POST" else None)
    page.locator("#com-in").evaluate(PICK_THEN_SEND, True)
    until(lambda: Comment.objects.count() == before + 1, 5, what="the comment")
    expect(page.locator("#com-in")).to_have_value("")
    assert len(sent) == 1, "the Enters of the input method sent something"

    page.keyboard.press("Control+k")
    field = page.locator("#palette input")
    field.fill("Inbox")
    expect(page.locator("#palette [role=option]").first).to_be_visible()
    address = page.url
    field.evaluate("""f => f.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter',
        keyCode: 229, isComposing: true, bubbles: true, cancelable: true }))""")
    assert page.url == address
    field.press("Enter")
    page.wait_for_url("**/inbox")


@pytest.mark.covers("UI-94", "UI-95")
def test_a_line_that_went_silent_without_closing_is_noticed_and_read_again(site: Site) -> None:
    """The network is gone, the browser still thinks it is connected."""
    context = site.context()
    page = context.new_page()
    page.clock.install()
    silent: list[bool] = []
    opened: list[WebSocketRoute] = []

    def line(route: WebSocketRoute) -> None:
        opened.append(route)
        server = route.connect_to_server()
        server.on_message(lambda text: None if silent else route.send(text))
        route.on_message(lambda text: None if silent else server.send(text))

    page.route_web_socket("**/ws/stream", line)
    page.goto("/work/ENG")
    page.clock.run_for(1000)
    until(lambda: page.evaluate("document.body.dataset.link") == "up", 10, what="the line")
    silent.append(True)
    made = create(site.stage.ana, "Polish the brass", project="ENG")
    page.clock.run_for(8000)
    assert not page.locator(f"#card-{made.key}").count(), "how did it hear of that?"
    page.clock.run_for(20_000)
    silent.clear()
    expect(page.locator(f"#card-{made.key}")).to_be_visible(timeout=8000)
    page.clock.run_for(2000)
    until(lambda: len(opened) > 1, 5, what="a new line")


@pytest.mark.covers("TRK-29", "TRK-53")
def test_opening_an_old_tab_writes_nothing_and_its_stale_move_is_refused(site: Site) -> None:
    """Somebody else has moved the card since this tab was drawn."""
    item = site.stage.todo[0]
    old = site.context()
    old.route("**/ws/stream", lambda route: route.abort())
    page = old.new_page()
    wrote: list[str] = []
    page.on("request", lambda made: wrote.append(made.url) if made.method == "POST" else None)
    page.goto("/work/ENG?still=1")
    update(site.stage.ana, item, status="done")
    page.reload()
    assert not wrote, "to open a tab is to write nothing"
    page.locator(f"#card-{item.key}").evaluate("e => { e.dataset.version -= 1; }")
    page.focus(f"#card-{item.key} .card-a")
    with page.expect_response("**/act/place_work_item") as answered:
        page.keyboard.press("Alt+ArrowLeft")
    assert answered.value.status == 409
    expect(page.locator(".toast")).to_contain_text("changed meanwhile")
    expect(page.locator(f".lane[data-lane=done] #card-{item.key}")).to_be_visible()
    assert WorkItem.objects.get(key=item.key).status == "done"


@pytest.mark.covers("TRK-53")
def test_a_card_in_the_hand_survives_an_update_of_the_board(site: Site) -> None:
    """The board is drawn again under the drag, and the drop still lands."""
    carried, other = site.stage.todo[0], site.stage.todo[1]
    page = site.open("/work/ENG")
    drag_to(page, carried.key, "in_progress")
    with page.expect_response("**/ui/work/ENG**"):
        update(site.stage.ana, other, title="Count the blinks twice")
    expect(page.locator(f"#card-{other.key}")).to_contain_text("twice")
    page.mouse.up()
    until(lambda: WorkItem.objects.get(key=carried.key).status == "in_progress", 5, what="the drop")


@pytest.mark.covers("UI-30")
def test_a_line_of_two_scripts_reads_in_its_own_order(site: Site) -> None:
    """Each block takes its direction from its text; a handle and a key stay whole."""
    item = site.stage.asked
    comment(
        site.stage.ana,
        item,
        f"@qa שלום לך, see {item.key}!\n\nHello كيف حالك اليوم\n\n\u05e9\u05dc\u05d5\u05dd @qa",
    )
    page = site.open(f"/work/{item.key}")
    settle(page)
    text = page.locator("#item-activity .com", has_text="שלום לך").first
    directions = text.locator("p").evaluate_all(
        "all => all.map(p => getComputedStyle(p).direction)"
    )
    assert directions == ["rtl", "ltr", "rtl"]
    assert text.locator("bdi").all_inner_texts() == ["@qa", item.key, "@qa"]
    copied = text.locator("p").first.inner_text()
    assert copied == f"@qa שלום לך, see {item.key}!"
    for field in page.locator(
        "main textarea, main input[type=search], main input:not([type])"
    ).all():
        assert field.get_attribute("dir") == "auto", field.get_attribute("id")
