"""Model providers as the document names them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from orgs.document.fields import Line, Section, check, fault, secret
from orgs.document.names import ADDRESS_MAX, PROVIDER_KEY_PATTERN
from orgs.document.problems import ProblemKind
from orgs.document.variables import is_reference


class ProviderType(StrEnum):
    """The wire a provider speaks; `rehearsal` speaks none, it plays the seats offline."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    OPENAI_COMPATIBLE = "openai-compatible"
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
    reasoning_effort: ReasoningEffort | None = None
    """How hard a model that reasons should think."""
    reasoning_budget_tokens: Annotated[int, Field(ge=1024, le=1_000_000)] | None = None
    """The same as a number of tokens, for models that take one."""


ProviderKey = Annotated[str, Field(pattern=PROVIDER_KEY_PATTERN, max_length=ADDRESS_MAX)]


class Providers(Section):
    """Everything the company rents; models for now."""

    llm: dict[ProviderKey, LlmProvider] = Field(default_factory=dict)
    """Models by a key of your choice. The first one serves every seat that names none."""
