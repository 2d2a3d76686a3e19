"""Servers that behave and servers that do not, as real processes over the real protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil
import pytest

from crewlet.kernel.errors import Unavailable
from crewlet.kernel.ids import new_id
from integrations.mcp.config import Reach
from integrations.mcp.pool import Pool
from integrations.mcp.results import result_of
from tests.integrations.mcp.conftest import SERVER, reach_to
from tests.support.tool_server import TOOLS, answer
from tests.support.until import until

NAMES = [tool["name"] for tool in TOOLS]


def children_of(pid: int) -> list[psutil.Process]:
    """Returns the test's servers that a process has started."""
    found = psutil.Process(pid).children()
    return [one for one in found if str(SERVER) in one.cmdline()]


def gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.covers("INT-80")
def test_what_a_program_prints_beside_the_protocol_is_no_failure(pool: Pool) -> None:
    listing = pool.tools(reach_to("noise", server="noisy"))
    assert [tool["name"] for tool in listing.tools] == NAMES
    assert not listing.warning


@pytest.mark.parametrize(
    ("mode", "count", "warns"),
    [("pages", len(TOOLS), ""), ("circles", 3, "circles"), ("endless", 100, "more than 100 pages")],
)
def test_every_page_is_read_and_a_list_without_an_end_is_ended(
    pool: Pool, mode: str, count: int, warns: str
) -> None:
    listing = pool.tools(reach_to(mode, server=mode))
    assert len({tool["name"] for tool in listing.tools}) == len(listing.tools) == count
    assert warns in listing.warning
    assert bool(warns) == bool(listing.warning)


@pytest.mark.covers("TURN-32", "INT-82")
def test_a_server_that_dies_fails_its_call_at_once_and_no_other(pool: Pool) -> None:
    well, ill = reach_to(server="well"), reach_to(server="ill")
    pool.tools(well)
    pool.tools(ill)
    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"server ill ended.*the disk is full"):
        pool.call(ill, "die", {})
    assert time.monotonic() - began < 2
    assert result_of(pool.call(well, "echo", {"text": "still here"})).text == "echo: still here"
    with pytest.raises(Unavailable, match="It is tried again in"):
        pool.call(ill, "echo", {})


@pytest.mark.covers("TURN-32", "PEER-16")
def test_a_call_that_hangs_ends_at_its_limit_and_the_server_goes_on(pool: Pool) -> None:
    slow = reach_to(server="slow", call_seconds=0.3)
    with pytest.raises(Unavailable, match=r"slow did not answer tools/call within 0.3 s"):
        pool.call(slow, "hang", {})
    assert result_of(pool.call(slow, "echo", {"text": "next"})).ok


@pytest.mark.parametrize(
    ("mode", "says"),
    [("mute", "did not start within 1 s"), ("refuses", r"no licence for \[redacted\]")],
)
def test_a_server_that_does_not_start_says_why_and_keeps_its_secrets(
    pool: Pool, mode: str, says: str
) -> None:
    with pytest.raises(Unavailable, match=says):
        pool.tools(reach_to(mode, server=mode, start_seconds=1.0, own={"TOKEN": "hunter2hunter2"}))


@pytest.mark.covers("INT-81")
def test_a_child_has_its_own_variables_and_none_of_the_worker(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD_FOR_TEST", "open sesame")
    answer = pool.call(reach_to(server="env", own={"MINE": "1"}), "environment", {})
    text = result_of(answer).text
    assert '"MINE": "1"' in text
    assert '"PATH"' in text
    assert "DATABASE_PASSWORD_FOR_TEST" not in text


@pytest.mark.covers("TURN-36")
def test_an_error_is_a_failure_and_a_picture_is_named_by_its_size(pool: Pool) -> None:
    box = reach_to(server="well")
    failed = result_of(pool.call(box, "fail", {}))
    assert (failed.ok, failed.text) == (False, "channel_not_found")
    picture = result_of(pool.call(box, "picture", {}))
    assert picture.ok
    assert len(picture.text) < 400
    assert "[image, image/png, about 859," in picture.text
    assert "[encoded data, about" in picture.text


@pytest.mark.covers("INT-82")
def test_servers_end_with_their_seat_when_idle_and_when_changed() -> None:
    seat, pool = new_id(), Pool(idle_seconds=0)
    try:
        shared = reach_to(server="shared")
        own = reach_to("stubborn", server="own")
        object.__setattr__(own, "seat_id", seat)
        pool.tools(own)
        pool.tools(shared)
        assert pool.running() == sorted([(seat, "own"), (None, "shared")], key=str)
        changed = reach_to(server="shared", own={"A": "b"})
        before = set(children_of(os.getpid()))
        pool.tools(changed)
        assert len(before - set(children_of(os.getpid()))) == 1, "the old one is gone"
        pool.close_seat(seat)
        assert pool.running() == [(None, "shared")]
        pool.close_idle()
        assert pool.running() == []
    finally:
        pool.stop()


_WORKER = """
import sys
from integrations.mcp.config import Reach
from integrations.mcp.pool import Pool
command = (sys.executable, "-I", "-S", sys.argv[1], "stubborn")
pool = Pool()
pool.tools(Reach(server="box", seat_id=None, command=command))
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.covers("INT-82")
def test_no_child_outlives_a_worker_that_is_killed() -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", _WORKER, str(SERVER)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "crewlet.settings"},
    )  # fmt: skip
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        (child,) = children_of(worker.pid)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
    until(lambda: gone(child), 5)


class OverHttp(BaseHTTPRequestHandler):
    """The same server at an address, for whoever brings the key."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        message = json.loads(body)
        allowed = self.headers.get("x-key") == "open sesame"
        result = answer(message) if allowed and "id" in message else None
        told = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200 if result is not None else 202 if allowed else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(told) if result is not None else 0))
        self.end_headers()
        if result is not None:
            self.wfile.write(told)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), OverHttp) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
        thread.join()


@pytest.mark.covers("INT-80")
def test_a_server_at_an_address_is_spoken_to_with_its_headers(pool: Pool, address: str) -> None:
    reach = Reach("web", None, url=address, own={"x-key": "open sesame"}, start_seconds=10)
    assert [tool["name"] for tool in pool.tools(reach).tools] == NAMES
    assert result_of(pool.call(reach, "echo", {"text": "hi"})).text == "echo: hi"
    barred = Reach("barred", None, url=address, own={"x-key": "guess"}, start_seconds=10)
    with pytest.raises(Unavailable, match="The server barred "):
        pool.tools(barred)
    away = Reach("away", None, url="http://127.0.0.1:9/mcp", start_seconds=10)
    with pytest.raises(Unavailable, match="The server away "):
        pool.tools(away)
