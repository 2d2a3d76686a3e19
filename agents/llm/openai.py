"""OpenAI's Chat Completions API and everything that speaks it, through OpenAI's SDK.

`create` would retype the whole history on every call, ten times the cost of the call at forty
rounds; the finished body goes through `post`, which keeps authentication and typed errors.
"""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import openai

from agents.llm.base import Answer, Delta, Request
from agents.llm.http_provider import Assembler, HttpProvider, Rejected, Unreachable
from agents.llm.openai_answer import OpenAIStream, read_openai
from agents.llm.openai_request import openai_body
from agents.llm.profiles import Profile
from agents.llm.reading import Reading
from agents.llm.settings import ModelSettings

DEFAULT_URL = "https://api.openai.com/v1"
NO_KEY = "not-needed"
"""What the SDK is given for local servers that want no key; it insists on some."""
_PATH = "/chat/completions"


class OpenAIWire:
    """The `Wire` of one address and key."""

    def __init__(self, client: openai.OpenAI) -> None:
        self._client = client

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def body(
        self, request: Request, settings: ModelSettings, profile: Profile, *, stream: bool
    ) -> tuple[str, int]:
        """Writes a Chat Completions request."""
        return openai_body(request, settings, profile, stream=stream)

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
                stream_cls=openai.Stream[object],
            ).response
        except openai.APIStatusError as problem:
            raise Rejected(problem.status_code, problem.body, problem.response.headers) from problem
        except (openai.APIConnectionError, httpx2.HTTPError) as problem:
            raise Unreachable(problem) from problem

    def read(self, raw: str, reading: Reading, profile: Profile) -> Answer:
        """Reads a Chat Completions response."""
        return read_openai(raw, reading, cleans=profile.leaks_control_tokens)

    def assembler(self, show: Callable[[Delta], None], profile: Profile) -> Assembler:
        """Begins to read a stream of chunks."""
        return OpenAIStream(show, cleans=profile.leaks_control_tokens)

    def ends(self, assembler: Assembler, data: str) -> None:
        """Takes `[DONE]`."""
        if data.strip().startswith("[DONE]") and isinstance(assembler, OpenAIStream):
            assembler.end()


def connect(base_url: str, api_key: str) -> OpenAIWire:
    """Opens a client for an address that includes the version (`…/v1`)."""
    return OpenAIWire(
        openai.OpenAI(api_key=api_key or NO_KEY, base_url=base_url.rstrip("/"), max_retries=0)
    )


def provider(settings: ModelSettings, wire: OpenAIWire) -> HttpProvider:
    """Returns the provider of one model over an open client."""
    return HttpProvider(settings, wire)
