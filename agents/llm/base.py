"""What a model is asked and what it answers, in one vocabulary for every vendor.

Everything here is plain data: no SDK, no Django, no clock. `Answer.raw` keeps the vendor's own JSON
as text, because an id of nineteen digits or a float's last digit does not survive a parser that
nobody asked to be careful.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from agents.llm.arguments import mended

JsonObject: TypeAlias = dict[str, Any]


class StopReason(StrEnum):
    """Why the model stopped (TURN-47).

    | value            | meaning                                        | may its calls run? |
    |------------------|------------------------------------------------|--------------------|
    | end              | it finished its sentence; also every unknown   | it has none        |
    | tool_use         | it waits for the results of its calls          | yes                |
    | max_tokens       | cut off by the output limit                    | no                 |
    | refusal          | it or the vendor's filter declined             | no                 |
    | context_exceeded | the prompt does not fit the model              | no                 |
    | paused           | the vendor interrupted a long answer           | no                 |
    """

    END = "end"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    CONTEXT_EXCEEDED = "context_exceeded"
    PAUSED = "paused"

    @property
    def finished(self) -> bool:
        """Whether the answer is whole, so that its calls may run and the round counts."""
        return self in (StopReason.END, StopReason.TOOL_USE)


class ErrorKind(StrEnum):
    """What a failed call means for the chain (TURN-51): all but `fatal` let the next one try."""

    RATE_LIMIT = "rate_limit"
    AUTH = "auth"
    TIMEOUT = "timeout"
    SERVER = "server"
    FATAL = "fatal"

    @property
    def retryable(self) -> bool:
        """Whether another member of the chain may answer where this one failed."""
        return self is not ErrorKind.FATAL


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the model is shown it; `name` is ours, the wire may have to spell it otherwise."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """One call of an answer.

    `arguments` is None exactly when `error` says why they are no JSON object; such a call is
    answered with a failed result and never run. `arguments_text` is what the model wrote, without
    the slips that `arguments.mended` takes away.
    """

    id: str
    name: str
    arguments: JsonObject | None
    arguments_text: str
    error: str | None = None

    @classmethod
    def parse(cls, call_id: str, name: str, arguments_text: str) -> ToolCallPart:
        """Reads the arguments as text; nothing, blanks and `null` mean no arguments."""
        arguments, error = parse_arguments(arguments_text)
        if error is not None:
            arguments_text = mended(arguments_text)
            arguments, error = parse_arguments(arguments_text)
        return cls(call_id, name, arguments, arguments_text, error)


def parse_arguments(text: str) -> tuple[JsonObject | None, str | None]:
    """Returns the arguments as an object, or None with a reason that the model can act on."""
    if not text.strip() or text.strip() == "null":
        return {}, None
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        return None, f"The arguments are not valid JSON ({problem}). Send one JSON object."
    if not isinstance(value, dict):
        return None, (
            f"The arguments are {_json_kind(value)}, not a JSON object. Send one JSON object."
        )
    return value, None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _json_kind(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, list):
        return "a list"
    return "a string" if isinstance(value, str) else "a number"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `input` is the FULL prompt, cached parts included (TURN-54).

    `cache_read` and `cache_write` break `input` down and are None where the vendor says nothing.
    `estimated` marks numbers that we counted because the vendor sent none.
    """

    input: int
    output: int
    cache_read: int | None = None
    cache_write: int | None = None
    estimated: bool = False

    @property
    def total(self) -> int:
        """Tokens charged for the call."""
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the model or its vendor declined: a category where known, and their words."""

    category: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One whole answer of a model.

    `model` is the model that was asked for, `served_model` the one the vendor says answered.
    `vendor` names the wire (`anthropic`, `openai`, `openai-compatible`, `rehearsal`); `raw` is the
    response as JSON text, as received, or assembled from a stream. `prefix` is the digest of the
    system prompt and the tools it answered under.
    """

    stop: StopReason
    text: str
    reasoning: str
    calls: tuple[ToolCallPart, ...]
    usage: Usage
    model: str
    provider_key: str
    vendor: str
    raw: str
    refusal: Refusal | None = None
    served_model: str = ""
    prefix: str = ""

    def to_json(self) -> JsonObject:
        """Returns a JSON-able object from which `from_json` rebuilds an equal answer.

        Arguments travel as the text the model wrote, so no number passes through a float.
        """
        usage = self.usage
        return {
            "stop": self.stop.value,
            "text": self.text,
            "reasoning": self.reasoning,
            "calls": [
                {"id": c.id, "name": c.name, "arguments_text": c.arguments_text, "error": c.error}
                for c in self.calls
            ],
            "usage": {
                "input": usage.input,
                "output": usage.output,
                "cache_read": usage.cache_read,
                "cache_write": usage.cache_write,
                "estimated": usage.estimated,
            },
            "model": self.model,
            "served_model": self.served_model,
            "provider_key": self.provider_key,
            "vendor": self.vendor,
            "raw": self.raw,
            "prefix": self.prefix,
            "refusal": self.refusal
            and {"category": self.refusal.category, "explanation": self.refusal.explanation},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | str) -> Answer:
        """Rebuilds an answer from what `to_json` returned (or that, as JSON text)."""
        data: Mapping[str, Any] = json.loads(stored) if isinstance(stored, str) else stored
        return cls(
            stop=StopReason(data["stop"]),
            text=data["text"],
            reasoning=data["reasoning"],
            calls=tuple(_call_from_json(call) for call in data["calls"]),
            usage=Usage(**data["usage"]),
            model=data["model"],
            provider_key=data["provider_key"],
            vendor=data["vendor"],
            raw=data["raw"],
            refusal=Refusal(**data["refusal"]) if data["refusal"] else None,
            served_model=data["served_model"],
            prefix=data["prefix"],
        )


