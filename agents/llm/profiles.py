"""What an endpoint is able to do, and what its refusals taught us.

A profile starts from the wire and the host. A 400 that names a difference of dialect changes it,
once, for the life of the process; the same body is never sent twice. What only one conversation
needs (thinking that no longer verifies) is changed for that call alone.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlsplit


class NullContent(StrEnum):
    """How an assistant turn of calls alone is written: servers refuse one or the other."""

    NULL = "null"
    EMPTY = "empty"
    OMIT = "omit"


class Thinking(StrEnum):
    """How reasoning is asked for, where the document asks for it."""

    ADAPTIVE = "adaptive"
    BUDGET = "budget"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Profile:
    """How to talk to one model at one address."""

    max_tokens_field: str = "max_tokens"
    default_max_tokens: int = 0
    max_tokens_limit: int = 0
    null_content: NullContent = NullContent.NULL
    streams: bool = True
    stream_usage: bool = True
    cache_breakpoints: bool = False
    echo_reasoning: bool = True
    thinking: Thinking = Thinking.ADAPTIVE
    replay_thinking: bool = True
    verifies_thinking: bool = False
    leaks_control_tokens: bool = False
    short_call_ids: bool = False

    def limit(self, wanted: int) -> int:
        """Returns the output limit to send for the one wanted (0 = none named); 0 sends none."""
        chosen = wanted or self.default_max_tokens
        return min(chosen, self.max_tokens_limit) if chosen and self.max_tokens_limit else chosen


ANTHROPIC = Profile(default_max_tokens=16_384, cache_breakpoints=True)
OPENAI = Profile(max_tokens_field="max_completion_tokens")
COMPATIBLE = Profile(leaks_control_tokens=True)

_HOSTS: dict[str, Profile] = {
    "api.openai.com": OPENAI,
    "api.mistral.ai": replace(COMPATIBLE, stream_usage=False, short_call_ids=True),
    "api.groq.com": replace(COMPATIBLE, echo_reasoning=False),
    "api.cerebras.ai": replace(COMPATIBLE, echo_reasoning=False),
}


def first_profile(vendor: str, base_url: str) -> Profile:
    """Returns what is known of an endpoint before the first call."""
    if vendor == "anthropic":
        return ANTHROPIC
    host = urlsplit(base_url).hostname or ""
    if host.endswith(".openai.azure.com"):
        return OPENAI
    return _HOSTS.get(host, OPENAI if vendor == "openai" else COMPATIBLE)


class Profiles:
    """The profiles of this process, by (vendor, base_url, model). Threads share them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Profile] = {}
        self._lock = threading.Lock()

    def of(self, vendor: str, base_url: str, model: str) -> Profile:
        """Returns the profile as learned so far."""
        with self._lock:
            slot = (vendor, base_url, model)
            if slot not in self._known:
                self._known[slot] = first_profile(vendor, base_url)
            return self._known[slot]

    def learn(self, vendor: str, base_url: str, model: str, profile: Profile) -> None:
        """Keeps a profile that an answer has proved; thinking shed for one call is not kept."""
        with self._lock:
            self._known[vendor, base_url, model] = replace(profile, replay_thinking=True)

    def forget(self) -> None:
        """Starts over; for tests."""
        with self._lock:
            self._known.clear()


PROFILES = Profiles()

Lesson = Callable[[Profile, str], Profile | None]


def adapted(profile: Profile, refusal: str) -> Profile | None:
    """Returns the profile that a 400 with these words asks for, None if they name no dialect."""
    words = refusal.lower()
    for lesson in _LESSONS:
        taught = lesson(profile, words)
        if taught is not None and taught != profile:
            return taught
    return None


def _max_tokens_name(profile: Profile, words: str) -> Profile | None:
    if not re.search(r"unsupported|unrecogni[sz]ed|unknown|not supported|extra|unexpected", words):
        return None
    if profile.max_tokens_field not in words:
        return None
    if "max_completion_tokens" in words and profile.max_tokens_field == "max_tokens":
        return replace(profile, max_tokens_field="max_completion_tokens")
    if profile.max_tokens_field == "max_completion_tokens":
        return replace(profile, max_tokens_field="max_tokens")
    return None


_TOO_MANY = (
    re.compile(r"max_(?:completion_)?tokens\W+\d+\s*>\s*(\d+)"),
    re.compile(r"max_(?:completion_)?tokens.*?at most (\d+)"),
    re.compile(r"max_(?:completion_)?tokens.*?range[^\[]*\[\d+,\s*(\d+)\]"),
    re.compile(r"max_(?:completion_)?tokens.*?(?:<=|less than or equal to)\s*`?(\d+)"),
)


def _max_tokens_size(profile: Profile, words: str) -> Profile | None:
    for pattern in _TOO_MANY:
        match = pattern.search(words)
        if match and int(match[1]) > 0:
            return replace(profile, max_tokens_limit=int(match[1]))
    return None


def _stream_usage(profile: Profile, words: str) -> Profile | None:
    named = "stream_options" in words or "include_usage" in words
    return replace(profile, stream_usage=False) if named else None


def _streaming(profile: Profile, words: str) -> Profile | None:
    refused = re.search(r"stream\w*[^.]{0,60}(?:not (?:be )?(?:supported|allowed|enabled))", words)
    refused = refused or re.search(r"(?:does not|doesn't|cannot) (?:support )?stream", words)
    return replace(profile, streams=False) if refused else None


def _null_content(profile: Profile, words: str) -> Profile | None:
    about_null = re.search(r"<nil>|null|none|must not be empty|non-?empty|minlength|string", words)
    if "content" not in words or not about_null or "control" in words:
        return None
    after = {
        NullContent.NULL: NullContent.EMPTY,
        NullContent.EMPTY: NullContent.OMIT,
    }.get(profile.null_content)
    return replace(profile, null_content=after) if after else None


def _cache_breakpoints(profile: Profile, words: str) -> Profile | None:
    return replace(profile, cache_breakpoints=False) if "cache_control" in words else None


def _reasoning(profile: Profile, words: str) -> Profile | None:
    if "reasoning_content" not in words and "reasoning_details" not in words:
        return None
    wanted = re.search(r"missing|required|must (?:be )?(?:include|pass|provide|contain)", words)
    return replace(profile, echo_reasoning=wanted is not None)


def _thinking(profile: Profile, words: str) -> Profile | None:
    if "thinking" not in words and "signature" not in words:
        return None
    if re.search(r"thinking\.type|adaptive|budget_tokens|thinking.{0,40}not supported", words):
        return _less_thinking(profile)
    if not profile.verifies_thinking:
        # First shed what was thought under another prompt, then, if that is not it, all of it.
        return replace(profile, verifies_thinking=True)
    return replace(profile, replay_thinking=False)


def _effort(profile: Profile, words: str) -> Profile | None:
    named = "reasoning_effort" in words or "output_config" in words
    return _less_thinking(profile) if named else None


def _less_thinking(profile: Profile) -> Profile:
    after = Thinking.BUDGET if profile.thinking is Thinking.ADAPTIVE else Thinking.NONE
    return replace(profile, thinking=after)


_LESSONS: tuple[Lesson, ...] = (
    _max_tokens_name,
    _max_tokens_size,
    _stream_usage,
    _streaming,
    _cache_breakpoints,
    _reasoning,
    _effort,
    _thinking,
    _null_content,
)
