"""Reads Chat Completions answers, whole or as a stream of chunks, from whoever serves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.llm.base import Answer, Delta, JsonObject, Refusal, StopReason, ToolCallPart, Usage
from agents.llm.control_tokens import LiveFilter, split_thinking, visible
from agents.llm.json_text import NotJson, Slice, elements, encode, list_of, members, object_of
from agents.llm.names import real_name
from agents.llm.reading import Incomplete, Reading, VendorFailed
from agents.llm.stop_reason import OPENAI, failed, normalise
from agents.llm.usage import openai_usage

NO_FORMAT = "it answered with something that is no Chat Completions response"


def read_openai(raw: str, reading: Reading, *, cleans: bool) -> Answer:
    """Returns the answer that a whole response holds.

    `cleans` takes a local model's control tokens and `<think>` out of its text. Raises
    `Incomplete` for what is no answer and `VendorFailed` for one that says it failed.
    """
    whole, choice, message = _parts(raw)
    reason = _value(choice, "finish_reason")
    if failed(reason):
        raise VendorFailed(_value(whole, "error") or {"message": f"finish_reason {reason}"})
    text, reasoning = _texts(message, cleans=cleans)
    calls = _calls(message, reading)
    usage = _usage(whole, choice) or reading.estimate(raw)
    stop = normalise(OPENAI, reason, calls, output_tokens=usage.output, cap=reading.cap)
    declined = str(_value(message, "refusal") or "")
    if declined and not calls:
        stop = StopReason.REFUSAL
    return reading.answer(
        stop=stop,
        text=text,
        reasoning=reasoning,
        calls=calls,
        usage=usage,
        raw=raw,
        served_model=str(_value(whole, "model") or ""),
        refusal=_refusal(declined, text) if stop is StopReason.REFUSAL else None,
    )


def _parts(raw: str) -> tuple[dict[str, Slice], dict[str, Slice], dict[str, Slice]]:
    try:
        whole = members(raw)
        choices = elements(whole["choices"].text) if _value(whole, "choices") else []
        if not choices and _value(whole, "error"):
            raise VendorFailed(whole["error"].value)
        choice = members(choices[0].text)
        return whole, choice, members(choice["message"].text)
    except (NotJson, KeyError, IndexError) as problem:
        raise Incomplete(NO_FORMAT) from problem


def _texts(message: Mapping[str, Slice], *, cleans: bool) -> tuple[str, str]:
    text = _plain(_value(message, "content"))
    thoughts = _value(message, "reasoning_content") or _value(message, "reasoning") or ""
    reasoning = thoughts if isinstance(thoughts, str) else ""
    if cleans:
        thought, text = split_thinking(text)
        text, reasoning = visible(text), visible(reasoning or thought)
    return text, reasoning


def _plain(content: object) -> str:
    """Returns content as text; some servers send a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(p.get("text") or "") for p in content if isinstance(p, Mapping))
    return ""


def _calls(message: Mapping[str, Slice], reading: Reading) -> tuple[ToolCallPart, ...]:
    if not _value(message, "tool_calls"):
        return ()
    return tuple(_call(block, reading) for block in elements(message["tool_calls"].text))


def _call(block: Slice, reading: Reading) -> ToolCallPart:
    try:
        parts = members(block.text)
        function = members(parts["function"].text)
    except (NotJson, KeyError) as problem:
        raise Incomplete("it sent a tool call without a function") from problem
    given = function.get("arguments")
    # Some servers send the object itself: its text is as good, and keeps every digit.
    written = "" if given is None or given.value is None else given.text
    if given is not None and isinstance(given.value, str):
        written = given.value
    name = real_name(str(_value(function, "name") or ""), reading.names)
    return ToolCallPart.parse(reading.call_id(_value(parts, "id")), name, written)


def _usage(whole: Mapping[str, Slice], choice: Mapping[str, Slice]) -> Usage | None:
    for found in (_value(whole, "usage"), _value(choice, "usage")):
        usage = openai_usage(found) if isinstance(found, Mapping) else None
        if usage is not None:
            return usage
    return None


def _refusal(declined: str, text: str) -> Refusal:
    if declined:
        return Refusal("unspecified", declined)
    return Refusal("content_filter", text or "The vendor's content filter stopped the answer.")


def _value(parts: Mapping[str, Slice], name: str) -> Any:
    found = parts.get(name)
    return found.value if found else None


@dataclass
class _Call:
    """A call while its deltas arrive."""

    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: JsonObject = field(default_factory=dict)

    def text(self) -> str:
        parts = {"id": encode(self.id), "type": '"function"'}
        parts |= {name: encode(value) for name, value in self.extra.items()}
        parts["function"] = object_of(
            {"name": encode(self.name), "arguments": encode("".join(self.arguments))}
        )
        return object_of(parts)


