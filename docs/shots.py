"""Takes the pictures of the README from a real run of the demo: `make shots`.

Starts Crewlet in a folder of its own, waits until the first goal has come to a decision for a
person, signs in by the printed link and photographs each page in both themes. Needs Chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SIZE: Any = {"width": 1440, "height": 900}
LARGEST = 200_000
PLAY_MS = 300_000
LOOK_MS = 500
PAGE_MS = 90_000
PACE = "3"
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
AT_WORK = 4
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def crewlet() -> Iterator[str]:
    """Runs the demo and yields its sign-in link; drains it at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="crewlet-shots-") as folder:
        environment = {**os.environ, "CREWLET_DATA_DIR": folder, "CREWLET_REHEARSAL_PACE": PACE}
        argv = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(port)]
        up = subprocess.Popen(
            argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, process_group=0,
        )  # fmt: skip
        try:
            yield _link(up)
        finally:
            up.send_signal(signal.SIGINT)
            up.communicate()


def _link(up: subprocess.Popen[str]) -> str:
    """Reads the log up to the line that holds the link; raises RuntimeError when it ends first."""
    said = []
    for line in up.stdout or ():
        said.append(line)
        found = re.search(r"Sign in: (\S+)", line)
        if found:
            return found[1]
    raise RuntimeError(f"Crewlet did not start:\n{''.join(said[-20:])}")


def shoot(browser: Browser, link: str) -> None:
    """Signs in once; takes the company at work, then what is there when it has come to rest."""
    base = link.split("/sign-in/", 1)[0]
    first = browser.new_context(base_url=base, viewport=SIZE)
    page = first.new_page()
    page.goto(link)
    page.locator("form button[type=submit]").click()
    page.wait_for_url(f"{base}/")
    state = first.storage_state()
    windows = {
        theme: browser.new_context(
            base_url=base, viewport=SIZE, color_scheme=theme, storage_state=state
        )
        for theme in THEMES
    }
    _wait_for(page, lambda working: working >= AT_WORK)
    _take(windows, {"chart": "/agents", "board": "/work/HQ"})
    page.locator("#home-decisions form").first.wait_for(timeout=PLAY_MS)
    _wait_for(page, lambda working: working == 0)
    turn = f"/live/turns/{_busiest_turn(page)}"
    _take(windows, {"home": "/", "turn": turn, "inbox": "/inbox"})


def _wait_for(page: Page, enough: Callable[[int], bool]) -> None:
    """Waits until as many agents work as are wanted; raises RuntimeError when it takes too long."""
    for _ in range(PLAY_MS // LOOK_MS):
        seats = page.request.get("/api/v1/agents").json()["agents"]
        if enough(sum(seat["word"] == "Working" for seat in seats)):
            return
        page.wait_for_timeout(LOOK_MS)
    raise RuntimeError("The company did not come to where the pictures are taken.")


def _busiest_turn(page: Page) -> str:
    """Picks the turn that went round most often, so that the picture shows a correction."""
    rows = page.request.get("/api/v1/turns?limit=100").json()["turns"]
    return str(max(rows, key=lambda row: (row["iteration"], row["calls"]))["id"])


def _take(windows: dict[Theme, BrowserContext], pages: dict[str, str]) -> None:
    for name, path in pages.items():
        for theme, window in windows.items():
            page = window.new_page()
            page.goto(path, timeout=PAGE_MS)
            page.wait_for_function("customElements.get('cw-palette') !== undefined")
            page.evaluate("document.fonts.ready")
            file = IMAGES / f"{name}-{theme}.png"
            page.screenshot(path=file, animations="disabled")
            page.close()
            _weigh(file)


def _weigh(file: Path) -> None:
    size = file.stat().st_size
    if size > LARGEST:
        raise RuntimeError(f"{file.name} has {size} bytes; the README takes at most {LARGEST}.")
    sys.stdout.write(f"{file.relative_to(ROOT)} {size // 1000} kB\n")


def main() -> int:
    """Takes the pictures; returns the exit code."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        sys.stderr.write("No Chromium was found: sudo apt-get install chromium\n")
        return 1
    IMAGES.mkdir(parents=True, exist_ok=True)
    with crewlet() as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        try:
            shoot(browser, link)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
