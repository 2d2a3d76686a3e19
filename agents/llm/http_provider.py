"""One call of a model over HTTP: send, adapt to a dialect, read, say in words what failed.

The same for every vendor; what differs is a `Wire`. A body is never sent twice: a 400 that names a
difference of dialect changes the profile and with it the body, anything else ends the call. Waiting
and choosing another model belong to the chain.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

import httpx2

from agents.llm import errors
from agents.llm.base import (
    Answer,
    Delta,
    ErrorKind,
    JsonObject,
    Refusal,
    Request,
    StopReason,
    Usage,
)
from agents.llm.dialects import vendor_words
from agents.llm.json_text import NotJson
from agents.llm.profiles import PROFILES, Profile, adapted
from agents.llm.reading import Incomplete, Reading, VendorFailed
from agents.llm.settings import LONGEST_CALL_SECONDS, ModelSettings
from agents.llm.sse import ServerEvent, server_events
from crewlet.kernel import clock

MOST_ADAPTATIONS = 4
CONNECT_SECONDS = 10.0
_DIALECT = (400, 422)
_OK = 200
NO_ANSWER = "it answered with something that no reader of its format understands"

# At debug these write every header of an answer into the log; ours says what matters.
for _name in ("httpx2", "httpcore2", "openai", "anthropic"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Assembler(Protocol):
    """Puts a stream together; see the vendors' modules."""

    @property
    def done(self) -> bool: ...

    def feed(self, event: JsonObject) -> bool: ...

    def finish(self) -> str: ...


class Wire(Protocol):
    """What is a vendor's own."""

    def body(
        self, request: Request, settings: ModelSettings, profile: Profile, *, stream: bool
    ) -> tuple[str, int]:
        """Returns the body as JSON text and the output limit it asks for."""
        ...

    def post(self, body: bytes, *, stream: bool, timeout: httpx2.Timeout) -> httpx2.Response:
        """Sends through the vendor's SDK; raises `Rejected` and `Unreachable`."""
        ...

    def read(self, raw: str, reading: Reading, profile: Profile) -> Answer:
        """Reads a whole response."""
        ...

    def assembler(self, show: Callable[[Delta], None], profile: Profile) -> Assembler:
        """Begins to read a stream."""
        ...

    def ends(self, assembler: Assembler, data: str) -> None:
        """Takes an event that is no JSON object (`[DONE]`)."""
        ...


@dataclass(eq=False)
class Rejected(Exception):
    """An HTTP answer outside 2xx."""

    status: int
    body: object
    headers: Mapping[str, str]


@dataclass(eq=False)
class Unreachable(Exception):
    """No HTTP answer, or one that broke off."""

    cause: BaseException


