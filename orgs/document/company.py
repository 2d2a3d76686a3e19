"""The company document as closed models: what may be written, and nothing else.

Rules that compare two places (a chain and the providers, two handles) stand in `rules.py`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, Tag

from orgs.document.engine import Learning, Scheduling, TurnEngine
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
from orgs.document.parts import (
    Environment,
    KnowledgeSection,
    Placement,
    Schedule,
    ToolServer,
    TrackerSection,
    WorkerSection,
)
from orgs.document.problems import ProblemKind
from orgs.document.providers import ProviderKey, Providers
from orgs.document.sandboxes import SeatSandbox
from orgs.document.variables import is_reference
from orgs.document.vendors import Integrations, SeatIntegrations
from orgs.document.zones import known_zone

UNIT_TYPES = (
    "division", "department", "group", "team", "squad", "pod", "guild", "chapter", "unit",
)  # fmt: skip
"""Suggestions for `type`, which is free text and only informs."""


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
    """Answers for every phase that is absent here."""
    review: ProviderKey | tuple[ProviderKey, ...] | None = None
    """The reviewer."""
    subagent: ProviderKey | tuple[ProviderKey, ...] | None = None
    """Workers that a turn hands a part to."""
    auxiliary: ProviderKey | tuple[ProviderKey, ...] | None = None
    """Small calls beside the turn."""
    judge: ProviderKey | tuple[ProviderKey, ...] | None = None
    """The judge of two answers."""
    sandbox: ProviderKey | tuple[ProviderKey, ...] | None = None
    """The coding agent of its sandbox."""


CHAIN_PHASES = ("default", "review", "subagent", "auxiliary", "judge", "sandbox")


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


ServerEnvironments = dict[Annotated[str, Field(min_length=1, max_length=200)], Environment]


class Contact(Section):
    """Where a person is known outside; each is the identity or one `${NAME}`."""

    slack_user_id: Identity | None = None
    """Their member id in Slack."""
    mattermost_user_id: Identity | None = None
    """Their user id in Mattermost."""
    atlassian_account_id: Identity | None = None
    """Their account id in Jira and Confluence."""
    github_login: Identity | None = None
    """Their login at GitHub."""
    gitlab_username: Identity | None = None
    """Their user name at GitLab."""


class Role(Section):
    """A seat as it is written: an agent's or a person's place in the company."""

    name: Name
    """What the seat is called. For a person, their name."""
    kind: SeatKind = SeatKind.AGENT
    """Who holds the seat."""
    handle: Annotated[Handle, check(_not_reserved)] | None = None
    """Its address, as in @handle; made from the name when absent."""
    email: Annotated[str, Field(max_length=254), check(_email)] | None = None
    """Only for a human seat."""
    unit: Line | None = None
    """The unit it belongs to, by key or name, when it is not written inside one."""
    goal: Text = ""
    """What the seat is there for. The agent reads it in every turn."""
    backstory: Text = ""
    """Where it comes from; gives an agent its way of judging."""
    responsibilities: tuple[Line, ...] = ()
    """What it answers for, one line each."""
    behavioral_guidelines: tuple[Line, ...] = ()
    """How it goes about its work, one line each."""
    manages: tuple[Line, ...] = ()
    """The seats it manages, by handle or name."""
    project: ProjectKey | None = None
    """Key of its own project, where its work goes when nobody says otherwise."""
    space: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Key of its own space of pages."""
    token_budget: TokenBudget | None = None
    """Ceilings of this seat alone, beside the company's."""
    llm: ChainOrMap | None = None
    """Its models: a provider key, several to fall back on in order, or a map by phase."""
    llm_review: Chain | None = None
    """Models of the reviewer; goes before `llm`."""
    llm_subagent: Chain | None = None
    """Models of workers; goes before `llm`."""
    llm_auxiliary: Chain | None = None
    """Models of small calls; goes before `llm`."""
    llm_judge: Chain | None = None
    """Models of the judge; goes before `llm`."""
    llm_sandbox: Chain | None = None
    """Models of the coding agent; goes before `llm`."""
    workers: tuple[Line, ...] | None = None
    """Names of the company's workers it may hand on to; absent, all of them."""
    learning_enabled: bool | None = None
    """Whether it learns; absent, what `learning` says."""
    approvals: tuple[Line, ...] = ()
    """Tools that it runs only with a person's leave, beside the company's."""
    sandbox: SeatSandbox | None = None
    """Its sandbox."""
    placement: Placement | None = None
    """Which nodes may run it."""
    integrations: SeatIntegrations | None = None
    """Its accounts in other systems."""
    mcp_env: ServerEnvironments = Field(default_factory=dict)
    """Its own variables for tool servers, by server; goes before its unit's."""
    schedules: tuple[Schedule, ...] = ()
    """Work that comes back by the clock."""
    contact: Contact | None = None
    """Where the person is known outside."""
    availability: Text = ""
    """When the person can be reached, in their own words."""

    def chain(self, phase: str = "default") -> tuple[str, ...]:
        """Gives the provider keys of a phase, in order; () leaves the choice to the company.

        `llm_<phase>` is the more specific word and wins over the map; both fall back to default.
        An empty list chooses nothing.
        """
        own = getattr(self, f"llm_{phase}", None)
        if isinstance(self.llm, ChainMap):
            chosen = own or getattr(self.llm, phase, None) or self.llm.default
        else:
            chosen = own or self.llm
        return (chosen,) if isinstance(chosen, str) else tuple(chosen or ())


