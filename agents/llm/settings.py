"""What the company document says about one model, resolved for one process."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from agents.llm.base import Request
from agents.llm.json_text import encode

LONGEST_CALL_SECONDS = 120.0
"""How long a call may be silent where neither the request nor the document names a time."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One entry of `providers.llm` with its key resolved.

    `vendor` is the entry's type. `max_tokens` 0 leaves the limit to the profile. `api_key` is left
    out of the repr, so that no log and no traceback shows it.
    """

    key: str
    vendor: str
    model: str
    base_url: str
    api_key: str
    timeout_seconds: float = LONGEST_CALL_SECONDS
    max_tokens: int = 0
    reasoning_effort: str = ""
    reasoning_budget_tokens: int = 0

    def __repr__(self) -> str:
        return f"ModelSettings(key={self.key!r}, vendor={self.vendor!r}, model={self.model!r})"


def key_digest(api_key: str) -> str:
    """Returns the twelve hex digits by which a key is shown, never the key itself."""
    return hashlib.sha256(api_key.encode()).hexdigest()[:12]


def prefix_digest(request: Request) -> str:
    """Returns the digest of the system prompt and the tools that an answer is given under."""
    tools = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    return hashlib.sha256(encode([request.system, tools]).encode()).hexdigest()[:16]
