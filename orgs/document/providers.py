"""Model providers as the document names them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from orgs.document.fields import Line, Section, check, fault, secret
from orgs.document.names import ADDRESS_MAX, PROVIDER_KEY_PATTERN
from orgs.document.parts import Environment, Seconds, Secret
from orgs.document.problems import ProblemKind
from orgs.document.sandboxes import RunIn, SandboxProvider
from orgs.document.variables import is_reference


class ProviderType(StrEnum):
    """The wire a provider speaks; `rehearsal` speaks none, it plays the seats offline."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    OPENAI_COMPATIBLE = "openai-compatible"
    CLI_AGENT = "cli-agent"
    REHEARSAL = "rehearsal"


class ReasoningEffort(StrEnum):
    """How long a model may think, in the vendor's three steps."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


def _web_address(value: str) -> None:
    if is_reference(value):
        return
    if not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", value):
        raise fault(
            ProblemKind.INVALID, "This is not a web address: write http(s)://host/path or ${NAME}."
        )
    if "@" in value.split("//", 1)[1].split("/", 1)[0]:
        raise fault(ProblemKind.INVALID, "A web address carries no user or password: use api_keys.")


class Cooldowns(Section):
    """How long a key rests after the vendor refused it."""

    rate_limit_seconds: Seconds = 3600
    """After too many calls."""
    auth_seconds: Seconds = 300
    """After the key itself was refused."""


class CliAgentName(StrEnum):
    """A program that answers in place of an API."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI_CLI = "gemini-cli"
    QWEN_CODE = "qwen-code"
    OPENCODE = "opencode"
    CURSOR_AGENT = "cursor-agent"
    COPILOT = "copilot"
    GROK = "grok"
    CUSTOM = "custom"


class CliMode(StrEnum):
    """Whether the program only answers, or works with its own tools."""

    TEXT = "text"
    AGENT = "agent"


class CliAuthMode(StrEnum):
    """How the program signs in."""

    SUBSCRIPTION = "subscription"
    API_KEY = "api-key"
    INHERIT_ENV = "inherit-env"


class CliAuth(Section):
    """How the program signs in."""

    mode: CliAuthMode = CliAuthMode.SUBSCRIPTION
    """By a subscription, by a key, or as the machine is."""
    token: Secret | None = None
    """The key or the subscription's token."""
    credential_bundle: Secret | None = None
    """The files of a sign-in, packed."""


class CliAgent(Section):
    """A program of this machine that answers in place of an API."""

    agent: CliAgentName = CliAgentName.CLAUDE_CODE
    """Which one."""
    mode: CliMode = CliMode.TEXT
    """Whether it only answers, or works with its own tools."""
    run_in: RunIn | None = None
    """Where it runs."""
    state_dir: Line | None = None
    """The folder where it keeps its sign-in."""
    timeout_seconds: Seconds = 300
    """How long one answer may take."""
    max_concurrent: Annotated[int, Field(ge=1, le=100)] = 4
    """How many run at once."""
    env: Environment = Field(default_factory=dict)
    """Its environment; hidden values."""
    auth: CliAuth | None = None
    """How it signs in."""
    overrides: dict[Annotated[str, Field(min_length=1)], Any] = Field(default_factory=dict)
    """Parts of its command line, for a program we do not know."""


class EmbeddingsType(StrEnum):
    """Who makes vectors."""

    OPENAI = "openai"
    OPENAI_COMPATIBLE = "openai-compatible"
    LOCAL = "local"


class Embeddings(Section):
    """Where vectors of meaning come from."""

    type: EmbeddingsType
    """Who makes them."""
    model: Annotated[str, Field(max_length=200)] = ""
    """The model's name."""
    api_key: Secret | None = None
    """The key to it."""
    base_url: Annotated[str, Field(max_length=500), check(_web_address)] | None = None
    """The address of a compatible server."""
    dimensions: Annotated[int, Field(ge=1, le=16_384)] | None = None
    """How wide a vector is, where the model lets one choose."""


class LlmProvider(Section):
    """One entry of `providers.llm`: a vendor, a model and the keys to it."""

    type: ProviderType
    """The wire it speaks; `rehearsal` plays the seats offline."""
    model: Annotated[str, Field(max_length=200)] = ""
    """The model's name as the vendor spells it. Not for a rehearsal."""
    api_keys: tuple[Annotated[Line, Field(json_schema_extra=secret())], ...] = ()
    """Keys to the vendor, best as `${NAME}` of the environment; the first one is used."""
    base_url: Annotated[str, Field(max_length=500), check(_web_address)] | None = None
    """The address of an OpenAI-compatible server, or of a gateway before the vendor."""
    timeout_seconds: Annotated[int, Field(ge=1, le=3600)] = 120
    """How long one answer may take."""
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """The longest answer; without it what the model allows."""
    context_tokens: Annotated[int, Field(ge=1000, le=100_000_000)] | None = None
    """How much the model can read at once. Near it a turn goes on in a fresh conversation."""
    cooldowns: Cooldowns | None = None
    """How long a refused key rests."""
    reasoning: bool | None = None
    """Whether the model should think before it answers, where it can."""
    reasoning_effort: ReasoningEffort | None = None
    """How hard a model that reasons should think."""
    reasoning_budget_tokens: Annotated[int, Field(ge=1024, le=1_000_000)] | None = None
    """The same as a number of tokens, for models that take one."""
    cli: CliAgent | None = None
    """For `cli-agent` only: the program that answers."""


ProviderKey = Annotated[str, Field(pattern=PROVIDER_KEY_PATTERN, max_length=ADDRESS_MAX)]


class Providers(Section):
    """Everything the company rents."""

    llm: dict[ProviderKey, LlmProvider] = Field(default_factory=dict)
    """Models by a key of your choice. The first one serves every seat that names none."""
    embeddings: Embeddings | None = None
    """Vectors of meaning, for search."""
    sandbox: SandboxProvider | None = None
    """Where coding happens."""
