"""Files dropped on a page and pasted into it, in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Site
from tests.support.until import until
from tracker.models.files import Attachment, ProjectFile

# What a hand would carry over the page, and what Ctrl+V would bring.
DROP = """([where, names]) => {
  const carried = new DataTransfer();
  for (const name of names) {
    carried.items.add(new File(['lamp ' + name], name, { type: 'text/plain' }));
  }
  const zone = document.querySelector(where);
  for (const kind of ['dragover', 'drop']) {
    zone.dispatchEvent(
      new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
  }
}"""
PASTE = """() => {
  const carried = new DataTransfer();
  carried.items.add(new File(['glow'], 'image.png', { type: 'image/png' }));
  document.querySelector('#com-in').dispatchEvent(
    new ClipboardEvent('paste', { clipboardData: carried, bubbles: true, cancelable: true }));
}"""


@pytest.mark.covers("TRK-40")
def test_files_are_dropped_and_pasted_on_an_item_and_each_lands_once(site: Site) -> None:
    """The list shows them without a reload, and one opens beside the page."""
    key = site.stage.todo[0].key
    page = site.open(f"/work/{key}")
    page.evaluate(DROP, ["article.item-main", ["wick.txt", "glass.txt"]])
    expect(page.locator("#item-files")).to_contain_text("glass.txt")
    page.evaluate(PASTE)
    expect(page.locator("#item-files")).to_contain_text("Pasted ")
    names = sorted(Attachment.objects.filter(item__key=key).values_list("name", flat=True))
    assert len(names) == 3
    assert names[0].startswith("Pasted ") and names[0].endswith(".png")
    assert names[1:] == ["glass.txt", "wick.txt"]
    page.locator("#item-files a", has_text="wick.txt").click()
    expect(page.locator("#peek .file-text")).to_have_text("lamp wick.txt")


@pytest.mark.covers("TRK-40")
def test_a_refused_file_says_why_beside_the_field_and_a_lost_one_is_sent_again(
    site: Site,
) -> None:
    """Nothing is lost in silence, and a repeat keeps its operation."""
    page = site.open("/work/ENG/files")
    page.fill("#project-path", "../away")
    page.set_input_files(
        "#project-file", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"a"}
    )
    page.click("#project-upload .btn.primary")
    expect(page.locator("#project-upload [role=alert]")).to_contain_text("single slashes")
    page.locator("#project-upload .uploads button").click()
    page.fill("#project-path", "plans/")
    page.route("**/work/ENG/files", lambda route: route.abort())
    page.evaluate(DROP, [".listpage", ["plan.md"]])
    expect(page.locator("#project-upload [role=alert]")).to_contain_text("Nobody knows yet")
    page.unroute("**/work/ENG/files")
    page.locator("#project-upload .uploads button", has_text="Try again").click()
    expect(page.locator("#project-files")).to_contain_text("plans/plan.md")
    until(lambda: ProjectFile.objects.filter(path="plans/plan.md").count() == 1, 5, what="the file")
    expect(page.locator("#project-upload .uploads li")).to_have_count(0)
