"""What a screenshot cannot show."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crewlet.kernel import clock, live
from orgs.people import links
from orgs.people.printed import path_of
from tests.browser.conftest import Site
from tests.browser.stage import OPTIONS, a_round
from tests.browser.visit import settle
from tests.support.people import a_person
from tests.support.until import until
from tests.tracker.company import comment, create
from tracker.models.comments import Comment
from tracker.models.items import WorkItem

FRAME = "async (frame) => (await import('/static/js/live.js')).applyFrame(frame)"
BOXES = """() => [...document.querySelectorAll('.seat')].flatMap(e => {
  const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })"""
FOCUSED_CARD = "document.activeElement.closest('.card')?.dataset.key"
END = "(t => t.scrollHeight - t.scrollTop - t.clientHeight)(document.querySelector('cw-tail'))"


def feed(page: Page, kind: str, data: dict[str, Any]) -> None:
    """Gives the page a frame as the socket would."""
    page.evaluate(FRAME, {"kind": kind, "data": data})


def lane_of(page: Page, key: str) -> str | None:
    """Returns the lane in which a card stands."""
    return page.locator(f".lane:has(#card-{key})").get_attribute("data-lane")


# -- the board ------------------------------------------------------------------------------------


def test_alt_arrows_carry_a_card_and_keep_the_focus(site: Site) -> None:
    page = site.open("/work/ENG")
    key = site.stage.todo[0].key
    page.focus(f"#card-{key} .card-a")
    page.keyboard.press("Alt+ArrowRight")
    assert page.evaluate(FOCUSED_CARD) == key
    assert lane_of(page, key) == "in_progress"
    expect(page.locator("#announce")).to_contain_text("Saved")
    assert WorkItem.objects.get(key=key).status == "in_progress"
    assert page.evaluate(FOCUSED_CARD) == key


def test_dragging_writes_the_same_as_the_keys(site: Site) -> None:
    by_key, by_hand = site.stage.todo[0].key, site.stage.todo[1].key
    page = site.open("/work/ENG")
    with page.expect_request("**/act/place_work_item") as pressed:
        page.focus(f"#card-{by_key} .card-a")
        page.keyboard.press("Alt+ArrowRight")
    expect(page.locator("#announce")).to_contain_text("Saved")
    page.goto("/work/ENG")
    settle(page)
    box = page.locator(f"#card-{by_hand}").bounding_box()
    lane = page.locator(".lane[data-lane=in_progress] .card").first.bounding_box()
    assert box
    assert lane
    with page.expect_request("**/act/place_work_item") as dropped:
        page.mouse.move(box["x"] + 60, box["y"] + 30)
        page.mouse.down()
        page.mouse.move(box["x"] + 90, box["y"] + 40, steps=4)
        page.mouse.move(lane["x"] + 60, lane["y"] + 4, steps=10)
        page.mouse.up()
    names = [
        sorted(part.split("=")[0] for part in (made.value.post_data or "").split("&"))
        for made in (pressed, dropped)
    ]
    assert names[0] == names[1] == ["before", "if_match", "item", "op_id", "status"]
    until(lambda: WorkItem.objects.get(key=by_hand).status == "in_progress", 5, what="the move")
    assert page.url.endswith("/work/ENG"), "a drag must not open the card"


def test_a_refused_move_goes_back_with_the_reason(site: Site) -> None:
    page = site.open("/work/ENG")
    item = site.stage.todo[0]
    page.locator(f"#card-{item.key}").evaluate("e => { e.dataset.version = '9999'; }")
    page.focus(f"#card-{item.key} .card-a")
    page.keyboard.press("Alt+ArrowRight")
    expect(page.locator(".toast")).to_be_visible()
    assert lane_of(page, item.key) == "todo"
    assert WorkItem.objects.get(key=item.key).status == "todo"


def test_the_cards_menu_moves_it_without_dragging(site: Site) -> None:
    page = site.open("/work/ENG")
    key = site.stage.todo[2].key
    page.hover(f"#card-{key}")
    page.click(f"#card-{key} .card-go")
    page.click("#card-menu [data-move=done]")
    until(lambda: WorkItem.objects.get(key=key).status == "done", 5, what="the move")


def test_the_board_has_one_tab_stop(site: Site) -> None:
    page = site.open("/work/ENG")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator('.card-a[tabindex="0"]').count() == 1
    assert page.evaluate(FOCUSED_CARD)


# -- live -----------------------------------------------------------------------------------------


def test_a_change_of_somebody_else_arrives_by_the_socket(site: Site) -> None:
    page = site.open("/work/ENG")
    made = create(site.stage.ana, "Polish the brass", project="ENG")
    expect(page.locator(f"#card-{made.key}")).to_be_visible(timeout=5000)


@pytest.mark.covers("UI-23")
def test_a_push_changes_no_geometry(site: Site) -> None:
    page = site.open("/agents?still=1")
    before = page.evaluate(BOXES)
    row = {
        "handle": "agent-swe", "kind": "agent", "activity": "working", "word": "Working",
        "reason": "execute, round 3 with a reason that is far too long for one line of the card",
        "key": "ENG-1", "what": "A title that does not fit into the card at all " * 3, "secs": 61,
        "pct": 40,
    }  # fmt: skip
    page.evaluate(FRAME, {"kind": "seats", "data": {"rows": [row]}})
    card = page.locator("#seat-agent-swe")
    expect(card).to_have_attribute("data-activity", "working")
    expect(card.locator("[data-f=word]")).to_have_text("Working")
    assert page.evaluate(BOXES) == before
    absent = {**row, "activity": "idle", "word": "Idle", "key": None, "secs": None, "pct": None}
    page.evaluate(FRAME, {"kind": "seats", "data": {"rows": [absent]}})
    expect(card.locator("[data-f=key]")).to_be_hidden()
    assert page.evaluate(BOXES) == before


def test_an_open_chart_follows_what_happens_and_keeps_its_zoom(site: Site) -> None:
    chart = site.open("/agents")
    chart.click("[data-zoom=in]")
    page = site.open("/agents/seats/qa")
    page.click(".bar-acts summary")
    page.fill("#pause-why", "Too loud")
    page.click(".card-form .btn.primary")
    card = chart.locator("#seat-qa")
    expect(card).to_have_attribute("data-activity", "stopped", timeout=5000)
    expect(card.locator("[data-f=reason]")).to_have_text("paused by Ana")
    assert chart.locator(".zoom output").inner_text() == "110%"
    assert chart.locator("[data-canvas]").evaluate("e => e.style.zoom") == "1.1"


def test_a_draft_its_focus_and_an_open_fold_survive_a_push(site: Site) -> None:
    item = site.stage.asked
    page = site.open(f"/work/{item.key}")
    page.click(".comp-ask > summary")
    page.fill("#com-in", "half written")
    page.focus("#com-in")
    comment(site.stage.cast.qa, item, "I looked at it.")
    expect(page.locator("#item-activity")).to_contain_text("I looked at it.", timeout=5000)
    assert page.input_value("#com-in") == "half written"
    assert page.evaluate("document.activeElement.id") == "com-in"
    assert page.locator(".comp-ask").get_attribute("open") is not None


@pytest.mark.covers("UI-95")
def test_a_lost_line_is_said_with_its_age_and_comes_back_by_itself(site: Site) -> None:
    page = site.context().new_page()
    cut = True
    page.route_web_socket(
        "**/ws/stream", lambda socket: socket.close() if cut else socket.connect_to_server()
    )
    page.goto("/agents")
    with page.expect_request("**/ui/agents/strip", timeout=15000):
        expect(page.locator("body")).to_have_attribute("data-link", "down", timeout=15000)
    expect(page.locator("#link-down")).to_be_visible(timeout=15000)
    expect(page.locator("#link-down [data-age]")).to_contain_text("s")
    cut = False
    expect(page.locator("body")).to_have_attribute("data-link", "up", timeout=30000)
    expect(page.locator("#link-down")).to_be_hidden()


# -- the transcript -------------------------------------------------------------------------------


def test_a_transcript_holds_still_for_its_reader_and_counts_what_is_new(site: Site) -> None:
    turn = site.stage.running
    phase = turn.phases.get()
    for number in range(2, 9):
        a_round(phase, number)
    page = site.open(f"/live/turns/{turn.id}", 1440)
    assert page.evaluate(END) < 2, "a running turn opens at its end"
    page.hover("cw-tail")
    page.mouse.wheel(0, -500)
    page.wait_for_function(f"() => {END} > 300")
    top = "document.querySelector('#r-execute-1-5').getBoundingClientRect().top"
    before = page.evaluate(top)
    a_round(phase, 9)
    a_round(phase, 10)
    frame = {"event": "answered", "turn_id": str(turn.id), "phase": "execute", "iteration": 1}
    for number in (9, 10):
        feed(page, "progress", frame | {"round": number})
    expect(page.locator("#r-execute-1-10")).to_be_attached(timeout=5000)
    assert abs(page.evaluate(top) - before) < 0.5
    expect(page.locator(".jump")).to_be_visible()
    page.click(".jump")
    page.wait_for_function(f"() => {END} < 2")
    expect(page.locator(".jump")).to_be_hidden()


def test_text_in_the_making_grows_and_becomes_the_round_under_one_id(site: Site) -> None:
    turn = site.stage.running
    page = site.open(f"/live/turns/{turn.id}")
    place = {"turn_id": str(turn.id), "phase": "execute", "iteration": 1, "round": 2}
    feed(page, "progress", place | {"event": "partial_round", "kind": "text", "text": "All four"})
    feed(page, "progress", place | {"event": "partial_round", "kind": "text", "text": "All"})
    expect(page.locator("#r-execute-1-2 [data-partial]")).to_have_text("All four")
    a_round(turn.phases.get(), 2, "All four blinks are counted.")
    feed(page, "progress", place | {"event": "answered"})
    expect(page.locator("#r-execute-1-2 .speech")).to_have_text("All four blinks are counted.")
    assert page.locator("#r-execute-1-2").count() == 1


def test_an_opened_fold_stays_open_when_its_round_is_drawn_again(site: Site) -> None:
    turn = site.stage.running
    page = site.open(f"/live/turns/{turn.id}")
    page.click("#r-execute-1-0 .call summary")
    page.evaluate("window.__node = document.querySelector('#r-execute-1-0')")
    place = {"turn_id": str(turn.id), "phase": "execute", "iteration": 1, "round": 0}
    with page.expect_response("**/rounds/execute/1/0"):
        feed(page, "progress", place | {"event": "called"})
    page.wait_for_function("() => window.__node === document.querySelector('#r-execute-1-0')")
    assert page.locator("#r-execute-1-0 .call details").get_attribute("open") is not None


def test_what_was_missed_of_a_turn_is_read_again_when_the_line_comes_back(site: Site) -> None:
    turn = site.stage.running
    page = site.open(f"/live/turns/{turn.id}")
    a_round(turn.phases.get(), 2, "Said while nobody listened.")
    feed(page, "gap", {"dropped": 3})
    expect(page.locator("#r-execute-1-2 .speech")).to_have_text("Said while nobody listened.")


def test_a_turn_is_stopped_from_its_page_with_a_reason(site: Site) -> None:
    turn = site.stage.running
    page = site.open(f"/live/turns/{turn.id}")
    page.click("#turn-stop summary")
    page.fill("#stop-why", "The lamp is sold")
    page.click("#turn-stop .btn.danger")
    expect(page.locator("#turn-stop")).to_have_text("Ana is stopping it")
    expect(page.locator(".wrong")).to_contain_text("Ana asked to stop this turn. The lamp is sold")
    turn.stage, turn.outcome, turn.ended_at = "done", "stopped", clock.now()
    turn.save()
    live.changed(f"turn:{turn.id}")
    expect(page.locator("#turn-head .chip")).to_have_text("Stopped", timeout=5000)
    expect(page.locator("#turn-stop")).to_be_empty()


# -- acts -----------------------------------------------------------------------------------------


def test_a_decision_is_answered_in_place(site: Site) -> None:
    item = site.stage.asked
    page = site.open(f"/work/{item.key}")
    page.keyboard.press("2")
    assert page.locator('.opt input[value="up"]').is_checked()
    page.click(".ask .btn.primary[type=submit]")
    expect(page.locator(".ask")).to_have_count(0, timeout=5000)
    answer = Comment.objects.filter(item=item, choice="up").get()
    assert answer.answers_id is not None


def test_a_decision_is_answered_where_it_is_met(site: Site) -> None:
    item = site.stage.asked
    page = site.open("/")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#home-decisions .ask")).to_have_count(0, timeout=5000)
    assert Comment.objects.filter(item=item, choice="even").count() == 1
    decision = {"question": "And the sign?", "role": "approver", "options": OPTIONS}
    comment(site.stage.cast.swe, item, "One thing more.", ask="ana", decision=decision)
    page = site.open("/inbox")
    page.click(".ask .reply summary")
    page.fill(".ask-say textarea", "Neither: ask the ledger.")
    page.click(".ask-say button")
    expect(page.locator(".ask")).to_have_count(0, timeout=5000)
    said = Comment.objects.get(item=item, body="Neither: ask the ledger.")
    assert said.answers_id is not None


def test_the_composer_asks_for_a_decision(site: Site) -> None:
    item = site.stage.todo[0]
    page = site.open(f"/work/{item.key}")
    page.fill("#com-in", "Two ways are open.")
    page.click(".comp-ask summary")
    page.select_option("#c-ask", "qa")
    page.fill("#c-q", "Which lamp?")
    page.fill("#c-o0", "The red one")
    page.fill("#c-o1", "The green one")
    page.click("#composer button[type=submit]")
    expect(page.locator("#item-asks .ask-q")).to_have_text("Which lamp?", timeout=5000)
    decision = Comment.objects.get(item=item, body="Two ways are open.").decision
    assert decision
    assert decision["role"] == "approver"
    assert [option["label"] for option in decision["options"]] == ["The red one", "The green one"]


def test_a_decision_is_snoozed_and_notices_are_marked_read(site: Site) -> None:
    comment(site.stage.cast.qa, site.stage.asked, "@ana, look at this.")
    page = site.open("/inbox")
    page.click(".ask .pop summary")
    page.click(".ask .menu button >> nth=0")
    expect(page.locator(".ask")).to_have_count(0, timeout=5000)
    page.click(".bar-acts button:has-text('Mark all read')")
    expect(page.locator("#inbox-list .in-row[data-unread]")).to_have_count(0, timeout=5000)
    page = site.open("/inbox?scope=snoozed")
    expect(page.locator("#inbox-list")).to_contain_text("Which rule should we round by?")


@pytest.mark.covers("UI-26")
def test_a_refusal_stands_beside_its_form_and_the_next_press_is_a_new_try(site: Site) -> None:
    page = site.open(f"/work/{site.stage.asked.key}")
    page.click("#item-fields summary >> nth=3")
    page.fill("#item-fields [name=due]", "2027-01-05")
    page.locator("#item-fields .date [name=item]").evaluate("e => { e.value = 'ENG-9999'; }")
    before = page.locator("#item-fields .date [name=op_id]").input_value()
    page.click("#item-fields .date button")
    refusal = page.locator("#item-fields .date .err")
    expect(refusal).to_contain_text("ENG-9999")
    assert page.locator("#item-fields .date [name=op_id]").input_value() != before
    with page.expect_response(lambda answer: answer.url.endswith("/fields")):
        comment(site.stage.cast.qa, site.stage.asked, "Mind the date.")
    expect(page.locator("#item-activity")).to_contain_text("Mind the date.")
    expect(refusal).to_contain_text("ENG-9999")


@pytest.mark.covers("UI-26")
def test_a_comment_lands_once_however_often_it_is_pressed(site: Site) -> None:
    item = site.stage.asked
    page = site.open(f"/work/{item.key}")
    page.fill("#com-in", "Only once, please")
    page.evaluate("() => [1, 2].forEach(() => document.querySelector('#composer').requestSubmit())")
    expect(page.locator("#item-activity")).to_contain_text("Only once, please", timeout=5000)
    assert Comment.objects.filter(item=item, body="Only once, please").count() == 1
    assert page.input_value("#com-in") == ""


def test_a_new_item_opens_after_it_is_filed(site: Site) -> None:
    page = site.open("/work/new?project=OPS")
    page.fill("#n-title", "Count the boxes")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/work/OPS-*")
    assert "Count the boxes" in page.locator("h1").inner_text()


def test_a_seat_is_paused_with_a_reason_and_resumed(site: Site) -> None:
    page = site.open("/agents/seats/qa")
    page.click(".bar-acts summary")
    page.fill("#pause-why", "The lamps are out")
    page.click(".card-form .btn.primary")
    expect(page.locator("main")).to_contain_text("The lamps are out", timeout=5000)
    page.click(".bar-acts button:has-text('Resume')")
    expect(page.locator("main")).not_to_contain_text("The lamps are out", timeout=5000)


# -- keys, palette, theme -------------------------------------------------------------------------


def test_bare_keys_are_dead_while_typing(site: Site) -> None:
    page = site.open(f"/work/{site.stage.asked.key}")
    page.focus("#com-in")
    page.keyboard.type("c ? j g a")
    assert page.locator("dialog[open]").count() == 0
    assert page.input_value("#com-in") == "c ? j g a"


def test_g_then_a_letter_goes_places(site: Site) -> None:
    page = site.open("/")
    page.keyboard.press("g")
    page.keyboard.press("a")
    page.wait_for_url("**/agents")


def test_the_palette_finds_by_prefix_and_gives_the_focus_back(site: Site) -> None:
    page = site.open("/")
    page.focus(".find")
    page.keyboard.press("Control+k")
    expect(page.locator("#pal-q")).to_be_focused()
    page.keyboard.type("@pack")
    expect(page.locator("#pal-list [role=option]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".find")).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("blinks")
    expect(page.locator("#pal-list [role=option]").first).to_contain_text("Count the blinks")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/work/{site.stage.todo[1].key}")


def test_a_mention_is_completed_and_leaves_the_policy_clean(site: Site) -> None:
    page = site.open(f"/work/{site.stage.asked.key}")
    page.focus("#com-in")
    page.keyboard.type("ask @pac")
    expect(page.locator(".suggest [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    assert "@packer" in page.input_value("#com-in")
    page.click("md-bold")
    assert "**" in page.input_value("#com-in")
    assert page.evaluate("window.__refused") == []


@pytest.mark.covers("UI-22")
def test_the_theme_survives_a_reload(site: Site) -> None:
    page = site.open("/agents")
    page.check("input[name=theme][value=dark]", force=True)
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"


def test_colours_change_at_once_when_the_theme_does(site: Site) -> None:
    page = site.open("/settings/you")
    running = """() => {
      const dark = document.querySelector('input[name=theme][value=dark]');
      dark.checked = true; dark.dispatchEvent(new Event('change'));
      document.body.offsetHeight;
      return document.getAnimations().filter(a => a instanceof CSSTransition).length; }"""
    assert page.evaluate(running) == 0
    page.wait_for_function("() => !('switching' in document.documentElement.dataset)")


def test_the_sheet_of_keys_is_drawn_from_the_table(site: Site) -> None:
    page = site.open("/")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#keys")).to_contain_text("Carry the card")


def test_arrows_walk_the_chart(site: Site) -> None:
    page = site.open("/agents")
    page.focus("#seat-agent-cto .seat-id")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.seat').id") == "seat-agent-swe"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('.seat').id") in (
        "seat-packer",
        "seat-omar",
    )


@pytest.mark.covers("UI-9")
def test_the_drawer_opens_and_escape_gives_the_focus_back(site: Site) -> None:
    page = site.open("/agents", 390)
    page.click("[data-do=nav]")
    assert page.evaluate("document.activeElement.closest('#side') !== null")
    page.keyboard.press("Escape")
    expect(page.locator("[data-do=nav]")).to_be_focused()


def test_one_signs_in_by_link_sets_a_password_and_comes_back_with_it(site: Site) -> None:
    context = site.browser.new_context(base_url=site.url)
    page = context.new_page()
    person = a_person("dora.lint")
    person.password = ""
    person.save()
    page.goto(path_of(links.make(person, created_by="tests")))
    page.click("main button")
    page.click(".me-a")
    page.wait_for_url("**/account")
    page.fill("#password", "seven quiet lamps burn")
    page.click("text=Save password")
    expect(page.locator(".banner[data-tone=done]")).to_be_visible()
    page.click("text=Sign out")
    page.wait_for_url("**/sign-in*")
    page.fill("#login", "dora.lint")
    page.fill("#password", "seven quiet lamps burn")
    page.click("main button[type=submit]")
    expect(page.locator(".me-n")).to_have_text("Dora")


def test_a_hint_fetches_each_region_once(site: Site) -> None:
    page = site.open("/agents")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/ui/" in request.url else None)
    for _ in range(5):
        live.changed("agents")
    until(lambda: page.evaluate("1") and any("strip" in url for url in asked), 5, what="a fetch")
    page.wait_for_load_state("networkidle")
    assert sum("strip" in url for url in asked) <= 2
