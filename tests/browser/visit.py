"""Getting in without drawing pages, and knowing when a page is done."""

from __future__ import annotations

from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

from django.conf import settings
from playwright.sync_api import Page

# Every module of the page runs, and what the socket said first has been read again.
SETTLED = """() => ['cw-palette', 'cw-board', 'cw-tail', 'cw-chart', 'text-expander'].every(
  name => !document.querySelector(name) || customElements.get(name))
  && (new URLSearchParams(location.search).has('still') || document.body.dataset.fresh === 'yes')"""


def settle(page: Page) -> None:
    """Waits until the page's scripts run and its first refetch is drawn."""
    page.wait_for_function(SETTLED)


def cookies_of(site: str, path: str) -> Any:
    """Uses a sign-in link as its form does; returns what a browser would keep of it."""
    jar = CookieJar()
    browser = build_opener(HTTPCookieProcessor(jar))
    browser.open(f"{site}{path}").close()
    signing_in = Request(f"{site}{path}", data=b"", headers={"Origin": site})  # noqa: S310  # ours
    browser.open(signing_in).close()
    host = urlsplit(site).hostname
    cookies = [
        {"name": cookie.name, "value": cookie.value or "", "domain": host, "path": cookie.path}
        for cookie in jar
    ]
    assert settings.SESSION_COOKIE_NAME in {cookie["name"] for cookie in cookies}
    return {"cookies": cookies, "origins": []}
