"""Keys that are not this version's own, and what to tell whoever writes them."""

from __future__ import annotations

import difflib
from typing import Any, Final

from pydantic import BaseModel

from orgs.document.company import ChainMap, CompanyDocument, Contact, Role, UnitSection
from orgs.document.fields import TokenBudget
from orgs.document.problems import Segments
from orgs.document.providers import LlmProvider, Providers

NOT_YET: Final[dict[type[BaseModel], frozenset[str]]] = {
    CompanyDocument: frozenset(
        {
            "notification_rate_limit", "skill_variables", "turn_engine", "learning", "scheduling",
            "schedules", "workers", "tracker", "knowledge", "integrations", "mcp_servers",
            "mcp_env",
        }
    ),
    Providers: frozenset({"embeddings", "sandbox"}),
    LlmProvider: frozenset({"cooldowns", "cli", "reasoning"}),
    Role: frozenset(
        {
            "workers", "learning_enabled", "sandbox", "placement", "integrations", "mcp_env",
            "schedules", "llm_sandbox",
        }
    ),
    UnitSection: frozenset({"knowledge", "mcp_env", "schedules"}),
    ChainMap: frozenset({"sandbox"}),
}  # fmt: skip
"""Keys of the full document language whose part does not exist in this version."""

INSTALLATION: Final = frozenset(
    {"logging", "stream", "store", "coordination", "api", "secrets", "debug"}
)
"""Top keys of a file that configures an installation, not a company."""

_LLM: Final = ("providers", "llm")
_SECTIONS: Final[dict[str, type[BaseModel]]] = {
    "roles": Role,
    "units": UnitSection,
    "children": UnitSection,
    "providers": Providers,
    "token_budget": TokenBudget,
    "contact": Contact,
    "llm": ChainMap,
}


def section_at(segments: Segments) -> type[BaseModel]:
    """Names the model that the object at `segments` must fit."""
    if segments[:2] == _LLM and segments != _LLM:
        return LlmProvider
    words = [segment for segment in segments if isinstance(segment, str)]
    return _SECTIONS.get(words[-1], CompanyDocument) if words else CompanyDocument


def is_not_yet(segments: Segments) -> bool:
    """Says whether the key at `segments` belongs to the language but not to this version."""
    key = segments[-1]
    return key in NOT_YET.get(section_at(segments[:-1]), frozenset())


def refusal(segments: Segments) -> str:
    """Says why the key at `segments` is refused and what to do about it."""
    key = str(segments[-1])
    section = section_at(segments[:-1])
    if key in NOT_YET.get(section, frozenset()):
        return f"This version does not have `{key}` yet: remove it to apply this document."
    if section is CompanyDocument and key in INSTALLATION:
        return (
            f"`{key}` configures an installation, not a company: "
            "an installation is set up by environment variables."
        )
    close = difflib.get_close_matches(key, list(section.model_fields), n=1, cutoff=0.75)
    if close:
        return f"There is no key `{key}` here: did you mean `{close[0]}`?"
    return f"There is no key `{key}` here: remove it. Allowed: {', '.join(section.model_fields)}."


def data_at(data: Any, segments: Segments) -> Any:
    """Gives the value at a place of plain data, or None where the path leaves it."""
    for segment in segments:
        keyed = isinstance(data, dict) and segment in data
        listed = isinstance(data, list) and isinstance(segment, int) and segment < len(data)
        if not (keyed or listed):
            return None
        data = data[segment]
    return data
