"""Writes a request in Anthropic's Messages format, as text.

Blocks of the same model go back byte for byte (TURN-53); another model's thinking is left out,
because its signature would be refused; a foreign vendor's turn becomes text and calls.
Cache breakpoints stand on the system prompt, the last tool, the tail, and the tail before it: a
round of many calls would else push the last cached position out of the vendor's lookback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agents.llm.base import Answer, JsonObject, Request, ToolCallPart, ToolMessage
from agents.llm.conversation import Exchange, exchanges
from agents.llm.json_text import NotJson, Slice, elements, encode, list_of, members, object_of
from agents.llm.names import wire_id, wire_name, wire_names
from agents.llm.profiles import Profile, Thinking
from agents.llm.settings import ModelSettings, prefix_digest

VENDOR = "anthropic"
_CACHE = '"cache_control":{"type":"ephemeral"}'
_THOUGHTS = ("thinking", "redacted_thinking")
_SMALLEST_BUDGET = 1024


@dataclass(frozen=True, slots=True)
class Replay:
    """How earlier answers are to be written for this call."""

    model: str
    prefix: str
    profile: Profile

    def keeps_thoughts(self, answer: Answer) -> bool:
        """Whether the thinking of an answer still verifies at the model that is asked now."""
        if not self.profile.replay_thinking or answer.model != self.model:
            return False
        return not self.profile.verifies_thinking or answer.prefix == self.prefix


def anthropic_body(
    request: Request, settings: ModelSettings, profile: Profile, *, stream: bool
) -> tuple[str, int]:
    """Returns the body as JSON text and the output limit that it asks for."""
    cap = profile.limit(request.max_tokens or settings.max_tokens)
    parts: dict[str, str] = {"model": encode(settings.model), "max_tokens": encode(cap)}
    cached = profile.cache_breakpoints
    if request.system.strip():
        parts["system"] = list_of([_text_block(request.system, cached=cached)])
    tools = _tools(request, cached=cached)
    if tools:
        parts["tools"] = list_of(tools)
    replay = Replay(settings.model, prefix_digest(request), profile)
    parts["messages"] = list_of(_messages(exchanges(request.messages), replay))
    for name, value in _thinking(settings, profile, cap).items():
        parts[name] = encode(value)
    if stream:
        parts["stream"] = "true"
    return object_of(parts), cap


def _tools(request: Request, *, cached: bool) -> list[str]:
    table = wire_names(tool.name for tool in request.tools)
    offered = [tool for tool in request.tools if table.get(wire_name(tool.name)) == tool.name]
    texts = [
        encode(
            {
                "name": wire_name(tool.name),
                "description": tool.description,
                "input_schema": _schema(tool.parameters),
            }
        )
        for tool in offered
    ]
    if texts and cached:
        texts[-1] = _with_breakpoint(texts[-1])
    return texts


def _schema(parameters: Any) -> JsonObject:
    schema = dict(parameters)
    schema.setdefault("type", "object")
    return schema


def _messages(stretches: Sequence[Exchange], replay: Replay) -> list[str]:
    turns: list[tuple[str, list[str]]] = []
    for stretch in stretches:
        if stretch.answer is not None:
            turns.append(("assistant", _assistant_blocks(stretch.answer, replay)))
        blocks = [_result_block(result) for result in stretch.results]
        blocks += [_text_block(text, cached=False) for text in stretch.said]
        if blocks:
            turns.append(("user", blocks))
    if replay.profile.cache_breakpoints:
        for at in [at for at, (role, _) in enumerate(turns) if role == "user"][-2:]:
            turns[at][1][-1] = _with_breakpoint(turns[at][1][-1])
    return [object_of({"role": encode(role), "content": list_of(blocks)}) for role, blocks in turns]


def _assistant_blocks(answer: Answer, replay: Replay) -> list[str]:
    if answer.vendor == VENDOR:
        native = _native_blocks(answer, replay)
        if native:
            return native
    blocks = [_text_block(answer.text, cached=False)] if answer.text.strip() else []
    return blocks + [_call_block(call) for call in answer.calls]


def _native_blocks(answer: Answer, replay: Replay) -> list[str]:
    """Returns the blocks as they came, less what no longer may be sent; [] if raw is unusable."""
    content = _content(answer.raw)
    keeps_thoughts = replay.keeps_thoughts(answer)
    calls = list(answer.calls)
    blocks: list[str] = []
    says_something = False
    for block in content:
        kind = block.value.get("type") if isinstance(block.value, dict) else None
        if kind == "text" and not str(block.value.get("text", "")).strip():
            continue
        if kind in _THOUGHTS and not keeps_thoughts:
            continue
        if kind == "tool_use" and not calls:
            continue
        says_something = says_something or kind not in _THOUGHTS
        blocks.append(_replayed(block, calls.pop(0)) if kind == "tool_use" else block.text)
    return blocks if says_something and not calls else []


@lru_cache(maxsize=1024)
def _content(raw: str) -> tuple[Slice, ...]:
    # Asked for on every later round of the phase, so it is read once.
    try:
        return tuple(elements(members(raw)["content"].text))
    except (NotJson, KeyError):
        return ()


def _replayed(block: Slice, call: ToolCallPart) -> str:
    return block.text if _sound(block.value, call) else _call_block(call)


def _sound(block: JsonObject, call: ToolCallPart) -> bool:
    """Whether a call may go back as it came: the vendor's own id, spelling and arguments."""
    return (
        block.get("id") == wire_id(call.id)
        and block.get("name") == wire_name(call.name)
        and isinstance(block.get("input"), dict)
        and call.error is None
    )


def _call_block(call: ToolCallPart) -> str:
    return object_of(
        {
            "type": '"tool_use"',
            "id": encode(wire_id(call.id)),
            "name": encode(wire_name(call.name)),
            "input": sound_arguments(call),
        }
    )


def sound_arguments(call: ToolCallPart) -> str:
    """Returns the arguments as the model wrote them, `{}` where they are no JSON object.

    Broken arguments would be refused in every later request; the failed result quotes them.
    """
    if call.error is not None or not call.arguments:
        return "{}"
    return call.arguments_text.strip()


def _result_block(result: ToolMessage) -> str:
    parts = {
        "type": '"tool_result"',
        "tool_use_id": encode(wire_id(result.call_id)),
        "content": encode(result.text),
    }
    if not result.ok:
        parts["is_error"] = "true"
    return object_of(parts)


def _text_block(text: str, *, cached: bool) -> str:
    block = object_of({"type": '"text"', "text": encode(text)})
    return _with_breakpoint(block) if cached else block


def _with_breakpoint(block: str) -> str:
    return f"{block[:-1]},{_CACHE}}}"


def _thinking(settings: ModelSettings, profile: Profile, cap: int) -> JsonObject:
    effort, budget = settings.reasoning_effort, settings.reasoning_budget_tokens
    if profile.thinking is Thinking.NONE or not (effort or budget):
        return {}
    if profile.thinking is Thinking.ADAPTIVE:
        asked: JsonObject = {"thinking": {"type": "adaptive"}}
        return {**asked, "output_config": {"effort": effort}} if effort else asked
    room = min(budget or cap // 2, cap - 1)
    if room < _SMALLEST_BUDGET:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": room}}
