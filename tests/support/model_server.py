"""A model server on loopback that speaks Anthropic Messages and OpenAI Chat Completions.

In a test it plays a script (`tests/support/script.py`); as a process of its own it plays a simple
agent, so that benches, end-to-end tests and a founder can point a company's base_url at it:

    python -m tests.support.model_server --port 8011 --latency-ms 200 --play reviewed-turn

It answers what the real vendors refuse (an unanswered call, a forced tool, a bad name) with 400.
`GET /stats` tells what was received.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from tests.support import model_wire as wire_format
from tests.support.model_play import PLAYS
from tests.support.model_wire import ANTHROPIC, OPENAI
from tests.support.script import (
    LONGEST_GATE_SECONDS,
    Matches,
    Script,
    ScriptedModel,
    SeenRequest,
    Step,
    anything,
)

_ROUTES = {"/messages": ANTHROPIC, "/chat/completions": OPENAI}
_KEPT = 10_000


class Stats:
    """What was received: arrival, wire, digest of the body; how many at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._received: list[dict[str, Any]] = []
        self._digests: Counter[str] = Counter()
        self._calls = 0
        self._now = 0
        self._most = 0

    def arrive(self, seen: SeenRequest) -> int:
        """Counts a request and returns its number, from 1."""
        digest = hashlib.sha256(seen.raw).hexdigest()[:16]
        row = {"at": seen.at, "wire": seen.wire, "digest": digest, "bytes": len(seen.raw)}
        with self._lock:
            self._calls += 1
            self._now += 1
            self._most = max(self._most, self._now)
            self._digests[digest] += 1
            if len(self._received) < _KEPT:
                self._received.append(row)
            return self._calls

    def leave(self) -> None:
        """Counts an answer."""
        with self._lock:
            self._now -= 1

    def reset(self) -> None:
        """Starts over."""
        with self._lock:
            self._received, self._digests = [], Counter()
            self._calls = self._most = 0

    def report(self) -> dict[str, Any]:
        """Returns the counts; `repeats` are bodies that came more than once."""
        with self._lock:
            return {
                "calls": self._calls,
                "most_at_once": self._most,
                "repeats": sum(count - 1 for count in self._digests.values()),
                "received": list(self._received),
            }


class ModelServer:
    """The server in a thread; a context manager. `model` is its script unless it plays."""

    def __init__(
        self,
        port: int = 0,
        *,
        play: Callable[[SeenRequest], Step] | None = None,
        latency: float = 0.0,
    ) -> None:
        self.model = ScriptedModel()
        self.stats = Stats()
        self.seen: list[SeenRequest] = []
        self.latency = latency
        self._play = play
        self._stopping = threading.Event()
        self._http = _Listener(("127.0.0.1", port), _Conversation)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The address without a version: what an Anthropic base_url is."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """The address with the version: what an OpenAI base_url is."""
        return f"{self.url}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_problem: object) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)

    def serve(self) -> None:
        """Serves on this thread until interrupted."""
        try:
            self._http.serve_forever(0.2)
        finally:
            self._http.server_close()

    def script(self, name: str, matches: Matches, steps: Sequence[Step]) -> Script:
        """Adds a conversation."""
        return self.model.add(name, matches, steps)

    def says(self, *steps: Step) -> Script:
        """Adds steps for whoever asks."""
        return self.model.add("anybody", anything, steps)

    def step_for(self, seen: SeenRequest) -> Step:
        """Returns what to answer, after the model's latency."""
        if self._play is None:
            self.seen.append(seen)
        refused = wire_format.refused(seen)
        if refused:
            return Step(status=400, error=("invalid_request_error", refused))
        step = self._play(seen) if self._play is not None else self.model.answer(seen)
        if step.gate is not None:
            step.gate.wait(LONGEST_GATE_SECONDS)
        delay = self.latency + step.delay
        if delay:
            # Not a sleep: a server that is being stopped lets go of its callers at once.
            self._stopping.wait(delay)
        return step


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    owner: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65_536

    @property
    def _owner(self) -> ModelServer:
        return cast(_Listener, self.server).owner

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: a line per call would drown a test's own output."""

    def do_GET(self) -> None:
        """Serves the counts and the list of models."""
        path = self.path.split("?")[0].rstrip("/")
        if path.endswith("/stats"):
            self._json(200, self._owner.stats.report())
        elif path.endswith("/models"):
            self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        else:
            self._json(404, {"error": {"type": "not_found_error", "message": self.path}})

    def do_POST(self) -> None:
        """Serves both wires."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0].rstrip("/")
        if path.endswith("/reset"):
            self._owner.stats.reset()
            self._json(200, {})
            return
        wire = next((wire for end, wire in _ROUTES.items() if path.endswith(end)), "")
        if not wire:
            self._json(404, {"error": {"type": "not_found_error", "message": self.path}})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            seen = wire_format.read_request(wire, raw, headers, time.monotonic())
        except (ValueError, KeyError, TypeError) as problem:
            error = ("invalid_request_error", str(problem))
            self._json(400, wire_format.error_body(wire, 400, error))
            return
        number = self._owner.stats.arrive(seen)
        try:
            self._answer(self._owner.step_for(seen), seen, number)
        finally:
            self._owner.stats.leave()

    def _answer(self, step: Step, seen: SeenRequest, number: int) -> None:
        if step.status != 200:
            body = wire_format.error_body(seen.wire, step.status, step.error)
            self._json(step.status, step.response or body, dict(step.headers))
        elif seen.stream and not step.ignore_stream:
            self._stream(step, seen, number)
        elif step.cut_stream_after is not None:
            self._cut_whole(json.dumps(wire_format.whole(step, seen, number)).encode())
        else:
            self._json(200, wire_format.whole(step, seen, number), dict(step.headers))

    def _json(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        page = isinstance(body, str) and body.startswith("<")
        kind = "text/html" if page else "application/json"
        for name, value in {"content-type": kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def _stream(self, step: Step, seen: SeenRequest, number: int) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for at, (name, data) in enumerate(wire_format.events(step, seen, number)):
            if at == step.cut_stream_after:
                self._drop()
                return
            if at == step.error_after:
                body = wire_format.error_body(seen.wire, 529, step.error)
                self._event("error" if seen.wire == ANTHROPIC else "", json.dumps(body))
                break
            self._event(name, data)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _event(self, name: str, data: str) -> None:
        text = (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
        chunk = text.encode()
        self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.flush()

    def _cut_whole(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self._drop()

    def _drop(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the server as a process of its own until it is stopped."""
    parser = argparse.ArgumentParser(prog="model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=8011)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--play", choices=sorted(PLAYS), default="reviewed-turn")
    parser.add_argument("--rounds", type=int, default=1, help="tool rounds before the comment")
    given = parser.parse_args(arguments)
    play = PLAYS[given.play](given.rounds)
    server = ModelServer(given.port, play=play, latency=given.latency_ms / 1000)
    sys.stdout.write(f"model server at {server.url} (OpenAI: {server.openai_url})\n")
    sys.stdout.flush()
    try:
        server.serve()
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