class UnitSection(Section):
    """A team as it is written, with its seats and the teams inside it."""

    name: Name
    """What the unit is called."""
    id: UnitKey | None = None
    """Its key; made from the name when absent."""
    type: Annotated[str, Field(min_length=1, max_length=40)] = "team"
    """What kind of unit it is: team, department, squad or any other word."""
    purpose: Text = ""
    """What the unit is there for; its agents read it."""
    goals: tuple[Line, ...] = ()
    """What it wants to reach, one line each."""
    lead: Line | None = None
    """The seat that leads it, by handle or name; without one the lead of the unit above."""
    channel: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    """Name of its channel in a chat."""
    project: ProjectKey | None = None
    """Key of its project; units may share one."""
    space: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Key of its space of pages."""
    knowledge: tuple[Line, ...] = ()
    """What its agents should know of, as free references."""
    mcp_env: ServerEnvironments = Field(default_factory=dict)
    """Variables for tool servers, for the agents directly in it."""
    schedules: tuple[Schedule, ...] = ()
    """Work that comes back by the clock, for the agents directly in it or its lead."""
    roles: tuple[Role, ...] = ()
    """Its seats."""
    children: tuple[UnitSection, ...] = ()
    """The units inside it."""


class CompanyDocument(Section):
    """One company: its charter, its clock, its ceilings, its models, its people and agents."""

    name: Name
    """What the company is called."""
    mission: Text = ""
    """What it does; every agent reads it."""
    vision: Text = ""
    """Where it wants to be; every agent reads it."""
    policies: tuple[Line, ...] = ()
    """What holds for everybody, one line each."""
    approvals: tuple[Line, ...] = ()
    """Tools that every agent runs only with a person's leave, by name; `destructive` names all that
    may destroy something."""
    timezone: Annotated[str, check(known_zone)] = "UTC"
    """The company's clock, an IANA zone such as Europe/Berlin. Its days and weeks begin by it."""
    token_budget: TokenBudget | None = None
    """Ceilings of the whole company."""
    notification_coalesce_window_seconds: Annotated[int, Field(ge=0, le=60)] = 0
    """How long a conversation gathers before its turn starts; 0 waits for nothing."""
    notification_coalesce_max_batch: Annotated[int, Field(ge=1, le=100)] = 20
    """How many letters of a conversation one turn answers at most."""
    notification_rate_limit: Annotated[int, Field(ge=0, le=100_000)] = 0
    """The most letters of one sender in an hour; 0 is no limit."""
    skill_variables: dict[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")], Text] = Field(
        default_factory=dict
    )
    """Facts that texts of skills refer to by name."""
    providers: Providers = Field(default_factory=Providers)
    """What it rents: models, embeddings, sandboxes."""
    turn_engine: TurnEngine | None = None
    """Ceilings of turns."""
    learning: Learning | None = None
    """What seats learn from their work."""
    scheduling: Scheduling | None = None
    """The clockwork of schedules."""
    workers: dict[ProviderKey, WorkerSection] = Field(default_factory=dict)
    """Helpers that turns hand parts to, by name."""
    tracker: TrackerSection | None = None
    """Where work is kept."""
    knowledge: KnowledgeSection | None = None
    """Where pages are kept."""
    integrations: Integrations | None = None
    """Other systems it works with."""
    mcp_servers: tuple[ToolServer, ...] = ()
    """Servers of tools."""
    roles: tuple[Role, ...] = ()
    """Seats outside of any unit, such as the founder."""
    units: tuple[UnitSection, ...] = ()
    """Teams, each with its seats."""

    def payload(self) -> dict[str, Any]:
        """Gives the document as plain data, holding only what was written."""
        return self.model_dump(mode="json", exclude_unset=True)
