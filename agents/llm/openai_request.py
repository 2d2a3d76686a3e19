"""Writes a request in OpenAI's Chat Completions format, as text.

The system prompt, the tools and the history are a stable prefix, which is all that this wire's
prompt caches need. Reasoning goes back only to the provider and model that wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from agents.llm.anthropic_request import sound_arguments
from agents.llm.base import Answer, Request, ToolCallPart
from agents.llm.conversation import Exchange, exchanges
from agents.llm.json_text import NotJson, Slice, elements, encode, list_of, members, object_of
from agents.llm.names import short_id, wire_id, wire_name, wire_names
from agents.llm.profiles import NullContent, Profile, Thinking
from agents.llm.settings import ModelSettings

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
_WIRES = ("openai", "openai-compatible")
_NULL = {NullContent.NULL: "null", NullContent.EMPTY: '""'}


def openai_body(
    request: Request, settings: ModelSettings, profile: Profile, *, stream: bool
) -> tuple[str, int]:
    """Returns the body as JSON text and the output limit that it asks for (0 = none)."""
    cap = profile.limit(request.max_tokens or settings.max_tokens)
    parts: dict[str, str] = {"model": encode(settings.model)}
    parts["messages"] = list_of(_messages(request, settings, profile))
    tools = _tools(request)
    if tools:
        parts["tools"] = list_of(tools)
    if cap:
        parts[profile.max_tokens_field] = encode(cap)
    if settings.reasoning_effort and profile.thinking is not Thinking.NONE:
        parts["reasoning_effort"] = encode(settings.reasoning_effort)
    if stream:
        parts["stream"] = "true"
        if profile.stream_usage:
            parts["stream_options"] = '{"include_usage":true}'
    return object_of(parts), cap


def _tools(request: Request) -> list[str]:
    table = wire_names(tool.name for tool in request.tools)
    return [
        encode(
            {
                "type": "function",
                "function": {
                    "name": wire_name(tool.name),
                    "description": tool.description,
                    "parameters": {"type": "object", "properties": {}, **tool.parameters},
                },
            }
        )
        for tool in request.tools
        if table.get(wire_name(tool.name)) == tool.name
    ]


def _messages(request: Request, settings: ModelSettings, profile: Profile) -> list[str]:
    texts = [_said("system", request.system)] if request.system.strip() else []
    for stretch in exchanges(request.messages):
        if stretch.answer is not None:
            texts.append(_assistant(stretch.answer, settings, profile))
        texts += _results(stretch, profile)
        if stretch.said:
            # One message: many chat templates refuse two of the same role in a row.
            texts.append(_said("user", "\n\n".join(stretch.said)))
    return texts


def _said(role: str, text: str) -> str:
    return object_of({"role": encode(role), "content": encode(text)})


def _results(stretch: Exchange, profile: Profile) -> list[str]:
    return [
        object_of(
            {
                "role": '"tool"',
                "tool_call_id": encode(_id(result.call_id, profile)),
                "content": encode(result.text if result.ok else f"Error: {result.text}"),
            }
        )
        for result in stretch.results
    ]


def _id(call_id: str, profile: Profile) -> str:
    return short_id(call_id) if profile.short_call_ids else wire_id(call_id)


def _assistant(answer: Answer, settings: ModelSettings, profile: Profile) -> str:
    native = _native_message(answer.raw) if answer.vendor in _WIRES else {}
    parts: dict[str, str] = {"role": '"assistant"'}
    if answer.text or not answer.calls:
        parts["content"] = encode(answer.text)
    elif profile.null_content in _NULL:
        parts["content"] = _NULL[profile.null_content]
    if profile.echo_reasoning and _same_model(answer, settings):
        parts |= {name: native[name].text for name in REASONING_FIELDS if _says(native, name)}
    if answer.calls:
        parts["tool_calls"] = list_of(_calls(answer.calls, native, profile))
    return object_of(parts)


def _same_model(answer: Answer, settings: ModelSettings) -> bool:
    return answer.provider_key == settings.key and answer.model == settings.model


def _says(message: Mapping[str, Slice], name: str) -> bool:
    return name in message and bool(message[name].value)


@lru_cache(maxsize=1024)
def _native_message(raw: str) -> dict[str, Slice]:
    # Asked for on every later round of the phase, so it is read once; nobody changes the result.
    try:
        choice = elements(members(raw)["choices"].text)[0]
        return members(members(choice.text)["message"].text)
    except (NotJson, KeyError, IndexError):
        return {}


def _calls(
    calls: Sequence[ToolCallPart], native: Mapping[str, Slice], profile: Profile
) -> list[str]:
    given = _native_calls(native["tool_calls"].text) if "tool_calls" in native else ()
    if len(given) != len(calls):
        return [_call(call, profile) for call in calls]
    pairs = zip(given, calls, strict=True)
    return [
        block.text if _sound(block, call, profile) else _call(call, profile)
        for block, call in pairs
    ]


@lru_cache(maxsize=1024)
def _native_calls(text: str) -> tuple[Slice, ...]:
    try:
        return tuple(elements(text))
    except NotJson:
        return ()


def _sound(block: Slice, call: ToolCallPart, profile: Profile) -> bool:
    """Whether a call may go back as it came: usable id, spelling and arguments, known fields."""
    if not isinstance(block.value, dict) or call.error is not None:
        return False
    function = block.value.get("function")
    return (
        isinstance(function, dict)
        and set(block.value) <= {"id", "type", "function", "extra_content"}
        and set(function) == {"name", "arguments"}
        and block.value.get("type") == "function"
        and block.value.get("id") == _id(call.id, profile)
        and function["name"] == wire_name(call.name)
        and isinstance(function["arguments"], str)
        and function["arguments"].strip() == call.arguments_text.strip()
        and function["arguments"].strip() not in ("", "null")
    )


def _call(call: ToolCallPart, profile: Profile) -> str:
    return object_of(
        {
            "id": encode(_id(call.id, profile)),
            "type": '"function"',
            "function": object_of(
                {"name": encode(wire_name(call.name)), "arguments": encode(sound_arguments(call))}
            ),
        }
    )
