"""The company document as closed models: what may be written, and nothing else.

Rules that compare two places (a chain and the providers, two handles) stand in `rules.py`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any
from zoneinfo import available_timezones

from pydantic import AfterValidator, Discriminator, Field, Tag

from orgs.document.fields import (
    Handle,
    Line,
    Name,
    ProjectKey,
    Section,
    Text,
    TokenBudget,
    UnitKey,
    check,
    fault,
)
from orgs.document.names import RESERVED_HANDLES
from orgs.document.problems import ProblemKind
from orgs.document.providers import ProviderKey, Providers
from orgs.document.variables import is_reference

UNIT_TYPES = (
    "division", "department", "group", "team", "squad", "pod", "guild", "chapter", "unit",
)  # fmt: skip
"""Suggestions for `type`, which is free text and only informs."""

_NOT_ZONES = frozenset({"Local", "localtime", "Factory", "posixrules"})


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones()) - _NOT_ZONES


def _known_zone(value: str) -> None:
    if value.lower() in ("local", "localtime"):
        raise fault(
            ProblemKind.INVALID,
            "The company's clock cannot be the machine's own: name a zone like Europe/Berlin.",
        )
    if value not in _zones():
        raise fault(
            ProblemKind.INVALID, "Not an IANA time zone: write one like UTC or Europe/Berlin."
        )


def _not_reserved(value: str) -> None:
    if value in RESERVED_HANDLES:
        raise fault(
            ProblemKind.INVALID,
            "This word already means something in queries: take another handle.",
        )


def _email(value: str) -> None:
    local, _, domain = value.rpartition("@")
    plausible = local and "." in domain and not any(c.isspace() for c in value)
    if not (is_reference(value) or plausible):
        raise fault(ProblemKind.INVALID, "Not an e-mail address: write name@example.com.")


def _whole_reference(value: str) -> None:
    if "${" in value and not is_reference(value):
        raise fault(
            ProblemKind.INVALID, "Either the identity itself or one whole ${NAME}, nothing around."
        )


class SeatKind(StrEnum):
    """Who holds a seat."""

    AGENT = "agent"
    HUMAN = "human"


class ChainMap(Section):
    """Model chains by phase; `default` answers for the ones that are absent."""

    default: ProviderKey | tuple[ProviderKey, ...] | None = None
    review: ProviderKey | tuple[ProviderKey, ...] | None = None
    subagent: ProviderKey | tuple[ProviderKey, ...] | None = None
    auxiliary: ProviderKey | tuple[ProviderKey, ...] | None = None
    judge: ProviderKey | tuple[ProviderKey, ...] | None = None


CHAIN_PHASES = ("default", "review", "subagent", "auxiliary", "judge")


def _chain_form(value: Any) -> str | None:
    if isinstance(value, str):
        return "key"
    if isinstance(value, (list, tuple)):
        return "list"
    return "map" if isinstance(value, (dict, ChainMap)) else None


Chain = Annotated[
    Annotated[ProviderKey, Tag("key")] | Annotated[tuple[ProviderKey, ...], Tag("list")],
    Discriminator(
        _chain_form,
        custom_error_type="shape",
        custom_error_message="A provider key or a list of them is expected here.",
    ),
]
ChainOrMap = Annotated[
    Annotated[ProviderKey, Tag("key")]
    | Annotated[tuple[ProviderKey, ...], Tag("list")]
    | Annotated[ChainMap, Tag("map")],
    Discriminator(
        _chain_form,
        custom_error_type="shape",
        custom_error_message="A provider key, a list of them or a map by phase is expected here.",
    ),
]
Identity = Annotated[
    str,
    Field(min_length=1, max_length=200),
    AfterValidator(str.strip),
    check(_whole_reference),
]


class Contact(Section):
    """Where a person is known outside; each is the identity or one `${NAME}`."""

    slack_user_id: Identity | None = None
    mattermost_user_id: Identity | None = None
    atlassian_account_id: Identity | None = None
    github_login: Identity | None = None
    gitlab_username: Identity | None = None


class Role(Section):
    """A seat as it is written: an agent's or a person's place in the company."""

    name: Name
    kind: SeatKind = SeatKind.AGENT
    handle: Annotated[Handle, check(_not_reserved)] | None = None
    email: Annotated[str, Field(max_length=254), check(_email)] | None = None
    unit: Line | None = None
    goal: Text = ""
    backstory: Text = ""
    responsibilities: tuple[Line, ...] = ()
    behavioral_guidelines: tuple[Line, ...] = ()
    manages: tuple[Line, ...] = ()
    project: ProjectKey | None = None
    space: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    token_budget: TokenBudget | None = None
    llm: ChainOrMap | None = None
    llm_review: Chain | None = None
    llm_subagent: Chain | None = None
    llm_auxiliary: Chain | None = None
    llm_judge: Chain | None = None
    contact: Contact | None = None
    availability: Text = ""

    def chain(self, phase: str = "default") -> tuple[str, ...]:
        """Gives the provider keys of a phase, in order; () leaves the choice to the company.

        `llm_<phase>` is the more specific word and wins over the map; both fall back to default.
        """
        own = getattr(self, f"llm_{phase}", None)
        mapped = self.llm if isinstance(self.llm, ChainMap) else None
        if own is None and mapped is not None:
            own = getattr(mapped, phase, None) or mapped.default
        if own is None and mapped is None:
            own = self.llm
        if own is None or isinstance(own, ChainMap):
            return ()
        return (own,) if isinstance(own, str) else tuple(own)


class UnitSection(Section):
    """A team as it is written, with its seats and the teams inside it."""

    name: Name
    id: UnitKey | None = None
    type: Annotated[str, Field(min_length=1, max_length=40)] = "team"
    purpose: Text = ""
    goals: tuple[Line, ...] = ()
    lead: Line | None = None
    channel: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    project: ProjectKey | None = None
    space: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    roles: tuple[Role, ...] = ()
    children: tuple[UnitSection, ...] = ()


class CompanyDocument(Section):
    """One company: its charter, its clock, its ceilings, its models, its people and agents."""

    name: Name
    mission: Text = ""
    vision: Text = ""
    policies: tuple[Line, ...] = ()
    timezone: Annotated[str, check(_known_zone)] = "UTC"
    token_budget: TokenBudget | None = None
    providers: Providers = Field(default_factory=Providers)
    roles: tuple[Role, ...] = ()
    units: tuple[UnitSection, ...] = ()

    def payload(self) -> dict[str, Any]:
        """Gives the document as plain data, holding only what was written."""
        return self.model_dump(mode="json", exclude_unset=True)