class HttpProvider:
    """A model behind HTTP. Holds no state of a conversation; threads share it."""

    def __init__(self, settings: ModelSettings, wire: Wire) -> None:
        self._settings = settings
        self._wire = wire
        self._endpoint = errors.Endpoint(
            settings.key, settings.vendor, settings.model, settings.base_url, settings.api_key
        )
        self._slot = (settings.vendor, settings.base_url, settings.model)

    @property
    def key(self) -> str:
        """The key of the provider in the company document."""
        return self._settings.key

    @property
    def vendor(self) -> str:
        """The wire it speaks."""
        return self._settings.vendor

    @property
    def model(self) -> str:
        """The model it asks for."""
        return self._settings.model

    def complete(self, request: Request) -> Answer:
        """Returns a whole answer; raises `ProviderError`."""
        known = profile = PROFILES.of(*self._slot)
        sent: set[bytes] = set()
        while True:
            stream = request.stream and profile.streams
            body, cap = self._wire.body(request, self._settings, profile, stream=stream)
            call = _Call(request, body.encode(), cap, profile, stream)
            sent.add(call.digest)
            try:
                answer, proved = self._ask(call)
            except Rejected as refused:
                declined = self._declined(call, refused.status, refused.body)
                if declined is not None:
                    return declined
                profile = self._next_profile(call, refused, sent)
                continue
            if proved != known:
                PROFILES.learn(*self._slot, proved)
            return answer

    def _next_profile(self, call: _Call, refused: Rejected, sent: set[bytes]) -> Profile:
        """Returns a profile that changes the body; raises the refusal if there is none."""
        profile = call.profile
        said = vendor_words(refused.body)
        left = MOST_ADAPTATIONS - len(sent) if refused.status in _DIALECT else -1
        for _ in range(left + 1):
            taught = adapted(profile, said)
            if taught is None:
                break
            profile = taught
            stream = call.request.stream and profile.streams
            body, _ = self._wire.body(call.request, self._settings, profile, stream=stream)
            if _digest(body.encode()) not in sent:
                return profile
        raise errors.from_status(
            self._endpoint, refused.status, refused.body, refused.headers
        ) from None

    def _declined(self, call: _Call, status: int, said_body: object) -> Answer | None:
        """Returns the answer that a refused prompt amounts to, if it is one of the six stops."""
        said = vendor_words(said_body)
        if errors.exceeds_context(status, said_body):
            stop, refusal = StopReason.CONTEXT_EXCEEDED, None
        elif errors.content_filtered(status, said_body):
            stop, refusal = StopReason.REFUSAL, Refusal("content_filter", said)
        else:
            return None
        return Reading(call.request, self._settings, call.cap).answer(
            stop=stop,
            text="",
            reasoning="",
            calls=(),
            usage=Usage(0, 0),
            raw=json.dumps(said_body, ensure_ascii=False, default=str),
            refusal=refusal,
        )

    def _ask(self, call: _Call) -> tuple[Answer, Profile]:
        """Returns the answer and the profile that it proves."""
        shown = _Shown(call.request.on_delta if call.stream else None)
        try:
            raw, profile = self._exchange(call, shown)
            reading = Reading(call.request, self._settings, call.cap)
            return self._wire.read(raw, reading, profile), profile
        except (Incomplete, NotJson) as problem:
            shown.void()
            said = NO_ANSWER if isinstance(problem, NotJson) else str(problem)
            raise errors.provider_error(self._endpoint, ErrorKind.SERVER, said) from problem
        except VendorFailed as problem:
            shown.void()
            declined = self._declined(call, _OK, problem.body)
            if declined is None:
                raise errors.from_stream(self._endpoint, problem.body) from problem
            return declined, call.profile
        except Unreachable as problem:
            shown.void()
            raise errors.from_transport(self._endpoint, problem.cause) from problem.cause

    def _exchange(self, call: _Call, shown: _Shown) -> tuple[str, Profile]:
        seconds = call.request.timeout or self._settings.timeout_seconds or LONGEST_CALL_SECONDS
        timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        response = self._wire.post(call.body, stream=call.stream, timeout=timeout)
        with closing(response):
            try:
                kind = response.headers.get("content-type", "")
                if "html" in kind:
                    raise Incomplete(f"it answered with {vendor_words(_whole(response))}")
                if not call.stream and "event-stream" not in kind:
                    return _whole(response), call.profile
                if "json" in kind:
                    # It took no notice of `stream`: ask it plainly from now on (TURN-55).
                    return _whole(response), replace(call.profile, streams=False)
                return self._streamed(response, call.profile, shown, seconds), call.profile
            except httpx2.HTTPError as problem:
                raise Unreachable(problem) from problem

    def _streamed(
        self, response: httpx2.Response, profile: Profile, shown: _Shown, seconds: float
    ) -> str:
        assembler = self._wire.assembler(shown.show, profile)
        heard = clock.monotonic()
        # After the last event the body is read to its end, so that the connection is kept.
        for event, data in _objects(server_events(response.iter_bytes())):
            if assembler.done:
                break
            if event.name == "error" or (data and (data.get("type") == "error" or _fails(data))):
                raise VendorFailed(data or event.data)
            if data is None:
                self._wire.ends(assembler, event.data)
            elif assembler.feed(data):
                heard = clock.monotonic()
            elif clock.monotonic() - heard > seconds:
                # Pings keep the socket alive for ever; they are no answer.
                raise Unreachable(httpx2.ReadTimeout("only pings"))
        return assembler.finish()


@dataclass(frozen=True)
class _Call:
    """One body on its way."""

    request: Request
    body: bytes
    cap: int
    profile: Profile
    stream: bool

    @property
    def digest(self) -> bytes:
        return _digest(self.body)


class _Shown:
    """Passes deltas on and takes them back when the answer they belong to is void."""

    def __init__(self, on_delta: Callable[[Delta], None] | None) -> None:
        self._on_delta = on_delta
        self._any = False

    def show(self, delta: Delta) -> None:
        if self._on_delta is not None:
            self._any = True
            self._on_delta(delta)

    def void(self) -> None:
        if self._any and self._on_delta is not None:
            self._on_delta(Delta("restart"))


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def _whole(response: httpx2.Response) -> str:
    return response.read().decode("utf-8", "replace").removeprefix("\ufeff").strip()


def _fails(chunk: JsonObject) -> bool:
    """Whether a chunk is nothing but an error; one with choices says it by its finish reason."""
    return bool(chunk.get("error")) and not chunk.get("choices")


def _objects(events: Iterable[ServerEvent]) -> Iterator[tuple[ServerEvent, JsonObject | None]]:
    """Yields each event with its object, None where it holds none (`[DONE]`).

    Some servers leave out the blank line between two events: their lines then stand on their own.
    Raises `Incomplete` for half an object, since what it held would be missing from the answer.
    """
    for event in events:
        lines = event.data.split("\n")
        joined = len(lines) > 1 and all(_stands_alone(line) for line in lines)
        for line in lines if joined else [event.data]:
            yield ServerEvent(event.name, line), _event_object(line)


def _stands_alone(line: str) -> bool:
    return line == "[DONE]" or (line.startswith("{") and line.endswith("}"))


def _event_object(data: str) -> JsonObject | None:
    try:
        # NaN is no JSON, and nothing that we read is measured in it.
        value: Any = json.loads(data, parse_constant=lambda _: None)
    except ValueError as problem:
        if data.startswith("{"):
            raise NotJson("an event is cut off") from problem
        return None
    return value if isinstance(value, dict) else None
