"""What a refused request means, in the words of many vendors: one row each, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from agents.llm import errors
from agents.llm.base import ErrorKind, ProviderError, StopReason
from agents.llm.errors import Endpoint
from tests.agents.llm.conftest import Asker
from tests.support.model_server import ModelServer
from tests.support.script import Step

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared_server() -> Iterator[ModelServer]:
    """One server for every row."""
    with ModelServer() as server:
        yield server


@pytest.fixture(params=["anthropic", "openai-compatible"])
def refused(request: pytest.FixtureRequest, shared_server: ModelServer) -> Iterator[Asker]:
    """Both wires against the shared server."""
    yield Asker(shared_server, request.param, stream=False)
    shared_server.model.verify()
    shared_server.model.forgive()


def said(message: str, **more: Any) -> dict[str, Any]:
    """An error body in the usual shape."""
    return {"error": {"message": message, **more}}


TOO_LONG: dict[str, tuple[int, Any]] = {
    "by code": (400, said("no", code="context_length_exceeded")),
    "vLLM": (400, said("This model's maximum context length is 900 tokens, you asked for 950.")),
    "Messages": (400, said("prompt is too long: 210000 tokens > 200000 maximum")),
    "Messages, both": (400, said("input length and `max_tokens` exceed context limit: 9 + 8 > 10")),
    "llama.cpp": (400, said("the request exceeds the available context size, try increasing it")),
    "llama.cpp in Python": (500, said("Requested tokens (900) exceed context window of 512")),
    "LM Studio": (400, {"error": "Cannot truncate: the model has a context length of only 4096"}),
    "Gemini": (400, [said("The input token count (9) exceeds the maximum number (8).", code=400)]),
    "GLM": (400, said("Prompt exceeds max length", code="1261")),
    "SiliconFlow": (400, {"code": 20015, "message": "input tokens (9) over max_prompt_tokens (8)"}),
    "Kimi": (400, said("Your request exceeded model token limit: 131072")),
    "Qwen": (400, said("Range of input length should be [1, 30720]")),
    "xAI": (400, said("This model's maximum prompt length is 8 but the request has 9 tokens")),
    "a text generation server": (422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 8"}),
    "Groq": (400, said("Please reduce the length of the messages or completion.")),
    "a proxy": (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
    "Messages, in bytes": (413, said("Request exceeds the maximum size", type="request_too_large")),
}


@pytest.mark.parametrize(("status", "body"), TOO_LONG.values(), ids=TOO_LONG)
def test_a_prompt_that_does_not_fit_is_known_in_every_dialect(
    refused: Asker, status: int, body: Any
) -> None:
    refused.server.says(Step(status=status, response=body))

    assert refused.ask().stop is StopReason.CONTEXT_EXCEEDED


FILTERED: dict[str, tuple[int, Any]] = {
    "Azure": (400, said("The response was filtered.", code="content_filter")),
    "DeepSeek": (400, said("Content Exists Risk", type="invalid_request_error")),
    "Qwen": (400, said("Input data may contain inappropriate content.", code="x")),
    "a router": (403, said("This model requires moderation and your input was flagged", code=403)),
}


@pytest.mark.covers("TURN-49")
@pytest.mark.parametrize(("status", "body"), FILTERED.values(), ids=FILTERED)
def test_a_prompt_that_a_filter_declined_is_a_refusal(
    refused: Asker, status: int, body: Any
) -> None:
    refused.server.says(Step(status=status, response=body))

    answer = refused.ask()

    assert answer.stop is StopReason.REFUSAL
    assert answer.refusal and answer.refusal.explanation


KINDS: dict[str, tuple[int, Any, ErrorKind]] = {
    "no credit as 402": (402, said("Insufficient credits"), ErrorKind.RATE_LIMIT),
    "no credit as 400": (400, said("Your credit balance is too low"), ErrorKind.RATE_LIMIT),
    "no credit as 403": (403, said("Key limit exceeded (total limit)"), ErrorKind.RATE_LIMIT),
    "a quota as 403": (403, said("user quota is not enough"), ErrorKind.RATE_LIMIT),
    "a balance as 401": (401, said("insufficient_user_quota"), ErrorKind.RATE_LIMIT),
    "minutes as 413": (
        413,
        said("Request too large on tokens per minute (TPM): Limit 6, Requested 9", code="x"),
        ErrorKind.RATE_LIMIT,
    ),
    "exhausted": (429, said("no", status="RESOURCE_EXHAUSTED"), ErrorKind.RATE_LIMIT),
    "a bad key as 400": (400, said("API key not valid. Pass a valid API key."), ErrorKind.AUTH),
    "a bad key as 401": (401, said("Incorrect API key provided"), ErrorKind.AUTH),
    "no right": (403, said("You have no access to this model"), ErrorKind.AUTH),
    "no such model": (404, said("model 'qwen9' not found, try pulling it first"), ErrorKind.FATAL),
    "a bad request": (400, said("temperature must be a number"), ErrorKind.FATAL),
    "too slow": (408, said("Request timed out"), ErrorKind.TIMEOUT),
    "a slow gateway": (504, "<html><title>504 Gateway Time-out</title></html>", ErrorKind.TIMEOUT),
    "overloaded": (529, said("Overloaded", type="overloaded_error"), ErrorKind.SERVER),
    "a gateway's page": (502, "<html><title>502 Bad Gateway</title></html>", ErrorKind.SERVER),
    "loading": (503, said("Loading model"), ErrorKind.SERVER),
    "an edge": (522, "error code: 522", ErrorKind.SERVER),
}  # fmt: skip


@pytest.mark.covers("TURN-51", "PEER-10")
@pytest.mark.parametrize(("status", "body", "kind"), KINDS.values(), ids=KINDS)
def test_a_refusal_means_the_same_whoever_says_it(
    refused: Asker, status: int, body: Any, kind: ErrorKind
) -> None:
    refused.server.says(Step(status=status, response=body))

    with pytest.raises(ProviderError) as caught:
        refused.ask()

    assert caught.value.kind is kind
    assert 'Provider "main"' in caught.value.message
    assert "<html" not in caught.value.message


WAITS: dict[str, tuple[Any, dict[str, str], float]] = {
    "seconds": (said("no"), {"retry-after": "7"}, 7),
    "milliseconds": (said("no"), {"retry-after-ms": "1500"}, 1.5),
    "a date": (said("no"), {"retry-after": "Mon, 02 Mar 2026 12:00:40 GMT"}, 40),
    "nonsense and a reset": (
        said("no"),
        {"retry-after": "soon", "x-ratelimit-reset-tokens": "1m30s"},
        90,
    ),
    "a reset in milliseconds since 1970": (said("no"), {"x-ratelimit-reset": "1772452830000"}, 30),
    "a RetryInfo": (said("no", details=[{"@type": "RetryInfo", "retryDelay": "38s"}]), {}, 38),
    "a number in the body": (said("no", retry_after=12), {}, 12),
    "a router's upstream": (
        said("no", metadata={"headers": {"X-RateLimit-Reset": "1772452860000"}}),
        {},
        60,
    ),
    "Azure": (said("Please retry after 13 seconds."), {}, 13),
    "minutes in words": (said("Try again in 5 minutes."), {}, 300),
    "hours and minutes": (said("Please try again in 1h2m3.5s."), {}, 3723.5),
    "milliseconds in words": (said("Please try again in 250ms."), {}, 0.25),
    "a moment": (said("Limit resets at: 2026-03-02 12:30:00 UTC"), {}, 1800),
    "a moment elsewhere": (said("resets at 2026-03-02T14:00:00+01:00"), {}, 3600),
    "a clock": (said("You are out of usage; resets 1:30pm (Europe/Warsaw)"), {}, 1800),
    "no clock": (said("You exceeded your current quota."), {}, 1800),
}


@pytest.mark.covers("PEER-11")
@pytest.mark.parametrize(("body", "headers", "seconds"), WAITS.values(), ids=WAITS)
def test_every_way_to_say_until_when_is_understood(
    body: Any, headers: dict[str, str], seconds: float
) -> None:
    endpoint = Endpoint("main", "openai-compatible", "m", "http://x/v1")
    with time_machine.travel(NOON, tick=False):
        problem = errors.from_status(endpoint, 429, body, headers)

    assert problem.kind is ErrorKind.RATE_LIMIT
    assert problem.retry_after == pytest.approx(seconds)
