"""Keys that are not this version's own, and what to tell whoever writes them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel

from orgs.document.company import CompanyDocument
from orgs.document.problems import Segments

NOT_YET: Final = {
    "company": (
        "notification_rate_limit", "skill_variables", "learning", "scheduling", "workers",
        "knowledge", "integrations",
    ),
    "turn_engine": (
        "onboarding_max_tool_rounds", "onboarding_max_tool_rounds_ceiling",
        "sandbox_min_budget_tokens", "delegation",
    ),
    "seat": (
        "workers", "learning_enabled", "sandbox", "placement", "integrations",
        "schedules", "llm_sandbox",
    ),
    "unit": ("knowledge", "schedules"),
}  # fmt: skip
"""Keys that are checked and kept, and that no part of this version acts on yet."""

INSTALLATION: Final = frozenset(
    {"logging", "stream", "store", "coordination", "api", "secrets", "debug"}
)
"""Top keys of a file that configures an installation, not a company."""


def section_at(segments: Segments) -> type[BaseModel]:
    """Names the model that the object at `segments` must fit; the company's where none is."""
    found: Any = CompanyDocument
    for segment in segments:
        found = _inside(found, segment)
    models = _models(found)
    return models[0] if models else CompanyDocument


def _inside(annotation: Any, segment: str | int) -> Any:
    """Gives the type of what stands at a segment of a value of this type."""
    for model in _models(annotation):
        if segment in model.model_fields:
            return model.model_fields[str(segment)].annotation
    for part in _parts(annotation):
        origin, inner = get_origin(part), get_args(part)
        if origin is dict and isinstance(segment, str):
            return inner[1]
        if origin is tuple and isinstance(segment, int):
            return inner[0]
    return None


def _parts(annotation: Any) -> Iterator[Any]:
    """Yields the alternatives of a type, without what is annotated onto them."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _parts(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for choice in get_args(annotation):
            yield from _parts(choice)
    else:
        yield annotation


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [
        part
        for part in _parts(annotation)
        if isinstance(part, type) and issubclass(part, BaseModel)
    ]


def refusal(segments: Segments) -> str:
    """Says why the key at `segments` is refused and what to do about it."""
    key = str(segments[-1])
    section = section_at(segments[:-1])
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
