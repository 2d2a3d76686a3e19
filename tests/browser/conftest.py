"""A running company and a browser in it: web is a real process, Chromium is Debian's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from crewlet.kernel.actors import engine_actor
from orgs import epochs
from orgs.models.seats import Seat
from orgs.people import links
from orgs.people.printed import path_of
from orgs.revisions import apply_document
from tests.browser.stage import Stage, set_stage
from tests.browser.visit import cookies_of, settle
from tests.support.people import a_person
from tests.support.processes import processes as running_processes
from tests.support.until import until
from tests.tracker.company import COMPANY

# Playwright's sync API runs a loop in this thread; the ORM is used between its calls, not in them.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
FLAGS = [
    f"--{flag}"
    for flag in (
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    )
]
WATCH = (
    "window.__refused=[];document.addEventListener('securitypolicyviolation',"
    "e=>window.__refused.push(e.effectiveDirective+' '+e.blockedURI))"
)


@dataclass
class Site:
    """The address of the running site, its company, and a browser to look with."""

    url: str
    stage: Stage
    browser: Browser
    storage: Any
    script_errors: list[str] = field(default_factory=list)

    def context(self, width: int = 1440, theme: str = "light", **more: Any) -> BrowserContext:
        """Opens a browser window of its own, signed in as Ana."""
        height = 844 if width < 500 else 900
        scheme: Any = theme
        context = self.browser.new_context(
            base_url=self.url,
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            storage_state=self.storage,
            **more,
        )
        context.add_init_script(WATCH)
        return context

    def open(self, path: str, width: int = 1440, theme: str = "light", **more: Any) -> Page:
        """Opens a page in a window of its own and waits until nothing redraws it any more."""
        page = self.context(width, theme, **more).new_page()
        page.on("pageerror", lambda error: self.script_errors.append(str(error)))
        page.goto(path)
        settle(page)
        return page


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    path = shutil.which("chromium")
    assert path, "Install Debian's package `chromium` to run the browser tests."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One web process for the whole ring: it keeps nothing between requests."""
    with running_processes(tmp_path_factory.mktemp("browser")) as started:
        yield started.start_web().url


@pytest.fixture
def site(transactional_db: None, web: str, chromium: Browser) -> Iterator[Site]:
    """The company of the tracker's tests with work in every state, Ana signed in by her link."""
    epochs.forget()
    apply_document(engine_actor("tests"), COMPANY, summary="for the browser")
    stage = set_stage(epochs.active())
    ana = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    # How it is to sign in with a browser is a test of its own; here it would cost each one seconds.
    storage = cookies_of(web, path_of(links.make(ana, created_by="tests")))
    yield Site(web, stage, chromium, storage)
    for opened in chromium.contexts:
        opened.close()
    # The tables are emptied next: a request that is still being answered would meet that half-way.
    until(nobody_asks, 15, what="web to finish what it was asked")
    epochs.forget()


def nobody_asks() -> bool:
    """Whether no other connection is in a statement or a transaction of this database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND state <> 'idle' AND backend_type = 'client backend'"
        )
        return bool(cursor.fetchone()[0] == 0)
