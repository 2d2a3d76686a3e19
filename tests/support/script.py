"""Scripts for the model server: what each seat's model is to say, step by step.

    server.script("ada executes", on_system("Ada", "execute"), [
        Step(calls=[call("get_work_item", item="ENG-1")]),
        Step(expect="ENG-1", calls=[call("submit_work", summary="Done")]),
    ])

Several scripts play side by side; a request goes to the first one that matches it and has a step
left. A missing step answers 400 and fails the test, as does a leftover one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.support.model_server import ModelServer

LONGEST_GATE_SECONDS = 30.0


@dataclass(frozen=True)
class Said:
    """One message of a request, the same for both wires. Results carry the id they answer."""

    role: str
    text: str
    calls: tuple[SeenCall, ...] = ()
    call_id: str = ""
    failed: bool = False


@dataclass(frozen=True)
class SeenCall:
    """A call of an earlier answer, as it was replayed."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class SeenRequest:
    """A request as the server read it. `headers` have lower-case names."""

    wire: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    system: str
    messages: tuple[Said, ...]
    tools: Mapping[str, dict[str, Any]]
    stream: bool
    raw: bytes
    at: float

    @property
    def text(self) -> str:
        """Everything said in it, the system prompt first."""
        return "\n".join([self.system, *(said.text for said in self.messages)])

    def calls(self) -> list[SeenCall]:
        """The calls made so far, in order."""
        return [call for said in self.messages for call in said.calls]

    def describe(self) -> str:
        """A line for a failing test: what was asked, by whom, with which tools."""
        last = self.messages[-1] if self.messages else Said("nobody", "")
        return (
            f"{self.wire} {'stream' if self.stream else 'unary'}, system {self.system[:80]!r}, "
            f"{len(self.messages)} messages, last {last.role} {last.text[-120:]!r}, "
            f"tools {sorted(self.tools)[:12]}"
        )


Matches = Callable[[SeenRequest], bool]


@dataclass(frozen=True)
class ScriptedCall:
    """A call to answer with. `raw_arguments`, if set, goes out as it stands (any JSON value)."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    raw_arguments: Any = None


def call(name: str, **arguments: Any) -> ScriptedCall:
    """Writes a call short."""
    return ScriptedCall(name, arguments)


@dataclass(frozen=True)
class Step:
    """One answer of the model.

    `expect` is text that the request must hold, or a function that asserts about it. `stop` is the
    vendor's own word; empty lets the calls decide. `usage` is (input, output). `delay` is the
    model's latency in seconds; `gate` waits until the test sets it. `status` answers an HTTP error
    with `headers` and `error` = (type, message). `cut_stream_after` drops the connection after so
    many events; `error_after` sends `error` inside the stream after so many. `ignore_stream`
    answers a stream request with plain JSON. `chunks` / `response` go out as they stand.
    """

    expect: str | Sequence[str] | Callable[[SeenRequest], object] = ""
    say: str = ""
    think: str = ""
    calls: Sequence[ScriptedCall] = ()
    stop: str = ""
    usage: tuple[int, int] | None = None
    cached: tuple[int, int] | None = None
    delay: float = 0.0
    gate: threading.Event | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: tuple[str, str] = ("", "")
    cut_stream_after: int | None = None
    error_after: int | None = None
    ignore_stream: bool = False
    raw_arguments: Any = None
    refusal: tuple[str, str] | None = None
    chunks: Sequence[Any] | None = None
    response: Any = None

    def check(self, seen: SeenRequest) -> str:
        """Returns what the request lacks, empty if it is as expected."""
        if callable(self.expect):
            try:
                held = self.expect(seen)
            except AssertionError as problem:
                return f"its expectation failed: {str(problem) or 'assertion'}"
            return "its expectation returned False" if held is False else ""
        wanted = [self.expect] if isinstance(self.expect, str) else list(self.expect)
        missing = [text for text in wanted if text and text not in seen.text]
        return f"the prompt does not hold {missing}" if missing else ""


class Script:
    """The steps of one conversation, taken in order by the requests that match."""

    def __init__(self, name: str, matches: Matches, steps: Sequence[Step]) -> None:
        self.name = name
        self.matches = matches
        self._steps = list(steps)
        self._taken = 0

    @property
    def left(self) -> int:
        """How many steps nobody asked for yet."""
        return len(self._steps) - self._taken

    def take(self) -> tuple[int, Step]:
        """Returns the next step and its number, from 1."""
        self._taken += 1
        return self._taken, self._steps[self._taken - 1]

    def give_back(self) -> None:
        """Puts the last step back: the request it was for was not what it expects."""
        self._taken -= 1


class ScriptedModel:
    """All scripts of a test; requests come from many threads at once."""

    def __init__(self) -> None:
        self._scripts: list[Script] = []
        self._problems: list[str] = []
        self._lock = threading.Lock()

    def add(self, name: str, matches: Matches, steps: Sequence[Step]) -> Script:
        """Adds a conversation behind those that are there."""
        script = Script(name, matches, steps)
        with self._lock:
            self._scripts.append(script)
        return script

    def answer(self, seen: SeenRequest) -> Step:
        """Returns the step for a request; a 400 step where the script has none."""
        with self._lock:
            matching = [script for script in self._scripts if script.matches(seen)]
            script = next((script for script in matching if script.left), None)
            if script is None:
                return self._missing(seen, matching)
            number, step = script.take()
            lacks = step.check(seen)
            if lacks:
                return self._fail(
                    f'Script "{script.name}", step {number}: {lacks}. Request: {seen.describe()}'
                )
            return step

    def verify(self) -> None:
        """Raises AssertionError naming every missing, failed and leftover step."""
        with self._lock:
            left = [
                f'Script "{script.name}" has {script.left} step(s) that nobody asked for.'
                for script in self._scripts
                if script.left
            ]
            problems = [*self._problems, *left]
        if problems:
            raise AssertionError("\n".join(problems))

    def forgive(self) -> list[str]:
        """Returns the problems so far and forgets them and the scripts; for tests of this."""
        with self._lock:
            problems, self._problems, self._scripts = self._problems, [], []
            return problems

    def _missing(self, seen: SeenRequest, matching: Sequence[Script]) -> Step:
        names = ", ".join(f'"{script.name}"' for script in matching) or "no script"
        return self._fail(f"No step is left for a request that {names} matches: {seen.describe()}")

    def _fail(self, problem: str) -> Step:
        self._problems.append(problem)
        return Step(status=400, error=("invalid_request_error", f"model script: {problem}"))


def anything(_seen: SeenRequest) -> bool:
    """Matches every request."""
    return True


def on_system(*texts: str) -> Matches:
    """Matches requests whose system prompt holds all of the texts: a seat's name, a phase."""
    return lambda seen: all(text in seen.system for text in texts)


def offering(*tools: str) -> Matches:
    """Matches requests that offer all of the tools."""
    return lambda seen: all(tool in seen.tools for tool in tools)


def both(*parts: Matches) -> Matches:
    """Matches what every part matches."""
    return lambda seen: all(part(seen) for part in parts)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model server on a free port of its own; its script is checked at the end."""
    from tests.support.model_server import ModelServer

    with ModelServer() as server:
        yield server
        server.model.verify()
