"""Reads Chat Completions answers, whole or as a stream of chunks, from whoever serves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.llm.base import Answer, Delta, JsonObject, Refusal, StopReason, ToolCallPart, Usage
from agents.llm.control_tokens import LiveFilter, split_calls, split_thinking, visible
from agents.llm.json_text import NotJson, Slice, elements, encode, list_of, members, object_of
from agents.llm.names import real_name
from agents.llm.reading import Incomplete, Reading, VendorFailed
from agents.llm.stop_reason import OPENAI, failed, normalise, word_of
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
        said = _value(whole, "error") or _value(choice, "error")
        raise VendorFailed(said or {"message": f"finish_reason {reason}"})
    text, reasoning = _texts(message, cleans=cleans)
    calls = _calls(message, reading)
    if cleans and not calls:
        text, calls = _leaked(text, reading)
    usage = reading.usage(_usage(whole, choice), raw)
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
        failure = None if choices else failure_of({k: part.value for k, part in whole.items()})
        if failure is not None:
            raise VendorFailed(failure)
        choice = members(choices[0].text)
        return whole, choice, members(choice["message"].text)
    except (NotJson, KeyError, IndexError) as problem:
        raise Incomplete(NO_FORMAT) from problem


def failure_of(body: Mapping[str, Any]) -> object:
    """Returns the error that a body without choices says, in any of the ways to say it, or None."""
    if body.get("error"):
        return body["error"]
    nested = body.get("base_resp")
    if isinstance(nested, Mapping) and nested.get("status_code"):
        return nested
    if body.get("object") == "error" or any(body.get(name) for name in _COMPLAINTS):
        return body
    return None


_COMPLAINTS = ("message", "detail", "msg", "error_msg", "errors")


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
    given = message.get("tool_calls")
    if given is not None and given.value:
        single = isinstance(given.value, Mapping)
        blocks = [given] if single else elements(given.text)
        return tuple(_call(block, reading) for block in blocks)
    old = message.get("function_call")
    if old is not None and old.value:
        return (_call(Slice({}, object_of({"function": old.text})), reading),)
    return ()


def _leaked(text: str, reading: Reading) -> tuple[str, tuple[ToolCallPart, ...]]:
    """Returns the calls that a server without the model's template left at the end of its text.

    Only whole blocks that name a tool of this request count; anything else stays text.
    """
    rest, written = split_calls(text)
    found = []
    for block in written:
        try:
            parts = members(block)
            name = real_name(str(_value(parts, "name") or ""), reading.names)
        except NotJson:
            return text, ()
        if name not in reading.names.values():
            return text, ()
        call = {"function": block} if "arguments" in parts else {"function": _named(parts)}
        found.append(_call(Slice({}, object_of(call)), reading))
    return (rest, tuple(found)) if found else (text, ())


def _named(parts: Mapping[str, Slice]) -> str:
    given = parts.get("parameters")
    return object_of({"name": parts["name"].text, "arguments": given.text if given else "{}"})


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


_PLAIN_ENDS = ("", "stop", "tool_calls")


def _whole(written: str) -> bool:
    try:
        members(written)
    except NotJson:
        return False
    return True


@dataclass
class _Call:
    """A call while its deltas arrive."""

    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: JsonObject = field(default_factory=dict)
    told: bool = False

    def closed_before(self, name: str, written: str) -> bool:
        """Whether a whole call that carries no id is another one, not this one told again."""
        if not (name and self.name and written.lstrip().startswith("{")):
            return False
        so_far = "".join(self.arguments)
        again = name == self.name and written == so_far
        return not again and so_far.strip() not in ("", "{}") and _whole(so_far)

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
        self._failure: object = None
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
            failure = failure_of(chunk)
            if failure is not None:
                raise VendorFailed(failure)
            return bool(chunk.get("usage"))
        choice = choices[0]
        self._count(choice)
        self._failure = self._failure or choice.get("error")
        # A gateway's own `stop` at the very end hides nothing that the model said before.
        if choice.get("finish_reason") and word_of(self._finish) in _PLAIN_ENDS:
            self._finish = choice["finish_reason"]
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            self._grow(delta)
        return True

    def finish(self) -> str:
        """Returns the assembled response; raises `Incomplete` if the stream was cut."""
        if not self._ended and self._finish is None:
            raise Incomplete("the stream ended before the answer did")
        if self._filter is not None:
            self._tell(*self._filter.finish())
        self._begun()
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
        if self._failure:
            parts["error"] = encode(self._failure)
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
        given = delta.get("tool_calls") or []
        for part in [given] if isinstance(given, Mapping) else given:
            if isinstance(part, Mapping):
                self._grow_call(part)
        if isinstance(delta.get("function_call"), Mapping):
            self._grow_call({"index": 0, "function": delta["function_call"]})

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
        function = part.get("function")
        function = function if isinstance(function, Mapping) else {}
        name, written = str(function.get("name") or ""), function.get("arguments")
        written = written if isinstance(written, str) else encode(written) if written else ""
        call = self._call_of(part, name, written)
        if name.startswith(call.name):
            # The whole name again, or all of it so far.
            call.name = name
        elif name and not call.told:
            call.name += name
        if written:
            self._begun()
            call.arguments.append(written)
        if part.get("extra_content"):
            call.extra["extra_content"] = part["extra_content"]

    def _begun(self) -> None:
        """Shows the calls whose names are complete: their arguments, or what follows, began."""
        for call in self._calls:
            if call.name and not call.told:
                call.told = True
                self._show(Delta("call", real_name(call.name, {})))

    def _call_of(self, part: Mapping[str, Any], name: str, written: str) -> _Call:
        given = part.get("index")
        call_id = str(part.get("id") or "")
        index = given if isinstance(given, int) else len(self._calls) - (0 if call_id else 1)
        known = next((c for c in self._calls if call_id and c.id == call_id), None)
        current = known or self._at.get(index)
        another = bool(call_id and current and current.id and current.id != call_id)
        if current is None or another or (not call_id and current.closed_before(name, written)):
            self._begun()
            current = _Call(call_id)
            self._calls.append(current)
        current.id = current.id or call_id
        self._at[index] = current
        return current
