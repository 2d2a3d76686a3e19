"""Anthropic's Messages API through its SDK.

The SDK brings authentication, versions, connections and typed errors. It is given the finished body
and gives back the bytes: typing history and answer again would cost more than the call itself.
"""

from __future__ import annotations

from collections.abc import Callable

import anthropic
import httpx2

from agents.llm.anthropic_answer import AnthropicStream, read_anthropic
from agents.llm.anthropic_request import anthropic_body
from agents.llm.base import Answer, Delta, Request
from agents.llm.http_provider import Assembler, HttpProvider, Rejected, Unreachable
from agents.llm.profiles import Profile
from agents.llm.reading import Reading
from agents.llm.settings import ModelSettings

DEFAULT_URL = "https://api.anthropic.com"
_PATH = "/v1/messages"


class AnthropicWire:
    """The `Wire` of one address and key."""

    def __init__(self, client: anthropic.Anthropic) -> None:
        self._client = client

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def body(
        self, request: Request, settings: ModelSettings, profile: Profile, *, stream: bool
    ) -> tuple[str, int]:
        """Writes a Messages request."""
        return anthropic_body(request, settings, profile, stream=stream)

    def post(self, body: bytes, *, stream: bool, timeout: httpx2.Timeout) -> httpx2.Response:
        """Sends one request; the SDK retries nothing."""
        try:
            if not stream:
                return self._client.post(
                    _PATH, cast_to=httpx2.Response, content=body, options={"timeout": timeout}
                )
            return self._client.post(
                _PATH,
                cast_to=object,
                content=body,
                options={"timeout": timeout},
                stream=True,
                stream_cls=anthropic.Stream[object],
            ).response
        except anthropic.APIStatusError as problem:
            raise Rejected(problem.status_code, problem.body, problem.response.headers) from problem
        except (anthropic.APIConnectionError, httpx2.HTTPError) as problem:
            raise Unreachable(problem) from problem

    def read(self, raw: str, reading: Reading, profile: Profile) -> Answer:
        """Reads a Messages response."""
        return read_anthropic(raw, reading)

    def assembler(self, show: Callable[[Delta], None], profile: Profile) -> Assembler:
        """Begins to read a stream of Messages events."""
        return AnthropicStream(show)

    def ends(self, assembler: Assembler, data: str) -> None:
        """Takes nothing: Messages streams end by an event of their own."""


def connect(base_url: str, api_key: str) -> AnthropicWire:
    """Opens a client; the address is taken without the version that the path brings."""
    return AnthropicWire(
        anthropic.Anthropic(
            api_key=api_key, base_url=base_url.rstrip("/").removesuffix("/v1"), max_retries=0
        )
    )


def provider(settings: ModelSettings, wire: AnthropicWire) -> HttpProvider:
    """Returns the provider of one model over an open client."""
    return HttpProvider(settings, wire)
