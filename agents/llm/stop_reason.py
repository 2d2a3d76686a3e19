"""What the vendors call the end of an answer, in our six words (TURN-47).

Sources: Anthropic Messages `stop_reason`; OpenAI Chat Completions `finish_reason` and the values
that DeepSeek, Mistral, Zhipu, Gemini and OpenRouter add to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.llm.base import StopReason, ToolCallPart

ANTHROPIC = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSED,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
}

OPENAI = {
    "stop": StopReason.END,
    "end_turn": StopReason.END,
    "eos": StopReason.END,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "tool_use": StopReason.TOOL_USE,
    "tool_call": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "max_tokens": StopReason.MAX_TOKENS,
    "max_output_tokens": StopReason.MAX_TOKENS,
    "token_limit": StopReason.MAX_TOKENS,
    "model_length": StopReason.CONTEXT_EXCEEDED,
    "context_length_exceeded": StopReason.CONTEXT_EXCEEDED,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
    "content_filter": StopReason.REFUSAL,
    "safety": StopReason.REFUSAL,
    "sensitive": StopReason.REFUSAL,
    "refusal": StopReason.REFUSAL,
    "content-filter": StopReason.REFUSAL,
    "prohibited_content": StopReason.REFUSAL,
    "recitation": StopReason.REFUSAL,
    "blocklist": StopReason.REFUSAL,
    "spii": StopReason.REFUSAL,
}

FAILED = frozenset(
    {
        "error",
        "abort",
        "network_error",
        "insufficient_system_resource",
        "malformed_function_call",
        "unexpected_tool_call",
    }
)
"""Finish reasons that say the server failed: no answer at all, whatever text came with them."""


def failed(reason: object) -> bool:
    """Whether the vendor's word for the end is a failure of its own."""
    return word_of(reason) in FAILED


def word_of(reason: object) -> str:
    """Returns the vendor's word in small letters; some servers wrap it as `{"type": …}`."""
    if isinstance(reason, Mapping):
        reason = reason.get("type")
    return reason.strip().lower() if isinstance(reason, str) else ""


def normalise(
    table: dict[str, StopReason],
    reason: object,
    calls: Sequence[ToolCallPart],
    *,
    output_tokens: int,
    cap: int,
) -> StopReason:
    """Returns why the model stopped; an unknown or missing word is `end`.

    The calls decide between `end` and `tool_use`, because servers mix the two up. A call whose
    arguments do not parse in an answer that used its whole allowance was cut off, whatever the
    vendor calls it. `cap` 0 means that no limit was asked for.
    """
    stop = table.get(word_of(reason), StopReason.END)
    if not stop.finished:
        return stop
    if not calls:
        return StopReason.END
    cut_off = cap > 0 and output_tokens >= cap and calls[-1].error is not None
    return StopReason.MAX_TOKENS if cut_off else StopReason.TOOL_USE