class OpenAIStream:
    """Puts the chunks of a stream together to the response that a unary call would have had.

    A chunk without choices adds no text; the last usage of the stream counts; an id that was not
    seen yet opens a new call even under an index that is in use, and a known one goes on.
    """

    def __init__(self, show: Callable[[Delta], None], *, cleans: bool) -> None:
        self._show = show
        self._filter = LiveFilter() if cleans else None
        self._text: dict[str, list[str]] = {}
        self._details: list[Any] = []
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._finish: object = None
        self._usage: object = None
        self._head: JsonObject = {}
        self._ended = False

    @property
    def done(self) -> bool:
        """Whether the vendor has said that nothing follows."""
        return self._ended

    def end(self) -> None:
        """Takes the `[DONE]` that closes a stream."""
        self._ended = True

    def feed(self, chunk: JsonObject) -> bool:
        """Takes one chunk; returns whether it carried anything of the answer."""
        for name in ("id", "model", "created", "system_fingerprint"):
            if chunk.get(name):
                self._head.setdefault(name, chunk[name])
        self._count(chunk)
        choices = chunk.get("choices") or []
        if not choices or not isinstance(choices[0], Mapping):
            return bool(chunk.get("usage"))
        choice = choices[0]
        self._count(choice)
        if choice.get("finish_reason"):
            self._finish = choice["finish_reason"]
        self._grow(choice.get("delta") or choice.get("message") or {})
        return True

    def finish(self) -> str:
        """Returns the assembled response; raises `Incomplete` if the stream was cut."""
        if not self._ended and self._finish is None:
            raise Incomplete("the stream ended before the answer did")
        if self._filter is not None:
            self._tell(*self._filter.finish())
        message = {"role": '"assistant"', "content": self._content()}
        for name, pieces in self._text.items():
            if name != "content":
                message[name] = encode("".join(pieces))
        if self._details:
            message["reasoning_details"] = encode(self._details)
        if self._calls:
            message["tool_calls"] = list_of([call.text() for call in self._calls])
        choice = {
            "index": "0",
            "message": object_of(message),
            "finish_reason": encode(self._finish),
        }
        parts = {name: encode(value) for name, value in self._head.items()}
        parts["choices"] = list_of([object_of(choice)])
        if self._usage is not None:
            parts["usage"] = encode(self._usage)
        return object_of(parts)

    def _content(self) -> str:
        return encode("".join(self._text["content"])) if "content" in self._text else "null"

    def _count(self, holder: Mapping[str, Any]) -> None:
        groq = holder.get("x_groq")
        usage = holder.get("usage") or (groq.get("usage") if isinstance(groq, Mapping) else None)
        if isinstance(usage, Mapping) and openai_usage(usage) is not None:
            self._usage = usage

    def _grow(self, delta: Mapping[str, Any]) -> None:
        for name in ("reasoning_content", "reasoning", "content", "refusal"):
            piece = _plain(delta.get(name))
            if piece:
                self._text.setdefault(name, []).append(piece)
                self._live(name, piece)
        if isinstance(delta.get("reasoning_details"), list):
            self._details += delta["reasoning_details"]
        for part in delta.get("tool_calls") or []:
            if isinstance(part, Mapping):
                self._grow_call(part)

    def _live(self, name: str, piece: str) -> None:
        if name != "content":
            self._tell(piece if name != "refusal" else "", "")
        elif self._filter is None:
            self._tell("", piece)
        else:
            self._tell(*self._filter.feed(piece))

    def _tell(self, thought: str, text: str) -> None:
        if thought:
            self._show(Delta("reasoning", thought))
        if text:
            self._show(Delta("text", text))

    def _grow_call(self, part: Mapping[str, Any]) -> None:
        call = self._call_of(part)
        function = part.get("function")
        function = function if isinstance(function, Mapping) else {}
        if function.get("name") and not call.name:
            call.name = str(function["name"])
            self._show(Delta("call", real_name(call.name, {})))
        written = function.get("arguments")
        if isinstance(written, str):
            call.arguments.append(written)
        elif written is not None:
            call.arguments.append(encode(written))
        if part.get("extra_content"):
            call.extra["extra_content"] = part["extra_content"]

    def _call_of(self, part: Mapping[str, Any]) -> _Call:
        given = part.get("index")
        call_id = str(part.get("id") or "")
        index = given if isinstance(given, int) else len(self._calls) - (0 if call_id else 1)
        known = next((c for c in self._calls if call_id and c.id == call_id), None)
        current = known or self._at.get(index)
        if current is None or (call_id and current.id and current.id != call_id):
            current = _Call(call_id)
            self._calls.append(current)
        current.id = current.id or call_id
        self._at[index] = current
        return current
