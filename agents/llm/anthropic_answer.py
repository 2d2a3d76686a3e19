"""Reads Anthropic's Messages answers, whole or as a stream of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.llm.base import Answer, Delta, JsonObject, Refusal, StopReason, ToolCallPart
from agents.llm.json_text import (
    NotJson,
    Slice,
    clean,
    elements,
    encode,
    list_of,
    members,
    object_of,
)
from agents.llm.names import real_name
from agents.llm.reading import Incomplete, Reading, VendorFailed
from agents.llm.stop_reason import ANTHROPIC, normalise
from agents.llm.usage import anthropic_usage


def read_anthropic(raw: str, reading: Reading) -> Answer:
    """Returns the answer that a whole response holds; raises `Incomplete` if it is none."""
    try:
        message = members(raw)
        if "content" not in message and _value(message, "error"):
            raise VendorFailed(message["error"].value)
        blocks = elements(message["content"].text)
    except (NotJson, KeyError) as problem:
        raise Incomplete("it answered with something that is no Messages response") from problem
    text = "".join(str(b.value.get("text") or "") for b in _of_kind(blocks, "text"))
    thoughts = "\n".join(str(b.value.get("thinking") or "") for b in _of_kind(blocks, "thinking"))
    calls = tuple(_call(block, reading) for block in _of_kind(blocks, "tool_use"))
    usage = reading.usage(anthropic_usage(_mapping(message.get("usage"))), raw)
    stop = normalise(
        ANTHROPIC,
        _value(message, "stop_reason"),
        calls,
        output_tokens=usage.output,
        cap=reading.cap,
    )
    return reading.answer(
        stop=stop,
        text=text,
        reasoning=thoughts,
        calls=calls,
        usage=usage,
        raw=raw,
        served_model=str(_value(message, "model") or ""),
        refusal=_refusal(message, text) if stop is StopReason.REFUSAL else None,
    )


def _of_kind(blocks: list[Slice], kind: str) -> list[Slice]:
    return [b for b in blocks if isinstance(b.value, dict) and b.value.get("type") == kind]


def _call(block: Slice, reading: Reading) -> ToolCallPart:
    parts = members(block.text)
    given = parts.get("input")
    # A string here is what a stream left of arguments that never became an object.
    written = given.value if given and isinstance(given.value, str) else given and given.text
    return ToolCallPart.parse(
        reading.call_id(block.value.get("id")),
        real_name(str(block.value.get("name") or ""), reading.names),
        str(written or ""),
    )


def _refusal(message: Mapping[str, Slice], text: str) -> Refusal:
    details = _mapping(message.get("stop_details"))
    return Refusal(
        category=str(details.get("category") or "unspecified"),
        explanation=str(details.get("explanation") or text or "The model declined to answer."),
    )


def _value(message: Mapping[str, Slice], name: str) -> Any:
    found = message.get(name)
    return found.value if found else None


def _mapping(found: Slice | None) -> Mapping[str, Any]:
    return found.value if found and isinstance(found.value, Mapping) else {}


@dataclass
class _Block:
    """A content block while its deltas arrive. `start` is the block as announced."""

    start: JsonObject
    pieces: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, piece: object) -> None:
        self.pieces.setdefault(name, []).append(str(piece))

    def text(self) -> str:
        whole = dict(self.start)
        for name, pieces in self.pieces.items():
            if name != "partial_json":
                whole[name] = str(whole.get(name) or "") + "".join(pieces)
        parts = {name: encode(value) for name, value in whole.items()}
        if whole.get("type") == "tool_use":
            parts["input"] = self._input()
        return object_of(parts)

    def _input(self) -> str:
        written = "".join(self.pieces.get("partial_json", []))
        if not written.strip():
            return encode(self.start.get("input") or {})
        try:
            members(written)
        except NotJson:
            return encode(written)
        return clean(written.strip())


_DELTA_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


class AnthropicStream:
    """Puts the events of a stream together to the response that a unary call would have had.

    Usage counts run upwards within a stream: the last value of each wins, nothing is summed.
    """

    def __init__(self, show: Callable[[Delta], None]) -> None:
        self._show = show
        self._message: JsonObject = {}
        self._usage: JsonObject = {}
        self._blocks: dict[int, _Block] = {}
        self._ended = False

    @property
    def done(self) -> bool:
        """Whether the vendor has said that nothing follows."""
        return self._ended

    def feed(self, event: JsonObject) -> bool:
        """Takes one event; returns whether it carried anything of the answer."""
        kind = event.get("type")
        if kind == "message_start":
            self._message = dict(event.get("message") or {})
            self._count(self._message.pop("usage", None))
        elif kind == "content_block_start":
            self._begin(event)
        elif kind == "content_block_delta":
            self._grow(event)
        elif kind == "message_delta":
            self._message.update(event.get("delta") or {})
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self._ended = True
        return kind != "ping"

    def finish(self) -> str:
        """Returns the assembled response; raises `Incomplete` if the stream was cut."""
        if not self._ended and not self._message.get("stop_reason"):
            raise Incomplete("the stream ended before the answer did")
        parts = {name: encode(value) for name, value in self._message.items() if name != "content"}
        ordered = [self._blocks[index].text() for index in sorted(self._blocks)]
        parts["content"] = list_of(ordered)
        parts["usage"] = encode(self._usage)
        return object_of(parts)

    def _begin(self, event: JsonObject) -> None:
        block = dict(event.get("content_block") or {})
        self._blocks[int(event.get("index") or 0)] = _Block(block)
        if block.get("type") == "tool_use":
            self._show(Delta("call", str(block.get("name") or "")))

    def _grow(self, event: JsonObject) -> None:
        block = self._blocks.setdefault(
            int(event.get("index") or 0), _Block({"type": "text", "text": ""})
        )
        delta = event.get("delta") or {}
        name = _DELTA_FIELDS.get(str(delta.get("type")))
        if name is None:
            if delta.get("type") == "citations_delta":
                block.start.setdefault("citations", []).append(delta.get("citation"))
            return
        piece = delta.get(name) or ""
        block.add(name, piece)
        if name == "text":
            self._show(Delta("text", piece))
        elif name == "thinking":
            self._show(Delta("reasoning", piece))

    def _count(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            # Gateways close with zeros where the vendor had counted.
            self._usage.update({k: v for k, v in usage.items() if v or k not in self._usage})