def _call_from_json(data: Mapping[str, Any]) -> ToolCallPart:
    if data["error"] is not None:
        return ToolCallPart(data["id"], data["name"], None, data["arguments_text"], data["error"])
    return ToolCallPart.parse(data["id"], data["name"], data["arguments_text"])


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person or the engine says: the ask, a steer note, a correction."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """An earlier answer of this conversation, whoever gave it."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call. `ok` False tells the model that the call failed."""

    call_id: str
    name: str
    text: str
    ok: bool = True


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer while it is being written.

    kind `text` and `reasoning` carry the new text; `call` carries the name of a call that began;
    `restart` tells that what was shown so far is void (the answer is asked for again).
    """

    kind: Literal["text", "reasoning", "call", "restart"]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A model of a chain that could not answer, and the one that is asked in its place."""

    source: str
    target: str
    kind: ErrorKind
    message: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model. No field forces a tool choice, because current models reject it.

    `max_tokens` 0 means the provider's own limit. `timeout` is in seconds, 0 the provider's own.
    `on_delta` is called from the thread that called `complete` and only if `stream` is set;
    `on_fallback` from there too, before the next model of a chain is asked.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_tokens: int = 0
    stream: bool = False
    on_delta: Callable[[Delta], None] | None = field(default=None, compare=False)
    on_fallback: Callable[[Fallback], None] | None = field(default=None, compare=False)
    timeout: float = 0.0


class ProviderError(Exception):
    """A call of a model that brought no answer, in words a founder can act on.

    `retry_after` is in seconds, None where the vendor named none. The message never holds a key.
    """

    def __init__(
        self,
        kind: ErrorKind | str,
        message: str,
        retry_after: float | None = None,
        *,
        status: int | None = None,
        provider_key: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = ErrorKind(kind)
        self.message = message
        self.retry_after = retry_after
        self.status = status
        self.provider_key = provider_key


class NoProvider(Exception):
    """No model can be asked for this seat and phase; the message says what to add where."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@runtime_checkable
class Provider(Protocol):
    """Something that answers a request. Safe to call from many threads at once."""

    @property
    def key(self) -> str:
        """The key of the provider in the company document."""
        ...

    @property
    def vendor(self) -> str:
        """The wire it speaks, as `Answer.vendor`."""
        ...

    @property
    def model(self) -> str:
        """The model it asks for."""
        ...

    def complete(self, request: Request) -> Answer:
        """Returns a whole answer or raises `ProviderError`; it never retries the same body."""
        ...
