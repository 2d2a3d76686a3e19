"""A model behind either wire, asked through the real SDKs over loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from agents.llm import anthropic, chain, openai
from agents.llm.anthropic import AnthropicWire
from agents.llm.base import (
    Answer,
    AssistantMessage,
    Delta,
    Message,
    Request,
    ToolSchema,
    UserMessage,
)
from agents.llm.http_provider import HttpProvider
from agents.llm.openai import OpenAIWire
from agents.llm.profiles import PROFILES
from agents.llm.settings import ModelSettings
from tests.support.model_server import ModelServer
from tests.support.script import model_server

__all__ = ["model_server"]

SECRET = "sk-test-0123456789abcdefghij"
LOOK = ToolSchema(
    "get_work_item",
    "Reads an item.",
    {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
)
WRITE = ToolSchema("write_page", "Writes a page.", {"type": "object", "properties": {}})

Ask = Callable[..., Answer]


_wires: dict[tuple[str, str, str], AnthropicWire | OpenAIWire] = {}


@pytest.fixture(autouse=True)
def fresh_process() -> Iterator[None]:
    """What one test taught a profile must not help the next one; its connections are closed."""
    PROFILES.forget()
    yield
    PROFILES.forget()
    chain.close_clients()
    while _wires:
        _wires.popitem()[1].close()


def provider_of(settings: ModelSettings) -> HttpProvider:
    """Opens a provider whose connections end with the test."""
    module = anthropic if settings.vendor == "anthropic" else openai
    slot = (module.__name__, settings.base_url, settings.api_key)
    wire = _wires.get(slot) or module.connect(settings.base_url, settings.api_key)
    return HttpProvider(settings, _wires.setdefault(slot, wire))


@dataclass
class Asker:
    """Asks one provider; keeps what it was shown while it wrote."""

    server: ModelServer
    vendor: str
    stream: bool
    shown: list[Delta] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    def provider(self, **changes: Any) -> HttpProvider:
        """Opens the provider under test."""
        url = self.server.url if self.vendor == "anthropic" else self.server.openai_url
        known = {
            "key": "main",
            "vendor": self.vendor,
            "model": "scripted-1",
            "base_url": url,
            "api_key": SECRET,
            "timeout_seconds": 10.0,
        }
        settings = ModelSettings(**{**known, **self.settings, **changes})
        return provider_of(settings)

    def request(self, *messages: Message, **parts: Any) -> Request:
        """Builds a request that shows its deltas here."""
        known: dict[str, Any] = {
            "system": "You are Ada. Phase: execute.",
            "messages": messages or (UserMessage("Do ENG-1."),),
            "tools": (LOOK, WRITE),
            "stream": self.stream,
            "on_delta": self.shown.append,
        }
        return Request(**{**known, **parts})

    def ask(self, *messages: Message, **parts: Any) -> Answer:
        """Asks once."""
        return self.provider().complete(self.request(*messages, **parts))

    def go_on(self, answer: Answer, *results: Message, **parts: Any) -> Answer:
        """Asks again after an answer and its results."""
        return self.ask(UserMessage("Do ENG-1."), AssistantMessage(answer), *results, **parts)

    def body(self, at: int = -1) -> dict[str, Any]:
        """The body of a request as the server got it."""
        return self.server.seen[at].body

    def shown_text(self) -> str:
        """The text that a person saw arriving."""
        return "".join(delta.text for delta in self.shown if delta.kind == "text")


@pytest.fixture(params=["unary", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Both ways of asking."""
    return bool(request.param == "stream")


@pytest.fixture(params=["anthropic", "openai", "openai-compatible"])
def model(request: pytest.FixtureRequest, model_server: ModelServer, stream: bool) -> Asker:
    """Every wire, both ways."""
    return Asker(model_server, request.param, stream)


@pytest.fixture(params=["openai", "openai-compatible"])
def openai_model(request: pytest.FixtureRequest, model_server: ModelServer, stream: bool) -> Asker:
    """Chat Completions, both ways."""
    return Asker(model_server, request.param, stream)


@pytest.fixture
def compatible(model_server: ModelServer, stream: bool) -> Asker:
    """A local server that speaks Chat Completions, both ways."""
    return Asker(model_server, "openai-compatible", stream)


@pytest.fixture
def claude(model_server: ModelServer, stream: bool) -> Asker:
    """Messages, both ways."""
    return Asker(model_server, "anthropic", stream)


@pytest.fixture(params=["anthropic", "openai", "openai-compatible"])
def model_stream(request: pytest.FixtureRequest, model_server: ModelServer) -> Asker:
    """Every wire, streamed: for what only a stream can do."""
    return Asker(model_server, request.param, stream=True)


@pytest.fixture
def compatible_stream(model_server: ModelServer) -> Asker:
    """A local server, streamed."""
    return Asker(model_server, "openai-compatible", stream=True)


@pytest.fixture
def claude_stream(model_server: ModelServer) -> Asker:
    """Messages, streamed."""
    return Asker(model_server, "anthropic", stream=True)
