"""The server's side of both wires: reads requests, writes answers whole or as events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.script import Said, ScriptedCall, SeenCall, SeenRequest, Step

ANTHROPIC, OPENAI = "anthropic", "openai"
_STATUS_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def read_request(wire: str, raw: bytes, headers: Mapping[str, str], at: float) -> SeenRequest:
    """Parses a request of either wire; raises ValueError where the real vendors answer 400."""
    body = json.loads(raw)
    if not isinstance(body, dict):
        raise ValueError("the body is no JSON object")
    read = _read_anthropic if wire == ANTHROPIC else _read_openai
    system, messages, tools = read(body)
    return SeenRequest(
        wire=wire,
        body=body,
        headers=headers,
        system=system,
        messages=tuple(messages),
        tools=tools,
        stream=bool(body.get("stream")),
        raw=raw,
        at=at,
    )


def refused(seen: SeenRequest) -> str:
    """Returns why the real vendor would answer 400, empty if it would not."""
    if not seen.messages:
        return "messages: at least one message is required"
    if seen.body.get("tool_choice") not in (None, "auto", {"type": "auto"}):
        return "tool_choice: forcing a tool is not supported by this model"
    bad = [name for name in seen.tools if not _plain(name)]
    if bad:
        return f"tools: name {bad[0]!r} does not match ^[a-zA-Z0-9_-]{{1,64}}$"
    return _unanswered(seen)


def _plain(name: str) -> bool:
    return 0 < len(name) <= 64 and name.replace("_", "a").replace("-", "a").isalnum()


def _unanswered(seen: SeenRequest) -> str:
    waiting: list[str] = []
    for said in seen.messages:
        if said.role == "tool":
            if said.call_id not in waiting:
                return f"the result of {said.call_id!r} has no call right before it"
            waiting.remove(said.call_id)
            continue
        if waiting:
            return f"tool call {waiting[0]!r} is not followed by its result"
        waiting = [call.id for call in said.calls]
        if len(set(waiting)) != len(waiting):
            return "tool call ids must be unique"
    return f"tool call {waiting[0]!r} is not followed by its result" if waiting else ""


def _read_anthropic(
    body: Mapping[str, Any],
) -> tuple[str, list[Said], dict[str, dict[str, Any]]]:
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        raise ValueError("max_tokens: field required")
    said: list[Said] = []
    before = ""
    for message in body.get("messages", []):
        if message["role"] == before:
            raise ValueError("messages: roles must alternate")
        before = message["role"]
        said += _anthropic_message(message)
    tools = {tool["name"]: tool["input_schema"] for tool in body.get("tools", [])}
    return _anthropic_text(body.get("system")), said, tools


def _anthropic_message(message: Mapping[str, Any]) -> list[Said]:
    content = message["content"]
    text_only = isinstance(content, str)
    blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if text_only else content
    if not blocks:
        raise ValueError("messages: content must not be empty")
    if any(b["type"] == "text" and not b["text"].strip() for b in blocks):
        raise ValueError("messages: text content blocks must be non-empty")
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    if message["role"] == "assistant":
        calls = [SeenCall(b["id"], b["name"], b["input"]) for b in blocks if _is(b, "tool_use")]
        return [Said("assistant", text, tuple(calls))]
    results = [
        Said(
            "tool", _anthropic_text(b.get("content")), (), b["tool_use_id"], bool(b.get("is_error"))
        )
        for b in blocks
        if _is(b, "tool_result")
    ]
    kinds = [block["type"] for block in blocks]
    if "text" in kinds and "tool_result" in kinds[kinds.index("text") :]:
        raise ValueError("messages: tool_result blocks must come before text")
    return [*results, *([Said("user", text)] if "text" in kinds else [])]


def _is(block: Mapping[str, Any], kind: str) -> bool:
    return bool(block["type"] == kind)


def _anthropic_text(content: Any) -> str:
    if isinstance(content, str) or not content:
        return content or ""
    return "\n".join(str(block.get("text", "")) for block in content)


def _read_openai(body: Mapping[str, Any]) -> tuple[str, list[Said], dict[str, dict[str, Any]]]:
    system: list[str] = []
    said: list[Said] = []
    for message in body.get("messages", []):
        text = message.get("content") or ""
        if message["role"] in ("system", "developer"):
            system.append(text)
        elif message["role"] == "tool":
            failed = text.startswith("Error: ")
            said.append(Said("tool", text, (), message["tool_call_id"], failed))
        else:
            calls = tuple(_openai_call(part) for part in message.get("tool_calls", []))
            said.append(Said(message["role"], text, calls))
    tools = {
        tool["function"]["name"]: tool["function"]["parameters"] for tool in body.get("tools", [])
    }
    return "\n".join(system), said, tools


def _openai_call(part: Mapping[str, Any]) -> SeenCall:
    arguments = part["function"]["arguments"]
    if not isinstance(arguments, str):
        raise ValueError("messages: function.arguments must be a string")
    parsed = json.loads(arguments)
    if not isinstance(parsed, dict):
        raise ValueError("messages: function.arguments must be a JSON object")
    return SeenCall(part["id"], part["function"]["name"], parsed)


def error_body(wire: str, status: int, error: tuple[str, str]) -> dict[str, Any]:
    """Returns an error as the vendor words it."""
    kind = error[0] or _STATUS_TYPES.get(status, "api_error")
    message = error[1] or f"scripted status {status}"
    if wire == ANTHROPIC:
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req"}
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def usage_of(step: Step, seen: SeenRequest) -> tuple[int, int]:
    """Returns (input, output) tokens: scripted, or a quarter of the characters."""
    if step.usage is not None:
        return step.usage
    return len(seen.raw) // 4, (len(step.say) + sum(len(c.name) + 20 for c in step.calls)) // 4 + 1


def _arguments(step: Step, call: ScriptedCall) -> Any:
    raw = call.raw_arguments if call.raw_arguments is not None else step.raw_arguments
    return raw if raw is not None else json.dumps(dict(call.arguments), ensure_ascii=False)


def whole(step: Step, seen: SeenRequest, number: int) -> Any:
    """Returns a unary response; a scripted text goes out as it stands."""
    if step.response is not None:
        return step.response
    return (_anthropic_whole if seen.wire == ANTHROPIC else _openai_whole)(step, seen, number)


def events(step: Step, seen: SeenRequest, number: int) -> Iterator[tuple[str, str]]:
    """Yields a stream as (event name, data) pairs."""
    if step.chunks is not None:
        return _as_they_stand(step, seen)
    return (_anthropic_events if seen.wire == ANTHROPIC else _openai_events)(step, seen, number)


def _as_they_stand(step: Step, seen: SeenRequest) -> Iterator[tuple[str, str]]:
    for chunk in step.chunks or ():
        data = chunk if isinstance(chunk, str) else json.dumps(chunk)
        named = seen.wire == ANTHROPIC and isinstance(chunk, Mapping)
        yield (str(chunk["type"]) if named else ""), data


def _call_id(call: ScriptedCall, seen: SeenRequest, number: int, at: int) -> str:
    return call.id or f"{'toolu' if seen.wire == ANTHROPIC else 'call'}_{number}_{at}"


def _anthropic_usage(step: Step, seen: SeenRequest) -> dict[str, Any]:
    prompt, output = usage_of(step, seen)
    read, write = step.cached or (0, 0)
    return {
        "input_tokens": prompt,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
    }


def _anthropic_stop(step: Step) -> str:
    if step.refusal:
        return "refusal"
    return step.stop or ("tool_use" if step.calls else "end_turn")


def _anthropic_blocks(step: Step, seen: SeenRequest, number: int) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if step.think:
        blocks.append({"type": "thinking", "thinking": step.think, "signature": f"sig-{number}"})
    if step.say:
        blocks.append({"type": "text", "text": step.say})
    for at, call in enumerate(step.calls):
        blocks.append(
            {
                "type": "tool_use",
                "id": _call_id(call, seen, number, at),
                "name": call.name,
                "input": _arguments(step, call),
            }
        )
    return blocks


def _anthropic_head(step: Step, seen: SeenRequest, number: int) -> dict[str, Any]:
    details = None
    if step.refusal:
        details = {
            "type": "refusal",
            "category": step.refusal[0] or None,
            "explanation": step.refusal[1] or None,
        }
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": seen.body.get("model", "scripted"),
        "content": [],
        "stop_reason": _anthropic_stop(step),
        "stop_sequence": None,
        "stop_details": details,
    }


def _anthropic_whole(step: Step, seen: SeenRequest, number: int) -> dict[str, Any]:
    blocks = _anthropic_blocks(step, seen, number)
    for block in blocks:
        if block["type"] == "tool_use" and isinstance(block["input"], str):
            try:
                block["input"] = json.loads(block["input"])
            except ValueError:
                continue
    head = _anthropic_head(step, seen, number)
    return {**head, "content": blocks, "usage": _anthropic_usage(step, seen)}


def _anthropic_events(step: Step, seen: SeenRequest, number: int) -> Iterator[tuple[str, str]]:
    def event(kind: str, **parts: Any) -> tuple[str, str]:
        return kind, json.dumps({"type": kind, **parts}, ensure_ascii=False)

    head = _anthropic_head(step, seen, number)
    ending = {name: head[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    usage = _anthropic_usage(step, seen)
    start = {**head, **dict.fromkeys(ending), "usage": {**usage, "output_tokens": 1}}
    yield event("message_start", message=start)
    for index, block in enumerate(_anthropic_blocks(step, seen, number)):
        yield event("content_block_start", index=index, content_block=_opened(block))
        if index == 0:
            yield event("ping")
        for delta in _anthropic_deltas(block):
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    yield event("message_delta", delta=ending, usage={"output_tokens": usage["output_tokens"]})
    yield event("message_stop")


def _opened(block: Mapping[str, Any]) -> dict[str, Any]:
    empty = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {name: empty.get(name, value) for name, value in block.items()} | {"type": block["type"]}


def _anthropic_deltas(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        for piece in pieces(block["text"]):
            yield {"type": "text_delta", "text": piece}
    elif block["type"] == "thinking":
        for piece in pieces(block["thinking"]):
            yield {"type": "thinking_delta", "thinking": piece}
        yield {"type": "signature_delta", "signature": block["signature"]}
    else:
        given = block["input"]
        written = given if isinstance(given, str) else json.dumps(given)
        for piece in pieces(written):
            yield {"type": "input_json_delta", "partial_json": piece}


def pieces(text: str, size: int = 12) -> Iterator[str]:
    """Yields a text in pieces, as models write."""
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _openai_usage(step: Step, seen: SeenRequest) -> dict[str, Any]:
    prompt, output = usage_of(step, seen)
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
    }
    if step.cached:
        usage["prompt_tokens_details"] = {"cached_tokens": step.cached[0]}
    return usage


def _openai_stop(step: Step) -> str:
    return step.stop or ("tool_calls" if step.calls else "stop")


def _openai_calls(step: Step, seen: SeenRequest, number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": _call_id(call, seen, number, at),
            "type": "function",
            "function": {"name": call.name, "arguments": _arguments(step, call)},
        }
        for at, call in enumerate(step.calls)
    ]


def _openai_head(seen: SeenRequest, number: int, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{number}",
        "object": kind,
        "created": 1_700_000_000,
        "model": seen.body.get("model", "scripted"),
    }


def _openai_whole(step: Step, seen: SeenRequest, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.say or None, "refusal": None}
    if step.think:
        message["reasoning_content"] = step.think
    if step.refusal:
        message |= {"content": None, "refusal": step.refusal[1]}
    if step.calls:
        message["tool_calls"] = _openai_calls(step, seen, number)
    choice = {"index": 0, "message": message, "finish_reason": _openai_stop(step)}
    return {
        **_openai_head(seen, number, "chat.completion"),
        "choices": [choice],
        "usage": _openai_usage(step, seen),
    }


def _openai_events(step: Step, seen: SeenRequest, number: int) -> Iterator[tuple[str, str]]:
    head = _openai_head(seen, number, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None) -> tuple[str, str]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return "", json.dumps({**head, "choices": [choice]}, ensure_ascii=False)

    yield chunk({"role": "assistant", "content": ""})
    for delta in _openai_deltas(step, seen, number):
        yield chunk(delta)
    yield chunk({}, _openai_stop(step))
    if (seen.body.get("stream_options") or {}).get("include_usage"):
        yield "", json.dumps({**head, "choices": [], "usage": _openai_usage(step, seen)})
    yield "", "[DONE]"


def _openai_deltas(step: Step, seen: SeenRequest, number: int) -> Iterator[dict[str, Any]]:
    for piece in pieces(step.think):
        yield {"reasoning_content": piece}
    for piece in pieces(step.refusal[1] if step.refusal else ""):
        yield {"refusal": piece}
    for piece in pieces(step.say):
        yield {"content": piece}
    for index, call in enumerate(_openai_calls(step, seen, number)):
        function = call["function"]
        opened = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        yield {"tool_calls": [opened]}
        written = function["arguments"]
        parts = pieces(written) if isinstance(written, str) else iter([written])
        for piece in parts:
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
